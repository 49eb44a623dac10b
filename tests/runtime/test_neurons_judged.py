"""What a neuron does is judged like anything else, and everyone on the way to it must pass."""

from __future__ import annotations

import pytest
from neurons_in_turns import COPY, FILES, adopt, called, inner

from myclaw_core.approval.types import ApprovalCard, Reply
from myclaw_core.testing import FakeClock, RecordingChannel, calls, says

A_TO_B = {"from": "a.md", "to": "b.md"}
OUTER = "async def run(ctx, args):\n    return await ctx.call('neuron:copy', **args)\n"


def never(card: ApprovalCard) -> Reply:
    """Answer that this shall never be done again."""
    return Reply(request_id=card.request.id, granted=False, by=card.request.sender, reach="never")


def tools_asked(channel: RecordingChannel) -> list[str]:
    """Return the tools that were asked about."""
    return [card.request.draft.action.tool_name for card in channel.cards]


async def test_what_is_forbidden_to_one_is_forbidden_to_every_neuron(
    open_agent, make_desk, home, clock: FakeClock
) -> None:
    """The entry is about `fs_write`; a neuron that writes there is denied without a question."""
    channel = RecordingChannel(
        clock, lambda card: never(card) if card.request.draft.action.tool_name == "fs_write" else True
    )
    replies = [calls(("fs_write", {"path": "c.md", "content": "x"})), called("copy", **A_TO_B), says("No.")]
    async with open_agent(replies) as agent:
        await adopt(agent, "copy", COPY, FILES)
        (home.workspace / "a.md").write_text("one\n")
        trace = await make_desk(agent, channel).handle("Write")

    write = trace.steps[-1]
    assert (write.tool_name, write.decision.verdict, write.decision.via) == ("ctx_write", "deny", "never")
    assert tools_asked(channel) == ["fs_write", "neuron:copy"]
    assert not (home.workspace / "b.md").exists()


async def test_a_neuron_that_shall_never_be_called_leaves_others_alone(
    open_agent, make_desk, home, clock: FakeClock
) -> None:
    channel = RecordingChannel(
        clock, lambda card: never(card) if "outer" in card.request.draft.action.tool_name else True
    )
    replies = [called("outer", **A_TO_B), called("outer", **A_TO_B), called("copy", **A_TO_B), says("Done.")]
    async with open_agent(replies) as agent:
        await adopt(agent, "copy", COPY, FILES)
        await adopt(agent, "outer", OUTER, may_call=("neuron:copy",))
        (home.workspace / "a.md").write_text("one\n")
        trace = await make_desk(agent, channel).handle("Go")

    assert [(step.tool_name, step.error is None) for step in trace.steps[:3]] == [
        ("neuron:outer", False),
        ("neuron:outer", False),
        ("neuron:copy", True),
    ]
    assert tools_asked(channel) == ["neuron:outer", "neuron:copy", "ctx_write"]


async def test_the_card_names_the_chain_and_the_record_of_each(open_agent, make_desk, home, clock: FakeClock) -> None:
    from myclaw_core.shown.card import facts

    channel = RecordingChannel(clock)
    async with open_agent([called("outer", **A_TO_B), says("Done.")]) as agent:
        await adopt(agent, "copy", COPY, FILES)
        await adopt(agent, "outer", OUTER, may_call=("neuron:copy",))
        (home.workspace / "a.md").write_text("one\n")
        trace = await make_desk(agent, channel).handle("Go")
        known = await agent.book.snapshot()

    assert tools_asked(channel) == ["neuron:outer", "neuron:copy", "ctx_write"]
    card = channel.cards[-1]
    told = "\n".join(said.text for said in facts(card, whole=True, details="details"))
    assert "ctx_write by neuron:outer → neuron:copy" in told
    assert len(card.record) == 2
    write = trace.steps[-1]
    assert [evidence.actor for evidence in write.decision.evidence] == ["neuron:outer", "neuron:copy"]
    assert str(write.decision.reason).startswith("neuron:outer: ")
    for actor in ("neuron:outer", "neuron:copy"):
        assert (actor, write.effect_class) in known
    assert ("neuron:copy", "invoke") in known
    assert ("ctx_write", write.effect_class) not in known


async def test_a_grant_for_a_chain_is_for_that_chain(open_agent, make_desk, home, clock: FakeClock) -> None:
    """What was granted for two neurons together covers neither of them alone."""

    def answer(card: ApprovalCard) -> bool | Reply:
        if card.request.draft.action.tool_name != "ctx_write":
            return True
        return Reply(request_id=card.request.id, granted=True, by=card.request.sender, reach="30_min")

    channel = RecordingChannel(clock, answer)
    replies = [called("outer", **A_TO_B), called("outer", **A_TO_B), called("copy", **A_TO_B), says("Done.")]
    async with open_agent(replies) as agent:
        await adopt(agent, "copy", COPY, FILES)
        await adopt(agent, "outer", OUTER, may_call=("neuron:copy",))
        (home.workspace / "a.md").write_text("one\n")
        trace = await make_desk(agent, channel).handle("Go")

    writes = [step for step in trace.steps if step.tool_name == "ctx_write"]
    assert [step.decision.via for step in writes] == ["trust", "grant", "trust"]
    assert tools_asked(channel).count("ctx_write") == 2


