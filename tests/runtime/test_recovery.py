"""After a crash open turns are closed once; turns of a process that still runs are left alone."""

from pathlib import Path

from myclaw_core.events.types import ApprovalAnswered, TraceClosed
from myclaw_core.runtime.recorder import new_trace
from myclaw_core.runtime.types import Turn
from myclaw_core.testing import FakeClock


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
            await tx.put("turn", str(turn.id), b"another-boot:1:1")
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
            await tx.put("turn", str(turn.id), b"garbage")
    async with open_agent([], recover_turns=False) as agent:
        assert await closings(agent) == []


async def test_a_question_of_a_dead_turn_ends_as_expired(open_agent, make_desk, home, clock: FakeClock) -> None:
    from myclaw_core.testing import RecordingChannel, calls

    copies: list[tuple[Path, bytes]] = []

    class Dying(RecordingChannel):
        async def ask(self, cards, submit) -> None:
            copies.extend((path, path.read_bytes()) for path in home.state.glob("events.db*"))
            await super().ask(cards, submit)

    async with open_agent([calls(("fs_write", {"path": "a.md", "content": "a"}))]) as agent:
        await make_desk(agent, Dying(clock, lambda card: False)).handle("Write")
    for path in home.state.glob("events.*"):
        path.unlink()
    for path, content in copies:
        path.write_bytes(content)
    connection_is_dead = b"another-boot:1:1"
    async with open_agent([], recover_turns=False) as agent, agent.log.transaction() as tx:
        for key, _ in await tx.scan("turn"):
            await tx.put("turn", key, connection_is_dead)
    async with open_agent([]) as agent:
        answers = [event for _, event in await agent.log.since(0) if isinstance(event, ApprovalAnswered)]
        assert [(answer.approval.verdict, answer.approval.note) for answer in answers] == [("expired", "restart")]
        assert await agent.services.gateway.pending() == []
