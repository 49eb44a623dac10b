"""Clock back an hour, back a year, forward ten years: no score rises by it, and nothing is promoted that was not."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from myclaw_core.testing import FakeClock
from myclaw_core.trust.book import TrustBook
from myclaw_core.trust.promotion import judge
from myclaw_core.trust.types import TraceSignals

BACK_AN_HOUR, BACK_A_YEAR = timedelta(hours=-1), timedelta(days=-365)
FORWARD_TEN_YEARS = timedelta(days=3650)
SHIFTS = pytest.mark.parametrize(
    "shift", [BACK_AN_HOUR, BACK_A_YEAR, FORWARD_TEN_YEARS], ids=["back an hour", "back a year", "forward ten years"]
)
PHOTOS = ("fs_write", "fs_write:~/ws/photos/*")
IDEAL: dict[str, Any] = {
    "subject": PHOTOS,
    "tool_success": 1.0,
    "cost_efficiency": 1.0,
    "constitution_clean": 1.0,
    "human_approval_delta": 1.0,
    "undo_flag": 0.0,
}


async def used(make: SimpleNamespace, book: TrustBook, clock: FakeClock, days: int, subject: Any = None) -> None:
    for _ in range(days):
        clock.advance(days=1)
        trace = make.trace(clock.new_id(), clock.now())
        await book.bulk_update_from_trace(trace, [make.ideal(subject or make.NOTES)])


def read(make: SimpleNamespace, book: TrustBook, clock: FakeClock) -> dict[Any, tuple[float, float, bool]]:
    """Return score, effective count and whether it is promoted, for each subject."""
    found = {}
    for subject in book.subjects():
        view = book.view(subject, clock.now())
        effect = make.effect(subject)
        action = make.action(effect, clock.now(), subject[0])
        promoted = judge(effect, action, book, make.threshold(), clock.now()).promoted
        assert view is not None
        found[subject] = (view.score, view.effective_count, promoted)
    return found


def assert_no_higher(now: dict[Any, tuple[float, ...]], before: dict[Any, tuple[float, ...]]) -> None:
    for subject, figures in now.items():
        assert all(a <= b for a, b in zip(figures, before[subject], strict=True)), (subject, figures, before[subject])


@SHIFTS
async def test_no_score_rises_while_it_runs(
    open_book: Any, clock: FakeClock, make: SimpleNamespace, shift: timedelta
) -> None:
    """What has faded since its last use stays faded, whatever the clock says now."""
    book = await open_book()
    await used(make, book, clock, 5)
    await used(make, book, clock, 20, PHOTOS)
    clock.advance(days=9)
    before = read(make, book, clock)
    clock.set(clock.now() + shift)
    assert_no_higher(read(make, book, clock), before)
    assert (await book.get(make.NOTES)).score <= before[make.NOTES][0]


@SHIFTS
async def test_no_score_rises_over_a_restart(
    open_book: Any, clock: FakeClock, make: SimpleNamespace, shift: timedelta
) -> None:
    """A machine that starts with a wrong clock has the record's newest moment to go by."""
    book = await open_book()
    await used(make, book, clock, 5)
    await used(make, book, clock, 20, PHOTOS)
    before = read(make, book, clock)
    await book.close()
    clock.set(clock.now() + shift)
    assert_no_higher(read(make, await open_book(), clock), before)


