"""Answers that come after their trace had closed count as if they had come in time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from myclaw_sqlite.event_store import SqliteEventStore

from myclaw_core.events.log import EventLog
from myclaw_core.events.types import ApprovalAnswered, TraceClosed
from myclaw_core.synthesis.types import Revision
from myclaw_core.testing import FakeClock
from myclaw_core.trust.follower import TrustFollower

PARENT = ("fs_write", "fs_write:*")
PHOTOS = ("fs_write", "fs_write:~/ws/photos/*")
RUNTIME = ("runtime", "success")


async def closed(make: SimpleNamespace, book: Any, clock: FakeClock, *signals: Any) -> Any:
    """Close a trace now that says `signals`; return it."""
    trace = make.trace(clock.new_id(), clock.now())
    await book.bulk_update_from_trace(trace, signals)
    return trace


@pytest.mark.parametrize("granted", [True, False])
async def test_a_late_answer_gives_what_the_same_sample_would_have_given_in_time(
    open_book: Any, tmp_path: Path, clock: FakeClock, make: SimpleNamespace, granted: bool
) -> None:
    """Subject and parent are replayed; other samples have come in the meantime."""
    book = await open_book()
    silent = make.ideal(asked=False, human_approval_delta=0.5)
    trace = await closed(make, book, clock, silent, make.ideal(RUNTIME))
    for _ in range(3):
        clock.advance(days=1)
        await closed(make, book, clock, make.ideal())
    clock.advance(hours=5)
    await book.record_approval_outcome(trace.id, make.approval(clock, trace.id, granted=granted), [make.NOTES])

    record = make.Record()
    at = trace.closed_at
    record.add_sample(make.ideal(human_approval_delta=float(granted)), at)
    for day in (1, 2, 3):
        record.add_sample(make.ideal(), at + timedelta(days=day))
    for subject in (make.NOTES, PARENT):
        found, expected = book.state(subject), record.get(subject)
        for name in ("human_approval_rate", "tool_success", "recent", "grants", "n_samples", "last_good"):
            assert getattr(found, name) == getattr(expected, name)
    assert (await book.verify()).ok


async def test_a_late_no_about_a_step_that_never_ran_gives_approval_evidence_and_nothing_else(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    book = await open_book()
    for _ in range(5):
        clock.advance(days=1)
        await closed(make, book, clock, make.ideal())
    before = book.state(make.NOTES)
    trace = await closed(make, book, clock, make.ideal(RUNTIME))
    clock.advance(days=2)
    await book.record_approval_outcome(trace.id, make.approval(clock, trace.id, granted=False), [make.NOTES])
    after = book.state(make.NOTES)
    assert after.human_approval_rate.mean < before.human_approval_rate.mean
    assert (after.tool_success.mean, after.n_samples) == (before.tool_success.mean, before.n_samples)
    assert (after.recent[-1], after.grants) == (True, ())


async def test_a_late_no_that_asks_for_a_revision_changes_nothing(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    """It is no judgement on the action."""
    book = await open_book()
    trace = await closed(make, book, clock, make.ideal())
    before = book.state(make.NOTES)
    wanted = make.approval(clock, trace.id, granted=False, revision=Revision(stage="spec", text="other"))
    await book.record_approval_outcome(trace.id, wanted, [make.NOTES])
    assert book.state(make.NOTES) == before


async def test_a_late_yes_about_a_step_that_never_ran_makes_the_destination_known(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    book = await open_book()
    trace = await closed(make, book, clock, make.ideal(RUNTIME))
    clock.advance(days=2)
    await book.record_approval_outcome(trace.id, make.approval(clock, trace.id), [PHOTOS])
    state = book.state(PHOTOS)
    assert (state.n_samples, state.grants, state.recent) == (0, (trace.closed_at,), ())
    assert book.state(RUNTIME).recent == (False,)
    assert (await book.verify()).ok


async def test_of_two_answers_about_one_step_the_no_counts(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    for first in (True, False):
        book = await open_book()
        subject = ("fs_write", f"fs_write:~/{first}/*")
        trace = await closed(make, book, clock, make.ideal(subject))
        for granted in (first, not first):
            clock.advance(minutes=1)
            await book.record_approval_outcome(trace.id, make.approval(clock, trace.id, granted=granted), [subject])
        assert book.state(subject).recent == (True,)
        await book.close()


async def test_without_subjects_every_sample_of_the_trace_is_answered(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    book = await open_book()
    trace = await closed(make, book, clock, make.ideal(), make.ideal(PHOTOS), make.ideal(RUNTIME))
    clock.advance(hours=1)
    await book.record_approval_outcome(trace.id, make.approval(clock, trace.id, granted=False))
    told = {one: book.state(one).recent for one in (make.NOTES, PHOTOS, RUNTIME)}
    assert told == {make.NOTES: (True,), PHOTOS: (True,), RUNTIME: (False,)}


@pytest.mark.parametrize("changes", [{"decided_by": "core"}, {"verdict": "expired"}, {"verdict": "revoked"}])
async def test_what_no_person_answered_counts_for_nothing(
    open_book: Any, clock: FakeClock, make: SimpleNamespace, changes: dict[str, str]
) -> None:
    book = await open_book()
    trace = await closed(make, book, clock, make.ideal())
    await book.record_approval_outcome(trace.id, make.approval(clock, trace.id, granted=False, **changes))
    assert len(await book._backend.rows()) == 1


async def test_an_answer_about_a_trace_that_is_not_closed_is_left_to_its_samples(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    book = await open_book()
    unknown = clock.new_id()
    await book.record_approval_outcome(unknown, make.approval(clock, unknown), [make.NOTES])
    assert await book.get(make.NOTES) is None


@pytest.fixture
async def log(tmp_path: Path, clock: FakeClock) -> AsyncIterator[EventLog]:
    """Return an open, empty log."""
    log = EventLog(SqliteEventStore(tmp_path / "events.db"), bytes(32), clock)
    await log.open()
    yield log
    await log.close()


async def test_the_log_tells_late_answers_from_those_that_came_in_time(
    log: EventLog, open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    """An answer that stands before the close of its trace is in the samples already."""
    book = await open_book()
    trace_id = clock.new_id()
    in_time, late = make.approval(clock, trace_id), make.approval(clock, trace_id, granted=False)
    step = make.step(make.NOTES, clock.now(), state="failed", approval_id=late.request_id)
    trace = make.trace(trace_id, clock.now(), steps=[step])
    ending = TraceClosed(trace_id=trace_id, trace=trace, signals=(make.ideal(PHOTOS), make.ideal(RUNTIME)))
    for event in (ApprovalAnswered(trace_id=trace_id, approval=in_time), ending):
        async with log.transaction() as tx:
            await tx.append(event)
    follower = TrustFollower(log, book)
    await follower.catch_up()
    assert await book.get(make.NOTES) is None
    clock.advance(days=1)
    async with log.transaction() as tx:
        await tx.append(ApprovalAnswered(trace_id=trace_id, approval=late))
    await follower.catch_up()
    assert book.state(make.NOTES).recent == (True,)
    assert book.state(PHOTOS).recent == (False,)
    assert book.applied_seq == 3
    await follower.catch_up()
    assert len(await book._backend.rows()) == 3
