"""A message that can be recalled earns trust, and goes by itself only to whom the person named; others ask."""

from __future__ import annotations

import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from myclaw_core.paths import Home
from myclaw_core.policy.addresses import mail_address
from myclaw_core.policy.effects import TargetRefusedError, resolve_effects
from myclaw_core.policy.taint import is_named, typed_part
from myclaw_core.runtime.tool import EffectSpec, Outboxed, Tool
from myclaw_core.runtime.types import ToolResult
from myclaw_core.shown.card import facts
from myclaw_core.testing import calls, says
from myclaw_core.types.effect import Effect


async def nothing(_args: Any, _key: str) -> None:
    """Send nothing."""


def sending(**options: Any) -> Tool:
    """Return a tool that sends through the outbox."""
    effects = (EffectSpec(kind="outbound_message", arg="to", **options),)
    outbox = Outboxed(deliver=nothing, address="mail")
    return Tool(name="mail_send", description="", schema={"type": "object"}, effects=effects, outbox=outbox)


def effects_of(tool: Tool, to: Any, home: Home, **options: Any) -> list[Effect]:
    """Return the effects of a call."""
    return list(resolve_effects(tool, {"to": to}, cwd="/", home=home, user_home="/home/rosa", **options))


def test_only_the_outbox_makes_a_message_one_that_can_be_recalled(home: Home) -> None:
    (held,) = effects_of(sending(), "anna@x.example", home)
    assert held.reversibility == "reversible_with_cost"
    at_once = Tool(
        name="mail_send",
        description="",
        schema={"type": "object"},
        effects=(EffectSpec(kind="outbound_message", arg="to", reversibility="reversible"),),
        run=lambda _args, _context: ToolResult(text=""),
    )
    assert effects_of(at_once, "anna@x.example", home)[0].reversibility == "irreversible"
    assert effects_of(sending(), "anna@x.example", home, undoable=False)[0].reversibility == "irreversible"
    assert effects_of(sending(reversibility="reversible"), "a@x.example", home)[0].reversibility != "reversible"
    assert effects_of(sending(reversibility="irreversible"), "a@x.example", home)[0].reversibility == "irreversible"


def test_each_recipient_is_an_effect_of_its_own(home: Home) -> None:
    found = effects_of(sending(), ["anna@X.example", "Bob@x.example"], home)
    assert [effect.effect_class for effect in found] == [
        "outbound_message:mail:anna@x.example",
        "outbound_message:mail:Bob@x.example",
    ]


@pytest.mark.parametrize(
    "address",
    [
        "anna",
        "@x.example",
        "a@b@x.example",
        "Anna <anna@x.example>",
        "a@x.example\nb",
        "anna%x.example@relay.example",
        "аnna@x.example",
        "anna@localhost",
        "anna@[10.0.0.1]",
        "anna@10.0.0.1",
        "a\u200bnna@x.example",
        '"a b"@x.example',
        "=?utf-8?q?anna?=@x.example",
    ],
)
def test_what_is_no_plain_address_is_refused(home: Home, address: str) -> None:
    with pytest.raises(TargetRefusedError):
        effects_of(sending(), address, home)


def test_look_alikes_share_no_class(home: Home) -> None:
    plain, other = effects_of(sending(), ["anna@example.org", "anna@exаmple.org"], home)
    assert plain.effect_class == "outbound_message:mail:anna@example.org"
    assert other.effect_class == "outbound_message:mail:anna@xn--exmple-4nf.org"


_LABEL = st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=10)
_ADDRESS = st.builds(
    lambda local, labels, last: f"{local}@{'.'.join([*labels, last])}",
    st.text(string.ascii_letters + string.digits + "+-_", min_size=1, max_size=20),
    st.lists(_LABEL, min_size=1, max_size=3),
    st.text(string.ascii_lowercase, min_size=2, max_size=6),
)


@given(_ADDRESS)
def test_an_address_has_one_spelling_and_is_named_in_any(address: str) -> None:
    assert mail_address(address) == address
    local, _, domain = address.rpartition("@")
    shouted = f"{local}@{domain.upper()}"
    assert mail_address(shouted) == address
    effect = Effect(
        kind="outbound_message", scope=f"mail:{address}", target=f"mail:{address}", reversibility="reversible_with_cost"
    )
    for text in (f"Write to {address}", f"to <{shouted}>, please.", f"mailto:{address}!"):
        assert is_named(effect, typed_part(text), "/")
    for text in (f"Write to x{address}", f"{address}.evil.example", f"> to {address}", f"```\n{address}\n```", local):
        assert not is_named(effect, typed_part(text), "/")


EARNED = 20