async def test_a_neuron_that_does_well_is_soon_asked_about_no_more(
    open_agent, make_desk, home, clock: FakeClock
) -> None:
    """Neither the call nor the write; another destination is asked about still."""
    channel = RecordingChannel(clock)
    runs = 8
    replies = [reply for _ in range(runs) for reply in (called("copy", **A_TO_B), says("Done."))]
    elsewhere = {"from": "a.md", "to": "other/c.md"}
    async with open_agent([*replies, called("copy", **elsewhere), says("Done.")]) as agent:
        await adopt(agent, "copy", COPY, FILES)
        (home.workspace / "other").mkdir()
        desk = make_desk(agent, channel)
        for number in range(runs):
            (home.workspace / "a.md").write_text(f"{number}\n")
            trace = await desk.handle("Do it")
            clock.advance(days=1)
        asked = len(channel.cards)
        last = await desk.handle("Do it elsewhere")

    assert [step.decision.via for step in trace.steps] == ["trust_promoted", "autonomy", "trust_promoted"]
    assert tools_asked(channel)[asked:] == ["ctx_write"]
    assert last.outcome == "success"


async def test_what_cannot_be_undone_is_asked_inside_a_neuron_too(
    open_agent, make_desk, home, clock: FakeClock
) -> None:
    """At the level `full` only that is asked, and what is new to the neuron."""
    channel = RecordingChannel(clock)
    config = "[limits]\nundo_cap_bytes = 0\n"
    async with open_agent([called("copy", **A_TO_B), called("copy", **A_TO_B), says("Done.")], config) as agent:
        await adopt(agent, "copy", COPY, FILES)
        (home.workspace / "a.md").write_text("one\n")
        (home.workspace / "b.md").write_text("old\n")
        trace = await make_desk(agent, channel, level="full").handle("Go")

    assert tools_asked(channel) == ["neuron:copy", "ctx_write"] * 2
    assert [step.undo_id for step in trace.steps if step.tool_name == "ctx_write"] == [None, None]


async def test_text_from_outside_is_in_play_once_a_neuron_was_given_something(
    open_agent, make_desk, home, clock: FakeClock
) -> None:
    """What it wrote gives it nothing; what it read does."""
    body = """\
async def run(ctx, args):
    with ctx.open('b.md', 'w') as file:
        file.write('x')
    ctx.open('b.md').read()
    try:
        await ctx.fetch('https://example.org/')
    except PermissionError:
        return 'denied'
"""
    channel = RecordingChannel(clock, lambda card: card.request.draft.action.kind != "network_out")
    async with open_agent([called("fetcher"), says("No.")]) as agent:
        await adopt(agent, "fetcher", body, (*FILES, "network:example.org"))
        trace = await make_desk(agent, channel, level="full").handle("Go")

    assert [(step.tool_name, step.tainted) for step in trace.steps] == [
        ("neuron:fetcher", False),
        ("ctx_write", False),
        ("ctx_read", False),
        ("web_fetch", True),
    ]
    assert trace.steps[-1].actor == "neuron:fetcher"
    assert trace.steps[0].exec_result.data["output"] == "denied"
    assert "text from outside is in play" in str(trace.steps[-1].decision.reason)


async def test_with_nobody_there_nothing_of_a_running_neuron_is_left_for_later(
    open_agent, make_desk, home, clock: FakeClock
) -> None:
    channel = RecordingChannel(clock, attended=False)
    async with open_agent([called("copy", **A_TO_B), says("No.")]) as agent:
        await adopt(agent, "copy", COPY, FILES)
        (home.workspace / "a.md").write_text("one\n")
        trace = await make_desk(agent, channel, yes_to=("invoke",)).handle("Go")
        left = await agent.services.gateway.left()

    assert (inner(trace)[-1].error.kind, left) == ("denied", [])


@pytest.mark.parametrize("path", ["../config.toml", "../state/events.db", "neurons/copy/body.py"])
async def test_the_programs_own_files_are_no_more_open_to_a_neuron(
    open_agent, make_desk, home, clock: FakeClock, path: str
) -> None:
    """They are denied, or asked about at any level."""
    channel = RecordingChannel(clock, lambda card: card.request.draft.action.kind == "neuron_invoke")
    async with open_agent([called("copy", **{"from": "a.md", "to": path}), says("No.")]) as agent:
        await adopt(agent, "copy", COPY, ("fs-read:{root}/*", "fs-write:{root}/*"))
        (home.workspace / "a.md").write_text("one\n")
        trace = await make_desk(agent, channel, level="full").handle("Go")

    assert [step.tool_name for step in trace.steps] == ["neuron:copy", "ctx_read", "ctx_write"]
    assert trace.steps[-1].error.kind == "denied"
    assert trace.steps[-1].kind != "fs_write" or trace.steps[-1].decision.verdict == "deny"
