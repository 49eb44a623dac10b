"""What nobody may have seen is in the digest of the next night: once, and only where there is something to tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, timedelta
from typing import Any
from uuid import UUID

import pytest

from myclaw_core.agent import Agent
from myclaw_core.approval.types import ApprovalCard, Reply
from myclaw_core.door import thresholds_of
from myclaw_core.events.types import Event, NightlyDone, OutboxChanged, SlotEnded
from myclaw_core.nightly.proposing import Proposing
from myclaw_core.nightly.run import NightlyReport, NightlyWork, run_nightly
from myclaw_core.sessions.pairing import Pairing
from myclaw_core.testing import FakeClock, RecordingChannel, calls, says
from myclaw_core.types.text import Text
from myclaw_core.undo.sweep import UndoSweeper


def write(*paths: str) -> dict[str, Any]:
    return calls(*(("fs_write", {"path": path, "content": "text\n"}) for path in paths))


def always(card: ApprovalCard) -> Reply:
    return Reply(request_id=card.request.id, granted=True, by=card.request.sender, reach="always")


async def night(agent: Agent) -> NightlyReport:
    """Do the work of the night."""
    return await run_nightly(
        NightlyWork(
            log=agent.log,
            book=agent.book,
            backend=agent.book.backend,
            dispatcher=agent.dispatcher,
            clock=agent.clock,
            thresholds=thresholds_of(agent.home, agent.dispatcher),
            undo=UndoSweeper.of(agent.log, agent.home, agent.clock, agent.services.config),
            zone=UTC,
            proposing=Proposing.configured(agent.log, agent.clock, agent.embedding, agent.services.config),
        )
    )


async def lines(agent: Agent, *about: str) -> Sequence[str]:
    """Return what a night has to tell about some things."""
    return [line for line in map(str, (await night(agent)).lines) if any(each in line for each in about)]


@pytest.fixture
def alone(make_desk: Any, clock: FakeClock) -> Callable[..., Any]:
    """Return a desk where nobody is there."""
    return lambda agent: make_desk(agent, RecordingChannel(clock, attended=False))


async def test_what_ended_because_nobody_was_there_is_told_with_where_it_is_answered(
    open_agent: Any, alone: Any, clock: FakeClock
) -> None:
    """By what it was about; the question waits on, what happened is told once."""
    about = "nobody was there", "/pending"
    async with open_agent([write("a/1.md", "a/2.md", "b/3.md"), says("No.")]) as agent:
        await night(agent)
        await alone(agent).handle("Write three")
        clock.advance(days=1)
        first = await lines(agent, *about)
        again = await night(agent)
        clock.advance(days=1)
        second = await lines(agent, *about)

    kind = f"fs_write:{agent.home.workspace}"
    assert first == [
        f"nobody was there to answer, so it was not done (2): {kind}/a/*",
        f"nobody was there to answer, so it was not done (1): {kind}/b/*",
        "questions that wait for you, /pending puts them: 3",
    ]
    assert again.done_before
    assert second == first[2:]


async def test_what_was_done_by_a_grant_that_stands_is_told_with_its_number(
    open_agent: Any, make_desk: Any, clock: FakeClock
) -> None:
    """Also of one that has ended since; what was granted for a while is nothing to tell."""
    replies = [write("a.md"), says("Done.")] * 4
    async with open_agent(replies) as agent:
        desk = make_desk(agent, RecordingChannel(clock, always))
        await desk.handle("Write")
        clock.advance(days=1)
        unused = await lines(agent, "done by grant")
        for _ in range(2):
            await desk.handle("Write")
        clock.advance(days=1)
        used = await lines(agent, "done by grant")
        await desk.handle("Write")
        await desk.handle("/revoke 1")
        clock.advance(days=1)
        ended = await lines(agent, "done by grant")
        clock.advance(days=1)
        over = await lines(agent, "done by grant")

    assert (unused, over) == ([], [])
    assert [line.partition(": exactly this, from now on")[0] for line in (*used, *ended)] == [
        "done by grant 1 (2)",
        "done by grant 1 (1)",
    ]


async def test_what_was_due_and_not_done_is_told_with_its_reason(open_agent: Any, clock: FakeClock) -> None:
    """What was done is not; nor are nights that were missed, which are told by themselves."""
    due = clock.now()
    async with open_agent() as agent:
        await happens(
            agent,
            SlotEnded(job="mail", due_at=due, outcome="done"),
            SlotEnded(job="mail", due_at=due, outcome="failed", reason=Text("the disk is full")),
            SlotEnded(job="mail", due_at=due, outcome="skipped", reason=Text("nothing ran then"), slots=3),
            SlotEnded(job="nightly", due_at=due, outcome="skipped", reason=Text("nothing ran then")),
        )
        told = await lines(agent, "mail", "nightly")

    at = f"{due:%Y-%m-%d %H:%M}"
    assert told == [
        f"mail, due at {at}, failed: the disk is full",
        f"mail was skipped (3), last the one due at {at}: nothing ran then",
    ]


async def test_what_was_not_sent_is_told(open_agent: Any, clock: FakeClock) -> None:
    async with open_agent() as agent:
        await happens(agent, *(sending(clock, state) for state in ("held", "sent", "recalled")))
        await happens(agent, *(sending(clock, state) for state in ("failed", "unknown", "dropped")))
        told = await lines(agent, "send to anna")

    assert told == [
        "not sent: send to anna: no route",
        "nobody knows whether it was sent, and it is not tried again: send to anna: no route",
        "not sent: send to anna: no route",
    ]


async def test_who_was_turned_away_is_counted(open_agent: Any, clock: FakeClock) -> None:
    """By person, of those that came since the last night."""
    async with open_agent() as agent:
        pairing = Pairing(agent.log, clock)
        for sender in ("telegram:7", "telegram:7", "telegram:8"):
            await pairing.turned_away("telegram", sender, "message")
        first = await lines(agent, "turned away")
        clock.advance(days=1)
        second = await lines(agent, "turned away")

    assert first == ["senders that are not paired and were turned away on telegram: 2; 'myclaw pair list' shows them"]
    assert second == []


async def test_long_lists_are_cut(open_agent: Any, clock: FakeClock) -> None:
    async with open_agent() as agent:
        await happens(agent, *(sending(clock, "failed") for _ in range(25)))
        told = await lines(agent, "send to anna", "more of these")

    assert len(told) == 11
    assert told[-1] == "… 15 more of these"


async def test_the_first_night_looks_a_day_back_and_no_later_one_leaves_anything_out(
    open_agent: Any, clock: FakeClock
) -> None:
    """Whatever the clock says meanwhile; what happens while the digest is made is in the next one."""
    async with open_agent() as agent:
        await happens(agent, sending(clock, "failed", to="old"))
        clock.advance(days=2)
        await happens(agent, sending(clock, "failed", to="new"))
        first = await lines(agent, "not sent")
        clock.set(clock.now() - timedelta(hours=5))
        await happens(agent, sending(clock, "failed", to="set back"))
        clock.advance(days=1, hours=6)
        second = await lines(agent, "not sent")
        (done, _) = [event for _, event in await agent.log.since(0) if isinstance(event, NightlyDone)]

    assert [line.split(":")[1] for line in first] == [" send to new"]
    assert [line.split(":")[1] for line in second] == [" send to set back"]
    assert list(map(str, done.lines)) == first


async def happens(agent: Agent, *events: Event) -> None:
    async with agent.log.transaction() as tx:
        for event in events:
            await tx.append(event)


def sending(clock: FakeClock, state: Any, to: str = "anna") -> OutboxChanged:
    return OutboxChanged(
        trace_id=UUID(int=1),
        step_index=0,
        message_id=clock.new_id(),
        state=state,
        tool="send",
        targets=(to,),
        due_at=clock.now(),
        reason=Text("no route"),
    )
