"""After a crash open turns are closed once; turns of a process that still runs are left alone."""

from pathlib import Path

from myclaw_core import codec
from myclaw_core.events.types import ApprovalAnswered, ApprovalAsked, Event, TraceClosed
from myclaw_core.runtime.records import OpenTurn
from myclaw_core.runtime.traces import new_trace
from myclaw_core.runtime.types import Turn
from myclaw_core.testing import FakeClock, RecordingChannel, calls, says


def turn_of(agent, clock: FakeClock) -> Turn:
    return Turn(
        id=clock.new_id(),
        session_id="s",
        channel="test",
        sender="test:me",
        autonomy="supervised",
        text="Hi",
        received_at=clock.now(),
        roots=agent.standing_roots,
        cwd=str(agent.home.workspace),
    )


async def closings(agent) -> list[TraceClosed]:
    return [event for _, event in await agent.log.since(0) if isinstance(event, TraceClosed)]


async def test_a_turn_of_a_living_process_is_left_alone(open_agent, clock: FakeClock) -> None:
    async with open_agent([]) as first:
        turn = turn_of(first, clock)
        await first.services.recorder(new_trace(turn, (), "")).start(turn)
        async with open_agent([]) as second:
            assert await closings(second) == []


async def test_a_turn_of_a_dead_process_is_closed_exactly_once(open_agent, clock: FakeClock) -> None:
    async with open_agent([]) as agent:
        turn = turn_of(agent, clock)
        await agent.services.recorder(new_trace(turn, (), "")).start(turn)
        async with agent.log.transaction() as tx:
            await tx.put("turn", str(turn.id), codec.dumps(OpenTurn(owner="another-boot:1:1")))
    for _ in range(2):
        async with open_agent([]) as agent:
            (closed,) = await closings(agent)
            assert closed.trace.outcome == "interrupted"
            assert closed.trace.messages[0].text == "Hi"


async def test_commands_that_only_look_do_not_close_turns(open_agent, clock: FakeClock) -> None:
    async with open_agent([]) as agent:
        turn = turn_of(agent, clock)
        await agent.services.recorder(new_trace(turn, (), "")).start(turn)
        async with agent.log.transaction() as tx:
            await tx.put("turn", str(turn.id), codec.dumps(OpenTurn(owner="garbage")))
    async with open_agent([], recover_turns=False) as agent:
        assert await closings(agent) == []


async def crash_at(kind: type, open_agent, make_desk, home, clock: FakeClock, *, answer: bool) -> None:
    """Run a turn that asks once, and leave the store as it was when an event of `kind` was committed."""
    copies: dict[Path, bytes] = {}

    def copy(event: Event) -> None:
        if isinstance(event, kind) and not copies:
            copies.update((path, path.read_bytes()) for path in home.state.glob("events.db*"))

    async with open_agent([calls(("fs_write", {"path": "a.md", "content": "a"})), says("End.")]) as agent:
        agent.log.subscribe(copy)
        await make_desk(agent, RecordingChannel(clock, lambda card: answer)).handle("Write")
    for path in home.state.glob("events.*"):
        path.unlink()
    for path, content in copies.items():
        path.write_bytes(content)
    async with open_agent([], recover_turns=False) as agent, agent.log.transaction() as tx:
        for key, _ in await tx.scan("turn"):
            await tx.put("turn", key, codec.dumps(OpenTurn(owner="another-boot:1:1")))


async def test_a_question_of_a_dead_turn_ends_as_expired(open_agent, make_desk, home, clock: FakeClock) -> None:
    await crash_at(ApprovalAsked, open_agent, make_desk, home, clock, answer=False)

    async with open_agent([]) as agent:
        (closed,) = await closings(agent)
        assert await agent.services.gateway.pending() == []

    (step,), (approval,) = closed.trace.steps, closed.trace.approvals
    assert (approval.verdict, approval.note) == ("expired", "restart")
    assert (step.state, step.approval_id) == ("asked", approval.request_id)
    assert not any(entry.asked for entry in closed.signals)


async def test_a_no_before_the_crash_still_counts(open_agent, make_desk, home, clock: FakeClock) -> None:
    await crash_at(ApprovalAnswered, open_agent, make_desk, home, clock, answer=False)

    async with open_agent([]) as agent:
        (closed,) = await closings(agent)

    (step,), (approval,) = closed.trace.steps, closed.trace.approvals
    assert (approval.verdict, step.state, step.approval_id) == ("denied", "asked", approval.request_id)
    assert {entry.subject[0] for entry in closed.signals if entry.asked and not entry.granted} == {
        "fs_write",
        "runtime",
    }


async def test_a_turn_record_that_cannot_be_read_stays_and_is_named(open_agent, clock: FakeClock) -> None:
    """Neither closed nor forgotten: a later version may have written it."""
    newer = codec.dumps(OpenTurn(owner="another-boot:1:1")).replace(b'"1.0"', b'"2.0"')
    async with open_agent([]) as agent:
        turn = turn_of(agent, clock)
        await agent.services.recorder(new_trace(turn, (), "")).start(turn)
        async with agent.log.transaction() as tx:
            await tx.put("turn", str(turn.id), newer)
    async with open_agent([]) as agent:
        assert await closings(agent) == []
        assert await agent.log.scan("turn") == [(str(turn.id), newer)]
        (notice, *_) = [str(notice) for notice in agent.notices]
    assert f"turn record {turn.id}: schema version 2.0 is newer" in notice
