"""What a trace of a class usually costs: the median of 30 days, in force from the night on that worked it out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from myclaw_defaults.signals import five_signals
from myclaw_sqlite.event_store import SqliteEventStore

from myclaw_core.events.log import EventLog
from myclaw_core.events.types import PluginFault, TraceClosed
from myclaw_core.testing import FakeClock
from myclaw_core.trust.costs import UsualCosts, put_medians

PHOTOS = ("fs_write", "fs_write:~/photos/*")


@pytest.fixture
async def log(tmp_path: Path, clock: FakeClock) -> AsyncIterator[EventLog]:
    """Return an open, empty log."""
    log = EventLog(SqliteEventStore(tmp_path / "events.db"), bytes(32), clock)
    await log.open()
    yield log
    await log.close()


class Closing:
    """Closes traces that cost something."""

    def __init__(self, log: EventLog, clock: FakeClock, make: SimpleNamespace) -> None:
        self.log, self.clock, self.make = log, clock, make

    async def __call__(self, cost_usd: float, *subjects: Any, ran: bool = True, **changes: Any) -> None:
        clock, make = self.clock, self.make
        trace = make.trace(clock.new_id(), clock.now(), cost_usd=cost_usd, **changes)
        signals = [make.ideal(subject, ran=ran) for subject in (*subjects, ("runtime", "success"))]
        async with self.log.transaction() as tx:
            await tx.append(TraceClosed(trace_id=trace.id, trace=trace, signals=tuple(signals)))


@pytest.fixture
def close(log: EventLog, clock: FakeClock, make: SimpleNamespace) -> Closing:
    """Return a function that closes a trace with a cost and subjects."""
    return Closing(log, clock, make)


async def test_the_median_is_that_of_whole_traces_by_class(
    log: EventLog, close: Closing, clock: FakeClock, make: SimpleNamespace
) -> None:
    """A class that ran twice in a trace counts once, one that did not run not at all, and how turns ended is none."""
    for cost_usd in (0.01, 0.02, 0.06):
        await close(cost_usd, make.NOTES, make.NOTES, PHOTOS)
    await close(0.0, PHOTOS)
    await close(9.0, make.NOTES, ran=False)

    medians = await put_medians(log, clock.now())

    assert medians.median_cost_usd == {make.NOTES[1]: 0.02, PHOTOS[1]: pytest.approx(0.015)}
    assert medians.traces == 4


async def test_only_the_last_30_days_count(
    log: EventLog, close: Closing, clock: FakeClock, make: SimpleNamespace
) -> None:
    """By when the trace was closed, not by when it was taken in."""
    await close(0.10, make.NOTES)
    clock.advance(days=31)
    await close(0.02, make.NOTES)
    await close(7.0, make.NOTES, closed_at=clock.now().replace(year=2025))

    assert (await put_medians(log, clock.now())).median_cost_usd == {make.NOTES[1]: 0.02}


async def test_medians_are_in_force_from_when_they_were_set(
    log: EventLog, close: Closing, clock: FakeClock, make: SimpleNamespace
) -> None:
    """Also in a process that was running then; the first night there are none."""
    running = UsualCosts(log)
    await running.refresh()
    assert running.context.median_cost_usd == {}
    await close(0.02, make.NOTES)

    await put_medians(log, clock.now())
    await running.refresh()
    started = UsualCosts(log)
    await started.refresh()

    assert running.context == started.context
    assert running.context.median_cost_usd == {make.NOTES[1]: 0.02}


async def test_the_newest_medians_count(log: EventLog, close: Closing, clock: FakeClock, make: SimpleNamespace) -> None:
    """Events in between change nothing."""
    costs = UsualCosts(log)
    for cost_usd in (0.02, 0.04, 0.06):
        await close(cost_usd, make.NOTES)
        await put_medians(log, clock.now())
        async with log.transaction() as tx:
            await tx.append(PluginFault(plugin="demo", hook="load", detail="no"))
    await costs.refresh()

    assert costs.context.median_cost_usd == {make.NOTES[1]: pytest.approx(0.04)}


async def test_the_signal_is_one_minus_cost_over_median(
    log: EventLog, close: Closing, clock: FakeClock, make: SimpleNamespace
) -> None:
    """A class without a median counts half."""
    await close(0.02, make.NOTES)
    await put_medians(log, clock.now())
    costs = UsualCosts(log)
    await costs.refresh()
    trace = make.trace(clock.new_id(), clock.now(), cost_usd=0.005)

    def efficiency(subject: Any) -> float:
        return five_signals(make.step(subject, clock.now()), trace, costs.context)["cost_efficiency"]

    assert efficiency(make.NOTES) == pytest.approx(0.75)
    assert efficiency(PHOTOS) == 0.5


@pytest.mark.parametrize("record", [b"x", b"999", b"1", b"-1", b""])
async def test_a_record_that_leads_nowhere_changes_nothing(
    log: EventLog, close: Closing, make: SimpleNamespace, record: bytes
) -> None:
    """It only says which event holds the figures; these are in the chained log."""
    await close(0.02, make.NOTES)
    async with log.transaction() as tx:
        await tx.put("trust", "cost_medians", record)
    costs = UsualCosts(log)

    await costs.refresh()

    assert costs.context.median_cost_usd == {}
