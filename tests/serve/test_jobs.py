"""Every due slot ends once: done, failed or skipped with a reason, whatever the clock and the process do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from myclaw_sqlite.event_store import SqliteEventStore
from waiting_clock import WaitingClock

from myclaw_core.errors import UnavailableError
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import SlotEnded
from myclaw_core.messages import N_
from myclaw_core.nightly.nights import next_night, night_of
from myclaw_core.serve.jobs import Job, run_jobs
from myclaw_core.types.text import Text

ROME = ZoneInfo("Europe/Rome")
START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
ZONES = ["Europe/Rome", "Europe/Athens", "America/New_York", "Pacific/Chatham", "Australia/Lord_Howe", "Pacific/Apia"]


def hourly(after: datetime) -> datetime:
    return after.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)


class Bench:
    """Jobs over a real event log in `folder`, on a clock that the test moves."""

    def __init__(self, folder: Path, start: datetime = START) -> None:
        self.folder = folder
        self.clock = WaitingClock(start)
        self.ran: list[datetime] = []

    def job(self, run: Callable[[], Awaitable[Text | None]] | None = None, **changes: object) -> Job:
        job = Job(name="digest", next_after=hourly, run=run or self.note, begins_at=self.clock.now())
        return evolve(job, **changes)

    async def note(self) -> Text | None:
        self.ran.append(self.clock.now())
        return None

    @asynccontextmanager
    async def running(self, *jobs: Job) -> AsyncIterator[EventLog]:
        """Run jobs inside the block; it begins once all of them wait."""
        log = EventLog(SqliteEventStore(self.folder / "events.db"), bytes(32), self.clock)
        await log.open()
        task = asyncio.create_task(run_jobs(jobs, log, self.clock))
        try:
            await self.clock.asleep(len(jobs))
            yield log
            assert not task.done()
        finally:
            task.cancel()
            await asyncio.wait({task})
            await log.close()

    async def ended(self, log: EventLog) -> list[tuple[str, str, int]]:
        """Return hour, outcome and number of all slots that ended."""
        events = [event for _, event in await log.since(0) if isinstance(event, SlotEnded)]
        return [(f"{event.due_at:%d %H:%M}", event.outcome, event.slots) for event in events]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Nothing has run yet; it is nine o'clock."""
    return Bench(tmp_path)


async def test_a_job_runs_at_its_times_and_not_before(bench: Bench) -> None:
    async with bench.running(bench.job()) as log:
        await bench.clock.pass_time(minutes=59)
        assert bench.ran == []
        await bench.clock.pass_time(hours=2)

        assert bench.ran == [START + timedelta(hours=1), START + timedelta(hours=2)]
        assert await bench.ended(log) == [("05 10:00", "done", 1), ("05 11:00", "done", 1)]


async def test_slots_that_were_missed_are_caught_up_once_and_told(bench: Bench) -> None:
    async with bench.running(bench.job()):
        await bench.clock.pass_time(hours=1)
    bench.clock.advance(hours=5, minutes=30)

    async with bench.running(bench.job()) as log:
        assert bench.ran == [START + timedelta(hours=1), START + timedelta(hours=6, minutes=30)]
        assert await bench.ended(log) == [("05 10:00", "done", 1), ("05 14:00", "skipped", 4), ("05 15:00", "done", 1)]


async def test_a_restart_repeats_no_slot(bench: Bench) -> None:
    for _ in range(3):
        async with bench.running(bench.job()):
            await bench.clock.pass_time(minutes=25)

    assert bench.ran == [START + timedelta(hours=1)]


async def test_work_that_has_nothing_to_do_is_skipped_with_its_reason(bench: Bench) -> None:
    async def idle() -> Text | None:
        return Text("nobody asked")

    async with bench.running(bench.job(idle)) as log:
        await bench.clock.pass_time(hours=1)
        (event,) = [event for _, event in await log.since(0) if isinstance(event, SlotEnded)]

        assert (event.outcome, str(event.reason)) == ("skipped", "nobody asked")