async def test_a_clock_that_is_put_right_again_leaves_everything_as_it_was(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    book = await open_book()
    await used(make, book, clock, 5)
    right, before = clock.now(), read(make, book, clock)
    for shift in (FORWARD_TEN_YEARS, BACK_A_YEAR):
        clock.set(right + shift)
        read(make, book, clock)
        clock.set(right)
        assert read(make, book, clock) == before


@pytest.mark.parametrize("shift", [BACK_AN_HOUR, BACK_A_YEAR], ids=["back an hour", "back a year"])
async def test_an_approval_that_had_lapsed_does_not_come_back(
    open_book: Any, clock: FakeClock, make: SimpleNamespace, shift: timedelta
) -> None:
    book = await open_book()
    await used(make, book, clock, 1)
    for _ in range(20):
        clock.advance(days=5)
        trace = make.trace(clock.new_id(), clock.now())
        await book.bulk_update_from_trace(trace, [make.ideal(asked=False, human_approval_delta=0.5)])
    assert not read(make, book, clock)[make.NOTES][2]
    clock.set(clock.now() + shift)
    assert not read(make, book, clock)[make.NOTES][2]


@SHIFTS
def test_a_sample_under_a_wrong_clock_counts_no_more_than_under_the_right_one(
    make: SimpleNamespace, clock: FakeClock, shift: timedelta
) -> None:
    """One that is dated back is old evidence; one dated ahead has everything before it faded."""
    wrong, right = make.Record(), make.Record()
    for _ in range(5):
        clock.advance(days=1)
        wrong.add_sample(make.ideal(), clock.now())
        right.add_sample(make.ideal(), clock.now())
    wrong.add_sample(make.ideal(), clock.now() + shift)
    right.add_sample(make.ideal(), clock.now())
    counts = [record.view(make.NOTES, clock.now()).effective_count for record in (wrong, right)]
    assert counts[0] <= counts[1]
    assert shift < timedelta(0) or counts[0] < 2


async def test_a_bad_sample_under_a_clock_that_was_set_back_still_demotes(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    """Three further good ones must come after it; an undo and a denial are dated like everything else."""
    book = await open_book()
    await used(make, book, clock, 10)
    last = make.trace(clock.new_id(), clock.now())
    await book.bulk_update_from_trace(last, [make.ideal()])
    assert read(make, book, clock)[make.NOTES][2]
    clock.set(clock.now() + BACK_A_YEAR)
    await book.record_undo(last.id, [make.NOTES], in_time=False)
    assert book.state(make.NOTES).grants == ()
    assert not read(make, book, clock)[make.NOTES][2]


async def test_a_record_that_is_ahead_of_the_clock_is_said(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    """Nothing is promoted by what a wrong clock dated, and a person can take it back."""
    book = await open_book()
    await used(make, book, clock, 5)
    assert book.ahead(clock.now()) is None
    right = clock.now()
    clock.set(right + FORWARD_TEN_YEARS)
    trace = make.trace(clock.new_id(), clock.now())
    await book.bulk_update_from_trace(trace, [make.ideal(PHOTOS)])
    clock.set(right)
    told = (
        "trust knows of something at 2036-01-08 09:00, which is yet to come: set the clock, or take it back with "
        "'myclaw trust rollback'; until then everything counts as old"
    )
    assert str(book.ahead(clock.now())) == told
    assert not any(promoted for *_, promoted in read(make, book, clock).values())
    await book.rollback(PHOTOS, right + timedelta(days=1))
    assert book.ahead(clock.now()) is None
    assert read(make, book, clock)[make.NOTES][2]


def test_samples_of_one_moment_are_taken_in_whatever_order_they_come(make: SimpleNamespace, clock: FakeClock) -> None:
    records: Sequence[Any] = [make.Record(), make.Record()]
    for record, order in zip(records, ([0.2, 0.9], [0.9, 0.2]), strict=True):
        for value in order:
            record.add(make.sample(make.ideal(cost_efficiency=value), clock.now(), f"trace {value}"))
    assert records[0].get(make.NOTES) == records[1].get(make.NOTES)


async def test_a_start_says_that_the_record_is_ahead_of_the_clock(open_agent: Any, clock: FakeClock) -> None:
    async with open_agent() as agent:
        await agent.book.update(PHOTOS, TraceSignals(**IDEAL), clock.now() + FORWARD_TEN_YEARS)
        assert agent.notices == []
    async with open_agent() as agent:
        assert "which is yet to come: set the clock" in str(agent.notices[0])
