"""Answers that hold for more than one question, through every layer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from myclaw_core.approval.types import ApprovalCard, Reach, Reply
from myclaw_core.errors import UsageError
from myclaw_core.events.types import NeverChanged
from myclaw_core.testing import FakeClock, RecordingChannel, calls, says
from myclaw_core.types.text import Text


def write(*paths: str) -> dict[str, Any]:
    return calls(*(("fs_write", {"path": path, "content": "text\n"}) for path in paths))


def answering(reach: Reach, *, granted: bool = True) -> Callable[[ApprovalCard], Reply]:
    return lambda card: Reply(request_id=card.request.id, granted=granted, by=card.request.sender, reach=reach)


def vias(trace: Any) -> list[str]:
    return [step.decision.via for step in trace.steps]


async def test_twenty_five_equal_requests_are_one_question(open_agent, make_desk, home, clock: FakeClock) -> None:
    """One press answers those that wait, and those that come."""
    names = [f"n/{number}.md" for number in range(25)]
    answers: list[ApprovalCard] = []

    def answer(card: ApprovalCard) -> Reply:
        answers.append(card)
        return answering("30_min")(card)

    async with open_agent([write(*names[:20]), write(*names[20:]), says("Written.")]) as agent:
        (home.workspace / "n").mkdir()
        trace = await make_desk(agent, RecordingChannel(clock, answer)).handle("Write")

    assert len(answers) == 1
    assert len(list((home.workspace / "n").iterdir())) == 25
    assert [step.state for step in trace.steps] == ["done"] * 25
    assert vias(trace)[20:] == ["grant"] * 5
    assert "granted it beforehand (1): fs_write doing" in str(trace.steps[24].decision.reason)


async def test_one_press_is_evidence_in_its_own_trace_and_nowhere_else(open_agent, make_desk, clock: FakeClock) -> None:
    """What runs by the grant gives its other signals."""
    replies = [write("n/a.md", "n/b.md"), says("Done."), write("n/c.md"), says("Done.")]
    async with open_agent(replies) as agent:
        desk = make_desk(agent, RecordingChannel(clock, answering("10_min")))
        await desk.handle("Write two")
        (asked,) = [score for key, score in (await agent.book.snapshot()).items() if key[1].endswith("n/*")]
        await desk.handle("Write one")
        (unasked,) = [score for key, score in (await agent.book.snapshot()).items() if key[1].endswith("n/*")]

    assert (asked.n_samples, unasked.n_samples) == (1, 2)
    assert unasked.human_approval_rate == asked.human_approval_rate
    assert unasked.tool_success > asked.tool_success


async def test_all_is_evidence_for_the_line_that_was_pressed(open_agent, make_desk, home, clock: FakeClock) -> None:
    """The other lines run and count as not asked."""
    cards: list[ApprovalCard] = []

    class Pressing(RecordingChannel):
        async def ask(self, shown, submit) -> None:
            for card in shown:
                shown.shown(card)
            clock.advance(seconds=5)
            cards.extend(shown)
            first, *others = shown
            also = tuple(card.request.id for card in others)
            assert await submit(Reply(request_id=first.request.id, granted=True, by="test:me", also=also)) is None

    async with open_agent([write("a/1.md", "b/2.md"), says("Done.")]) as agent:
        trace = await make_desk(agent, Pressing(clock)).handle("Write two")
        scores = await agent.book.snapshot()

    assert [(approval.verdict, approval.scope) for approval in trace.approvals] == [
        ("granted", "once"),
        ("granted", "batch"),
    ]
    rates = {key[1][-3:]: score.human_approval_rate for key, score in scores.items() if key[1].endswith("/*")}
    assert rates["a/*"] > 0.5 == rates["b/*"]


async def test_a_grant_holds_in_the_next_program_and_for_its_sender_alone(
    open_agent, make_desk, home, clock: FakeClock
) -> None:
    """Also where nobody is there to ask."""
    nobody = RecordingChannel(clock, attended=False)
    async with open_agent([write("n/a.md"), says("Done.")]) as agent:
        await make_desk(agent, RecordingChannel(clock, answering("30_min"))).handle("Write")
    async with open_agent([write("n/b.md"), says("Done."), write("n/c.md"), says("No.")]) as agent:
        mine = await make_desk(agent, nobody).handle("Write")
        other = await make_desk(agent, nobody, sender="test:you").handle("Write")

    assert vias(mine) == ["grant"]
    assert other.steps[0].error.kind == "denied"
    assert not (home.workspace / "n/c.md").exists()


async def test_what_is_used_up_in_the_middle_of_a_message_is_asked_again(
    open_agent, make_desk, clock: FakeClock
) -> None:
    """All were judged while something was left; each is judged once more before it runs."""
    replies = [write("n/a.md"), says("Done."), write("n/b.md", "n/c.md", "n/d.md"), says("Done.")]
    channel = RecordingChannel(clock, answering("3_times"))
    async with open_agent(replies) as agent:
        desk = make_desk(agent, channel)
        await desk.handle("Write one")
        channel._answer = lambda card: True
        trace = await desk.handle("Write three")

    assert [str(card.request.draft.summary)[-4:] for card in channel.cards] == ["a.md", "d.md"]
    assert [step.state for step in trace.steps] == ["done"] * 3


async def test_exactly_this_may_be_granted_for_good_even_where_it_cannot_be_undone(
    open_agent, make_desk, home, clock: FakeClock
) -> None:
    """The same bytes run again; others are asked."""
    same = calls(("fs_write", {"path": "b.md", "content": "same\n"}))
    other = calls(("fs_write", {"path": "b.md", "content": "other\n"}))
    channel = RecordingChannel(clock, answering("always"))
    async with open_agent([same, says("1"), same, says("2"), other, says("3")]) as agent:
        home.workspace.joinpath("b.md").write_text("old")
        (home.root / "other-name").hardlink_to(home.workspace / "b.md")
        desk = make_desk(agent, channel)
        first = await desk.handle("Write")
        assert first.steps[0].decision.action.reversibility == "irreversible"
        assert channel.cards[0].request.batchable is False
        (home.root / "one-more-name").hardlink_to(home.workspace / "b.md")
        clock.advance(days=30)
        second = await desk.handle("Write")
        await desk.handle("Write")

    assert second.steps[0].decision.action.reversibility == "irreversible"
    assert vias(second) == ["grant"]
    assert len(channel.cards) == 2


async def test_a_law_and_outside_text_cannot_be_answered_beforehand(
    open_agent, make_desk, home, clock: FakeClock
) -> None:
    """The cards do not offer it, and an answer that says so is refused."""
    neuron = calls(("fs_write", {"path": "neurons/x/body.py", "content": "x"}))
    page = calls(("fs_read", {"path": "a.md"}), ("web_fetch", {"url": "https://example.org/q"}))
    channel = RecordingChannel(clock, answering("always"))
    replies = [neuron, says("No."), calls(("fs_read", {"path": "a.md"})), page, says("No.")]
    async with open_agent(replies) as agent:
        (home.workspace / "a.md").write_text("text")
        await make_desk(agent, channel).handle("Learn")
        await make_desk(agent, channel).handle("Look")

    assert [(card.request.batchable, card.request.standing) for card in channel.cards] == [(False, False)] * 2
    assert [str(refusal) for refusal in channel.refusals] == ["this is asked each time"] * 2


async def test_never_denies_without_a_question_until_it_is_taken_off_with_consent(
    open_agent, make_desk, home, clock: FakeClock
) -> None:
    """Asked like any change of the system itself; no answer leaves it there."""
    channel = RecordingChannel(clock, answering("never", granted=False))
    replies = [write("n/a.md"), says("No."), write("n/b.md"), says("No."), write("n/c.md"), says("Done.")]
    async with open_agent(replies) as agent:
        desk = make_desk(agent, channel)
        await desk.handle("Write")
        second = await desk.handle("Write")
        await desk.handle("/never")
        for answer in (None, False, True):
            channel._answer = lambda card, answer=answer: answer
            await desk.handle("/never remove 1")
        await desk.handle("/never")
        await desk.handle("Write")
        changes = [event.change for _, event in await agent.log.since(0) if isinstance(event, NeverChanged)]
        assert await agent.log.scan("turn") == []

    assert vias(second) == ["never"]
    assert len(channel.cards) == 5
    assert channel.cards[1].request.draft.action.kind == "config_change"
    told = [line.partition(":")[0].partition("`")[0] for line in channel.shown]
    assert told == [
        "1. ",
        "still never",
        "still never",
        "taken off",
        "Nothing is on your never-list. Answer a question with ",
    ]
    assert changes == ["added", "removed"]
    assert (home.workspace / "n/c.md").exists()


async def test_the_commands_say_what_is_wrong(open_agent, make_desk, clock: FakeClock) -> None:
    """In one line."""
    async with open_agent([]) as agent:
        desk = make_desk(agent, RecordingChannel(clock))
        for line in ("/revoke", "/revoke x", "/revoke 7", "/never add 1", "/never remove", "/never remove 1"):
            with pytest.raises(UsageError):
                await desk.handle(line)


async def test_pause_ends_all_that_was_granted_beforehand(open_agent, make_desk, home, clock: FakeClock) -> None:
    """For this run, too."""
    channel = RecordingChannel(clock, answering("always"))
    replies = [write("n/a.md"), says("Done."), write("n/a.md", "m/b.md"), says("No.")]
    async with open_agent(replies) as agent:
        desk = make_desk(agent, channel, yes_to=("fs_write:m/*",))
        await desk.handle("Write")
        await desk.handle("/status")
        await desk.handle("/pause")
        await desk.handle("/pause")
        channel._answer = lambda card: False
        trace = await desk.handle("Write")

    assert "exactly this, from now on" in channel.shown[0]
    assert "granted for this run: `fs_write:m/*`" in channel.shown[0]
    assert channel.shown[1:] == [
        "1 grant ended. Every question is asked.",
        "Nothing was granted beforehand. Every question is asked.",
    ]
    assert [step.error.kind for step in trace.steps] == ["denied", "denied"]


async def test_what_another_program_says_never_to_is_known_at_the_next_turn(
    open_agent, make_desk, clock: FakeClock
) -> None:
    """Two programs over one home."""
    channel = RecordingChannel(clock, answering("never", granted=False))
    replies = [write("n/a.md"), says("No.")]
    async with open_agent(replies) as first, open_agent(replies) as second:
        await make_desk(first, channel).handle("Write")
        trace = await make_desk(second, channel).handle("Write")

    assert vias(trace) == ["never"]
    assert len(channel.cards) == 1


async def test_a_never_that_comes_while_an_action_waits_for_its_intent_stops_it(
    open_agent, make_desk, home, clock: FakeClock
) -> None:
    """Said in another program, after this one judged and before it acted."""
    denying = RecordingChannel(clock, answering("never", granted=False))
    async with open_agent([write("n/a.md"), says("No.")]) as other:

        class Meanwhile(RecordingChannel):
            async def ask(self, cards, submit) -> None:
                await super().ask(cards, submit)
                await make_desk(other, denying).handle("Write")

        async with open_agent([write("n/a.md"), says("No.")]) as agent:
            trace = await make_desk(agent, Meanwhile(clock)).handle("Write")

    assert "you said never" in str(trace.steps[0].error.message)
    assert not (home.workspace / "n/a.md").exists()


async def test_a_press_after_a_restart_does_nothing_and_says_so(open_agent, make_desk, home, clock: FakeClock) -> None:
    """A messenger may still show the buttons."""
    shown: list[ApprovalCard] = []

    class Gone(RecordingChannel):
        async def ask(self, cards, submit) -> None:
            shown.extend(cards)

    async with open_agent([write("a.md"), says("No.")]) as agent:
        await make_desk(agent, Gone(clock)).handle("Write")
    async with open_agent([]) as agent:
        refusal = await make_desk(agent).submit(answering("once")(shown[0]))

    assert "it has expired; send your message again" in str(refusal)
    assert not (home.workspace / "a.md").exists()


async def test_a_record_that_is_not_whole_grants_nothing(open_agent, make_desk, clock: FakeClock) -> None:
    """Every action asks then."""
    channel = RecordingChannel(clock, answering("30_min"))
    async with open_agent([write("a.md"), says("Done."), write("b.md"), says("Done.")]) as agent:
        desk = make_desk(agent, channel)
        await desk.handle("Write")
        agent.record_check.damaged(Text("a byte was flipped"))
        await desk.handle("Write")

    assert len(channel.cards) == 2


async def test_a_consent_that_is_stopped_leaves_no_open_question(open_agent, make_desk, clock: FakeClock) -> None:
    """The entry stays."""
    channel = RecordingChannel(clock, answering("never", granted=False))
    asked = asyncio.Event()

    class Waiting(RecordingChannel):
        async def ask(self, cards, submit) -> None:
            asked.set()
            await asyncio.Event().wait()

    async with open_agent([write("a.md"), says("No.")]) as agent:
        await make_desk(agent, channel).handle("Write")
        command = asyncio.ensure_future(make_desk(agent, Waiting(clock)).handle("/never remove 1"))
        await asked.wait()
        command.cancel()
        await asyncio.wait({command})
        assert await agent.services.gateway.pending() == []
        assert await agent.log.scan("turn") == []
        assert len(await agent.services.gateway.forbidden("test:me")) == 1


async def test_a_press_does_not_cover_a_file_that_has_another_name_elsewhere(
    open_agent, make_desk, home, clock: FakeClock
) -> None:
    """Its card is open beside the one that was pressed, and is answered alone."""
    read = calls(("fs_read", {"path": "one.md"}), ("fs_read", {"path": "two.md"}), ("fs_read", {"path": "three.md"}))
    channel = RecordingChannel(clock, answering("10_min"))
    async with open_agent([read, says("Read.")]) as agent:
        for name in ("one.md", "two.md"):
            (home.workspace / name).write_text("text")
            (home.root / f"other-{name}").hardlink_to(home.workspace / name)
        (home.workspace / "three.md").write_text("text")
        await make_desk(agent, channel).handle("Read")

    assert [(card.request.batchable, card.request.standing) for card in channel.cards] == [(False, True)] * 2
    assert [str(refusal) for refusal in channel.refusals] == ["this one is answered alone"] * 2