@pytest.mark.parametrize("error", [UnavailableError(N_("no model")), ZeroDivisionError("x")])
async def test_what_fails_is_tried_again_and_then_failed_with_its_reason(bench: Bench, error: Exception) -> None:
    tries: list[datetime] = []

    async def fail() -> Text | None:
        tries.append(bench.clock.now())
        raise error

    async with bench.running(bench.job(fail, retry_s=(60.0, 600.0))) as log:
        await bench.clock.pass_time(hours=1, minutes=30)
        (event,) = [event for _, event in await log.since(0) if isinstance(event, SlotEnded)]

        assert [at - START for at in tries] == [timedelta(minutes=60), timedelta(minutes=61), timedelta(minutes=71)]
        assert event.outcome == "failed"
        assert str(error) in str(event.reason)


async def test_a_job_that_is_broken_stops_no_other(bench: Bench) -> None:
    def never(after: datetime) -> datetime:
        raise ZeroDivisionError

    async with bench.running(bench.job(name="broken", next_after=never), bench.job()):
        await bench.clock.pass_time(hours=1, sleepers=2)

        assert len(bench.ran) == 1


@pytest.mark.parametrize("repeatable", [True, False])
async def test_a_slot_in_which_the_process_died_is_run_again_only_where_that_is_harmless(
    bench: Bench, repeatable: bool
) -> None:
    async def die() -> Text | None:
        await bench.clock.sleep(1e6)
        return None

    async with bench.running(bench.job(die)):
        await bench.clock.pass_time(hours=1)

    async with bench.running(bench.job(repeatable=repeatable)) as log:
        assert len(bench.ran) == repeatable
        assert await bench.ended(log) == [("05 10:00", "done" if repeatable else "failed", 1)]


async def test_a_clock_that_is_set_repeats_no_slot_and_leaves_none_out(bench: Bench) -> None:
    async with bench.running(bench.job()) as log:
        await bench.clock.pass_time(hours=2)
        bench.clock.set(START + timedelta(minutes=30))
        await bench.clock.pass_time(hours=2, minutes=29)
        assert len(bench.ran) == 2
        bench.clock.set(START + timedelta(hours=2, minutes=58))
        await bench.clock.pass_time(minutes=3)
        bench.clock.set(START + timedelta(hours=5, minutes=10))
        await bench.clock.pass_time(minutes=2)

        assert await bench.ended(log) == [
            ("05 10:00", "done", 1),
            ("05 11:00", "done", 1),
            ("05 12:00", "done", 1),
            ("05 13:00", "skipped", 1),
            ("05 14:00", "done", 1),
        ]


async def test_a_clock_that_was_years_ahead_keeps_nothing_from_running(bench: Bench) -> None:
    async with bench.running(bench.job(next_after=lambda after: next_night(after, ROME))):
        bench.clock.set(START + timedelta(days=3650))
        await bench.clock.pass_time(minutes=2)
        bench.clock.set(START)
        await bench.clock.pass_time(days=2)

        assert [at.date() for at in bench.ran[1:]] == [date(2026, 1, 6), date(2026, 1, 7)]


async def test_a_change_to_and_from_summer_time_has_every_night_once(tmp_path: Path) -> None:
    for start in (datetime(2026, 3, 27, 12, tzinfo=UTC), datetime(2026, 10, 23, 12, tzinfo=UTC)):
        bench = Bench(tmp_path / f"{start:%m}", start)
        bench.folder.mkdir()
        async with bench.running(bench.job(next_after=lambda after: next_night(after, ROME))):
            await bench.clock.pass_time(days=4)

        assert [night_of(at, ROME) - start.date() for at in bench.ran] == [timedelta(days=day) for day in (1, 2, 3, 4)]
        assert {at.astimezone(ROME).hour for at in bench.ran} == {3}


@given(st.sampled_from(ZONES), st.datetimes(datetime(2025, 1, 1), datetime(2027, 1, 1)))  # noqa: DTZ001
def test_each_date_has_one_night_in_every_zone(zone: str, at: datetime) -> None:
    """Also where three o'clock does not exist, or comes twice."""
    where, now = ZoneInfo(zone), at.replace(tzinfo=UTC)
    first = next_night(now, where)
    second = next_night(first, where)

    assert now < first <= now + timedelta(hours=26)
    assert night_of(first, where) == first.astimezone(where).date()
    assert night_of(second, where) - night_of(first, where) == timedelta(days=1)
    assert next_night(first - timedelta(microseconds=1), where) == first