async def earn(agent: Any, desk: Any, clock: Any) -> None:
    """Have letters to Anna approved often enough, over days, and sent."""
    for _ in range(EARNED):
        await desk.handle("Write to 'anna'")
        await clock.pass_time(hours=12, sleepers=0)
        await agent.services.outbox.wait()


async def test_what_was_earned_counts_only_where_the_recipient_is_named_in_this_message(
    opened: Any, make_desk: Any, post: Any, channel: Any, clock: Any
) -> None:
    """Trust is earned in full; the same letter asks again as soon as the message does not name its recipient."""
    async with opened(*[f"Letter {n}" for n in range(EARNED + 4)]) as agent:
        desk = make_desk(agent, channel)
        await earn(agent, desk, clock)
        desk = make_desk(agent, channel)  # without history: nothing from outside is in play
        by_name = await desk.handle("Write to 'anna' again")
        desk = make_desk(agent, channel)
        unnamed = await desk.handle("Write again")
        tainted = await desk.handle("And again")
        tainted_by_name = await desk.handle("And to 'anna'")
    decisions = [trace.steps[0].decision for trace in (by_name, unnamed, tainted, tainted_by_name)]
    assert [(each.verdict, each.via) for each in decisions] == [
        ("allow", "trust_promoted"),
        ("approve_required", "trust"),
        ("approve_required", "trust"),
        ("allow", "trust_promoted"),
    ]
    assert "you did not name" in str(decisions[1].reason)
    assert "text from outside" in str(decisions[2].reason)


async def test_a_message_that_is_recalled_takes_back_what_was_earned(
    opened: Any, make_desk: Any, post: Any, channel: Any, clock: Any
) -> None:
    async with opened(*[f"Letter {n}" for n in range(EARNED + 2)]) as agent:
        desk = make_desk(agent, channel)
        await earn(agent, desk, clock)
        assert (await desk.handle("Write to 'anna'")).steps[0].decision.via == "trust_promoted"
        (held,) = await agent.services.outbox.held("test:me")
        await agent.services.outbox.recall(held.id, "test:me")
        after = (await desk.handle("Write to 'anna'")).steps[0].decision
    assert (after.verdict, after.via) == ("approve_required", "trust")
    assert "denied, undone" in str(after.reason)


async def test_at_level_full_text_from_outside_asks_where_the_recipient_is_not_named(
    open_agent: Any, make_desk: Any, opened: Any, channel: Any, clock: Any
) -> None:
    async with opened("One", "Two", "Three") as agent:
        desk = make_desk(agent, channel, level="full")
        first = await desk.handle("Write to her")
        tainted = await desk.handle("Write to her again")
        named = await desk.handle("Write to 'anna'")
    assert [trace.steps[0].decision.verdict for trace in (first, tainted, named)] == [
        "allow",
        "approve_required",
        "allow",
    ]


async def test_a_dry_run_holds_nothing(opened: Any, make_desk: Any, channel: Any, states: Any) -> None:
    async with opened("Hello") as agent:
        await make_desk(agent, channel, dry_run=True).handle("Write")
        assert await states(agent) == []


async def test_mail_asks_with_the_whole_letter_and_is_held(open_agent: Any, make_desk: Any, channel: Any) -> None:
    letter = {"to": ["anna@friends.example"], "subject": "Saturday", "body": "At 10?"}
    config = '[mail]\nhost = "localhost"\nport = 1\nuser = ""\nfrom_address = "rosa@home.example"\n'
    async with open_agent([calls(("mail_send", letter)), says("Held.")], config=config) as agent:
        trace = await make_desk(agent, channel).handle("Write to anna@friends.example")
        (card,) = channel.cards
        assert str(card.request.draft.summary) == "mail_send: send a message to mail:anna@friends.example"
        assert card.request.draft.action.args_preview == letter
        assert "until it is sent: it is held first" in [said.text for said in facts(card, whole=False, details="d")]
        assert trace.steps[0].state == "done"
    assert channel.notices[-1].startswith("not sent: mail_send to anna@friends.example: the program was stopped")


async def test_without_a_mail_server_nobody_is_asked_and_one_line_says_what_to_set(
    open_agent: Any, make_desk: Any, channel: Any
) -> None:
    letter = {"to": ["anna@friends.example"], "subject": "Saturday", "body": "At 10?"}
    async with open_agent([calls(("mail_send", letter)), says("Not sent.")]) as agent:
        trace = await make_desk(agent, channel).handle("Write to anna@friends.example")
    assert str(trace.steps[0].error.message).startswith("no mail server is set; name yours in [mail] host")
    assert channel.cards == []
