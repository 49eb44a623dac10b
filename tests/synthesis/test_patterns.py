"""What fails again and again is proposed once, and not while something is done about it already."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from myclaw_sqlite.event_store import SqliteEventStore

from myclaw_core import codec
from myclaw_core.door import thresholds_of
from myclaw_core.embedding.book import EmbeddingBook
from myclaw_core.embedding.hashed import HashedEmbedder
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import SynthesisRequested
from myclaw_core.messages import N_
from myclaw_core.nightly.proposing import Proposing
from myclaw_core.nightly.run import NightlyWork, run_nightly
from myclaw_core.synthesis.failed_goals import FAILED_GOAL_KIND, FailedGoal
from myclaw_core.synthesis.patterns import patterns
from myclaw_core.synthesis.rests import REFUSED_RESTS, rest
from myclaw_core.synthesis.store import advance, request, standing
from myclaw_core.synthesis.types import Synthesis, SynthesisRequest
from myclaw_core.testing import FakeClock, calls, says
from myclaw_core.undo.sweep import UndoSweeper

AT = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
SCANS = [f"Merge the scans of {month} into one PDF" for month in ("January", "February", "March", "April", "May")]
BILLS = [f"Read the total of the electricity bill of {month}" for month in ("January", "March", "May", "July", "June")]
ALIKE = ["Merge scans, one PDF", "One PDF: merge scans", "ONE PDF: MERGE SCANS"]
"""The embedder cannot tell them from each other."""
OTHERS = ["Water the plants", "Call the dentist about Monday", "Which films are shown tonight?"]


def book(clock: FakeClock) -> EmbeddingBook:
    return EmbeddingBook(HashedEmbedder(), None, clock)


def failure(number: int, goal: str, *tools: str, at: datetime = AT) -> FailedGoal:
    return FailedGoal(
        trace_id=UUID(int=number), goal=goal, sender="cli:me", tools=tools, at=at + timedelta(minutes=number)
    )


def failures(goals: Sequence[str], first: int = 0) -> list[FailedGoal]:
    return [failure(first + number, goal, "shell") for number, goal in enumerate(goals)]


async def test_five_failures_at_similar_goals_are_a_pattern_and_four_are_none(clock: FakeClock) -> None:
    goals = failures([*SCANS, *OTHERS, *BILLS[:4]])

    (found,) = await patterns(goals, book(clock), AT)

    assert found.goal == found.pattern
    assert found.goal in SCANS
    assert found.trace_ids == tuple(UUID(int=number) for number in range(5))
    assert (found.capability_hint, found.proposed_at) == (("shell",), AT)
    assert await patterns(goals[1:], book(clock), AT) == []


async def test_one_turn_counts_once(clock: FakeClock) -> None:
    goals = [failure(1, goal) for goal in SCANS]

    assert await patterns(goals, book(clock), AT) == []


async def test_case_and_spaces_make_no_other_goal_whatever_the_embedder_says(clock: FakeClock) -> None:
    goals = failures(["?", " ?", "? ", "?  ", "\t?"])

    (found,) = await patterns(goals, book(clock), AT)

    assert len(found.trace_ids) == 5


async def test_the_goal_that_is_nearest_to_the_others_stands_for_them(clock: FakeClock) -> None:
    plain = "Merge the scans into one PDF"
    goals = failures(
        [plain, *(f"{month}: merge the scans into one PDF" for month in ("April", "March", "May", "July"))]
    )

    (found,) = await patterns(goals, book(clock), AT)

    assert found.pattern == plain


async def test_what_was_tried_most_often_comes_first_in_the_hint(clock: FakeClock) -> None:
    tools = [("shell",), ("shell", "fs_read"), ("fs_read",), ("web_fetch",), ("shell",)]
    goals = [failure(number, goal, *used) for number, (goal, used) in enumerate(zip(SCANS, tools, strict=True))]

    (found,) = await patterns(goals, book(clock), AT)

    assert found.capability_hint == ("shell", "fs_read", "web_fetch")


async def test_two_patterns_are_told_apart_the_more_frequent_first(clock: FakeClock) -> None:
    goals = failures([*BILLS, *SCANS, "Merge the scans of June into one PDF"])

    first, second = await patterns(goals, book(clock), AT)

    assert (first.goal in SCANS, len(first.trace_ids)) == (True, 6)
    assert (second.goal in BILLS, len(second.trace_ids)) == (True, 5)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from([*SCANS, *ALIKE, *BILLS, *OTHERS]), max_size=25), st.randoms(use_true_random=False))
async def test_the_order_in_which_failures_are_read_changes_nothing(goals: list[str], shuffling: Any) -> None:
    known = [failure(number, goal) for number, goal in enumerate(goals)]
    shuffled = list(known)
    shuffling.shuffle(shuffled)
    embedding = book(FakeClock())

    found = await patterns(known, embedding, AT)

    assert await patterns(shuffled, embedding, AT) == found
    assert all(len(each.trace_ids) >= 5 for each in found)
    shown = [trace_id for each in found for trace_id in each.trace_ids]
    assert len(shown) == len(set(shown))


@pytest.fixture
async def proposing(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Proposing]:
    """Return what proposes, over a real database."""
    log = EventLog(SqliteEventStore(tmp_path / "events.db"), bytes(32), clock)
    await log.open()
    yield Proposing(log=log, clock=clock, embedding=book(clock), budget_cents=50)
    await log.close()


async def remember(log: EventLog, *known: FailedGoal) -> None:
    async with log.transaction() as tx:
        for each in known:
            await tx.put(FAILED_GOAL_KIND, str(each.trace_id), codec.dumps(each))


async def end(log: EventLog, synthesis: Synthesis, now: datetime) -> None:
    """Bring a synthesis to its end, as if it were born or given up."""
    async with log.transaction() as tx:
        await advance(tx, evolve(synthesis, stage="ended", at=now), N_("over"))


async def test_a_pattern_waits_for_the_persons_word_and_is_told_once(proposing: Proposing, clock: FakeClock) -> None:
    log, before = proposing.log, clock.now()
    clock.advance(hours=1)
    await remember(log, *failures([*SCANS, *OTHERS]))

    await proposing.propose(clock.now())
    told = await proposing.lines(before)
    await proposing.propose(clock.now())

    (made,) = await standing(log)
    assert (made.stage, made.sender, made.proposal is not None) == ("direction", "cli:me", True)
    assert made.request == SynthesisRequest(
        goal=made.request.goal,
        trace_id=UUID(int=4),
        mode="internal",
        capability_hint=["shell"],
        budget_cents=50,
    )
    assert [str(line) for line in told] == [
        f"failed 5 times in 30 days: {made.request.goal}; 'myclaw neurons proposals' shows what may be designed"
    ]
    assert await proposing.lines(before) == told
    assert await proposing.lines(clock.now()) == []


async def test_what_fails_while_a_design_is_under_way_is_counted_for_that(
    proposing: Proposing, clock: FakeClock
) -> None:
    wanted = SynthesisRequest(goal=SCANS[0], trace_id=UUID(int=0), mode="external", capability_hint=[], budget_cents=1)
    made = await request(proposing.log, clock, wanted, "cli:me")
    await remember(proposing.log, *failures(SCANS))
    await proposing.propose(clock.now())

    assert await standing(proposing.log) == [made]

    clock.advance(hours=2)
    await end(proposing.log, made, clock.now())
    await proposing.propose(clock.now())
    assert len(await standing(proposing.log)) == 1

    later = [failure(100 + number, goal, at=clock.now()) for number, goal in enumerate(SCANS)]
    clock.advance(hours=3)
    await remember(proposing.log, *later)
    await proposing.propose(clock.now())
    (again, _ended) = await standing(proposing.log)
    assert again.proposal is not None
    assert again.proposal.trace_ids == tuple(each.trace_id for each in later)


async def test_a_direction_that_was_refused_is_not_proposed_while_it_rests(
    proposing: Proposing, clock: FakeClock
) -> None:
    async with proposing.log.transaction() as tx:
        await rest(
            tx, "merge the scans of JUNE into one pdf", clock.now() + REFUSED_RESTS, N_("refused"), now=clock.now()
        )
    clock.advance(days=29)
    await remember(proposing.log, *failures(SCANS, 1))
    await proposing.propose(clock.now())
    assert await standing(proposing.log) == []

    clock.advance(days=1)
    await remember(proposing.log, *(evolve(each, at=clock.now()) for each in failures(SCANS, 1)))
    await proposing.propose(clock.now())
    assert len(await standing(proposing.log)) == 1


async def test_three_directions_a_night_are_enough(proposing: Proposing, clock: FakeClock) -> None:
    goals = [BILLS[0], *OTHERS, SCANS[0]]
    await remember(proposing.log, *failures([goal for goal in goals for _ in range(5)]))

    await proposing.propose(clock.now())
    first = len(await standing(proposing.log))
    await proposing.propose(clock.now())

    assert (first, len(await standing(proposing.log))) == (3, 5)


async def test_a_damaged_record_keeps_nothing_from_being_seen(proposing: Proposing, clock: FakeClock) -> None:
    async with proposing.log.transaction() as tx:
        await tx.put(FAILED_GOAL_KIND, "x", b"\x00")
        await tx.put("rest", "y", b"{}")
    await remember(proposing.log, *failures(SCANS))

    await proposing.propose(clock.now())

    assert len(await standing(proposing.log)) == 1


async def test_of_two_processes_one_proposes(proposing: Proposing, clock: FakeClock, tmp_path: Path) -> None:
    """The other one was about to record the same when the designs changed."""
    other = EventLog(SqliteEventStore(tmp_path / "events.db"), bytes(32), clock)
    await other.open()

    class Slow(HashedEmbedder):
        async def embed_passages(self, texts: Sequence[str]) -> Any:
            nonlocal raced
            if not raced:
                raced = True
                await evolve(proposing, log=other).propose(clock.now())
            return await super().embed_passages(texts)

    raced = False
    await remember(proposing.log, *failures(SCANS))
    await evolve(proposing, embedding=EmbeddingBook(Slow(), None, clock)).propose(clock.now())
    await other.close()

    assert len(await standing(proposing.log)) == 1


async def test_turns_that_fail_in_a_week_are_in_the_digest_of_the_night(
    open_agent: Any, make_desk: Any, clock: FakeClock
) -> None:
    """From the message to the line, with the design recorded once however often the night is done."""
    replies = [
        reply
        for _ in SCANS
        for reply in (calls(("pdf_merge", {}), ("pdf_split", {})), says("I have no tool for that."))
    ]
    async with open_agent(replies) as agent:
        for goal in SCANS:
            await make_desk(agent).handle(goal)
            clock.advance(days=1)
        work = NightlyWork(
            log=agent.log,
            book=agent.book,
            backend=agent.book.backend,
            dispatcher=agent.dispatcher,
            clock=clock,
            thresholds=thresholds_of(agent.home, agent.dispatcher),
            undo=UndoSweeper.of(agent.log, agent.home, clock, agent.services.config),
            zone=UTC,
            proposing=Proposing.configured(agent.log, clock, agent.embedding, agent.services.config),
        )
        first = await run_nightly(work)
        clock.advance(days=1)
        second = await run_nightly(work)
        requested = [event for _, event in await agent.log.since(0) if isinstance(event, SynthesisRequested)]

    (line,) = [str(line) for line in first.lines if "failed 5 times in 30 days" in str(line)]
    assert "PDF; 'myclaw neurons proposals'" in line
    assert not any("failed 5 times" in str(line) for line in second.lines)
    (made,) = requested
    assert made.sender == "test:me"
    assert made.request.budget_cents == 50
    assert made.request.capability_hint == ["pdf_merge", "pdf_split"]
