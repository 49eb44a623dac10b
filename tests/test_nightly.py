"""The work of a night is done once, catches up, and survives a kill at any point."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from attrs import frozen
from hook_bench import bench, raising
from hypothesis import given
from hypothesis import strategies as st
from myclaw_sqlite.event_store import SqliteEventStore
from myclaw_sqlite.trust_store import TrustStoreDb

from myclaw_core.embedding.book import EmbeddingBook
from myclaw_core.embedding.hashed import HashedEmbedder
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import CostMediansSet, NightlyDone, TraceClosed
from myclaw_core.nightly.nights import night_of
from myclaw_core.nightly.proposing import Proposing
from myclaw_core.nightly.run import NightlyReport, NightlyWork, run_nightly
from myclaw_core.runtime.types import ExecutionTrace
from myclaw_core.testing import FakeClock
from myclaw_core.trust.book import TrustBook
from myclaw_core.trust.follower import TrustFollower
from myclaw_core.trust.subject import subject_hash
from myclaw_core.trust.thresholds import Thresholds
from myclaw_core.trust.types import TraceSignals
from myclaw_core.types.trust import TrustThreshold
from myclaw_core.undo.blobs import BlobStore
from myclaw_core.undo.sweep import UndoSweeper

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
ROME = ZoneInfo("Europe/Rome")
KEY = b"k" * 32
NOTES = ("fs_write", "fs_write:~/notes/*")
LOW = TrustThreshold(effect_class="*", risk_band="low", min_score=0.6, min_samples=3, cap_autonomy="full")
PHOTOS = ("fs_write", "fs_write:~/photos/*")


@frozen
class Home:
    """One home whose stores can be opened again."""

    folder: Path
    clock: FakeClock

    @asynccontextmanager
    async def opened(self, **plugins: Any) -> AsyncIterator[NightlyWork]:
        log = EventLog(SqliteEventStore(self.folder / "events.db"), bytes(32), self.clock)
        backend = TrustStoreDb(self.folder / "trust.db")
        book = TrustBook(backend, KEY, self.clock, anchor=self.folder / "trust.head")
        await log.open()
        await book.open()
        try:
            await TrustFollower(log, book).catch_up()
            yield NightlyWork(
                log=log,
                book=book,
                backend=backend,
                dispatcher=bench(**plugins).dispatcher,
                clock=self.clock,
                thresholds=Thresholds(lambda *_: LOW, "~/ws"),
                undo=UndoSweeper(log=log, root=self.folder / "undo", clock=self.clock, keep_days=30),
                zone=UTC,
                proposing=Proposing(
                    log=log,
                    clock=self.clock,
                    embedding=EmbeddingBook(HashedEmbedder(), None, self.clock),
                    budget_cents=50,
                ),
            )
        finally:
            await log.close()
            await book.close()

    async def run(self, **plugins: Any) -> NightlyReport:
        async with self.opened(**plugins) as work:
            return await run_nightly(work)

    async def use(self, *subjects: Any, cost_usd: float = 0.02, **changes: Any) -> None:
        """Close a trace in which each subject was used."""
        at = self.clock.now()
        trace = ExecutionTrace(
            id=UUID(int=int(at.timestamp())),
            session_id="s",
            channel="cli",
            sender="cli:me",
            autonomy="supervised",
            started_at=at,
            closed_at=at,
            outcome="success",
            cost_usd=cost_usd,
        )
        async with self.opened() as work, work.log.transaction() as tx:
            await tx.append(
                TraceClosed(trace_id=trace.id, trace=trace, signals=tuple(_good(one, **changes) for one in subjects))
            )

    async def events(self, kind: type[Any]) -> list[Any]:
        async with self.opened() as work:
            return [event for _, event in await work.log.since(0) if isinstance(event, kind)]

    async def faded(self) -> Any:
        async with self.opened() as work:
            return json.loads(await work.backend.get_meta("faded") or b"null")


def _good(subject: Any, **changes: float) -> TraceSignals:
    best = {
        "tool_success": 1.0,
        "cost_efficiency": 1.0,
        "constitution_clean": 1.0,
        "human_approval_delta": 1.0,
        "undo_flag": 0.0,
    }
    return TraceSignals(subject=subject, asked=True, **(best | changes))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """Return an empty home on a Monday at nine."""
    return Home(tmp_path, FakeClock(START))


@pytest.mark.parametrize(
    ("at", "night"),
    [
        ("2026-01-05T03:00+01:00", 5),
        ("2026-01-05T02:59+01:00", 4),
        ("2026-01-05T23:59+01:00", 5),
        ("2026-01-06T00:30+01:00", 5),
        ("2026-01-05T01:59Z", 4),
    ],
)
def test_a_night_is_due_from_three_in_the_morning_where_the_person_lives(at: str, night: int) -> None:
    assert night_of(datetime.fromisoformat(at), ROME) == date(2026, 1, night)


@given(st.datetimes(datetime(2025, 1, 1), datetime(2027, 1, 1)))  # noqa: DTZ001 - made aware below
def test_nights_follow_each_other_also_over_a_change_of_summer_time(at: datetime) -> None:
    """A day later is the next night, or the same hour twice or never; no night is left out or comes back."""
    now = at.replace(tzinfo=UTC)
    later = night_of(now + timedelta(days=1), ROME) - night_of(now, ROME)

    assert later in (timedelta(days=0), timedelta(days=1), timedelta(days=2))
    assert night_of(now + timedelta(hours=1), ROME) >= night_of(now, ROME)


async def test_it_is_done_once_a_night(home: Home) -> None:
    """The second time it tells what was told, and nothing is written."""
    told: list[datetime] = []

    def lines(now: datetime) -> list[str]:
        told.append(now)
        return ["swept"]

    first = await home.run(a={"myclaw_nightly": lines})
    home.clock.advance(hours=10)
    second = await home.run(a={"myclaw_nightly": lines})

    assert (first.night, first.done_before, list(map(str, first.lines))) == (date(2026, 1, 5), False, ["swept"])
    assert (second.done_before, second.lines) == (True, first.lines)
    assert told == [START]
    assert [event.night for event in await home.events(NightlyDone)] == ["2026-01-05"]


async def test_what_undo_let_go_of_is_told_and_only_then(home: Home) -> None:
    """Bytes whose record was never made, here; the night after that there is nothing to tell."""
    await home.run()
    BlobStore(home.folder / "undo", 1000, home.clock).put(b"12345678")
    told = []
    for _ in range(3):
        home.clock.advance(hours=23)
        told.append(list(map(str, (await home.run()).lines)))

    assert told == [[], ["bytes that undo needed no longer and that were freed: 8"], []]
    assert not any((home.folder / "undo").glob("??/*"))


async def test_the_next_night_is_another_one(home: Home) -> None:
    await home.run()
    home.clock.advance(hours=18)

    assert not (await home.run()).done_before


async def test_nights_that_were_missed_are_covered_by_the_next_run(home: Home) -> None:
    """Each of its jobs looks as far back as is needed; that they were missed is told."""
    await home.run()
    await home.use(NOTES)
    home.clock.advance(days=4)

    report = await home.run()

    assert str(report.lines[0]) == "nights without this work before: 3"
    assert [event.median_cost_usd for event in await home.events(CostMediansSet)] == [{}, {NOTES[1]: 0.02}]


async def test_a_clock_that_is_set_back_lets_it_be_done_again(home: Home) -> None:
    """One that once stood years ahead does not keep it from being done until then."""
    home.clock.set(START + timedelta(days=3650))
    await home.run()
    home.clock.set(START)

    assert not (await home.run()).done_before
    assert (await home.run()).done_before


async def test_a_clock_that_is_set_back_a_little_repeats_no_night(home: Home) -> None:
    """Neither the night before nor this one once it comes again."""
    home.clock.set(datetime(2026, 1, 6, 3, 30, tzinfo=UTC))
    await home.run()
    home.clock.set(datetime(2026, 1, 6, 2, 30, tzinfo=UTC))
    before = await home.run()
    home.clock.advance(hours=1)
    again = await home.run()
    home.clock.advance(days=1)

    assert (before.done_before, again.done_before) == (True, True)
    assert not (await home.run()).done_before
    assert [event.night for event in await home.events(NightlyDone)] == ["2026-01-06", "2026-01-07"]


async def test_two_that_do_it_at_the_same_time_record_it_once(home: Home) -> None:
    """As the daemon and a person who types it."""
    reports: list[NightlyReport] = []

    async def second(now: datetime) -> list[str]:
        if not reports:
            reports.append(await home.run())
        return []

    reports.append(await home.run(a={"myclaw_nightly": second}))

    assert not any(report.done_before or report.problems for report in reports)
    assert [event.night for event in await home.events(NightlyDone)] == ["2026-01-05"]


async def test_scores_of_what_is_not_used_for_30_days_are_kept_faded(home: Home) -> None:
    """Beside the record: no row, and no byte of a score, changes by it."""
    await home.use(NOTES, PHOTOS, ("runtime", "success"))
    home.clock.advance(days=20)
    await home.use(PHOTOS)
    home.clock.advance(days=11)
    before = await stored(home)

    await home.run()

    kept = await home.faded()
    async with home.opened() as work:
        view = work.book.view(NOTES, home.clock.now())
        assert view is not None
        assert kept == {"last_decay_at": "2026-02-05T09:00:00.000000Z", "scores": {subject_hash(NOTES): view.score}}
        assert (await work.book.verify()).ok
    assert await stored(home) == before


async def stored(home: Home) -> Any:
    """Return the rows and scores as they lie in the store."""
    async with home.opened() as work:
        return await work.backend.rows(), await work.backend.scores()


async def test_it_is_told_once_that_trust_has_halved(home: Home) -> None:
    """In the night after which it has, or the first one that is not missed."""
    await home.use(NOTES)
    told = []
    for days in (29, 4, 1):
        home.clock.advance(days=days)
        told.append([str(line) for line in (await home.run()).lines if "halved" in str(line)])

    line = "fs_write fs_write:~/notes/* was not used for a month: its trust has halved"
    assert told == [[], ["fs_write fs_write:* was not used for a month: its trust has halved", line], []]


async def test_what_moved_and_what_results_do_not_bear_out_is_told(home: Home) -> None:
    for _ in range(4):
        home.clock.advance(hours=1)
        await home.use(NOTES, tool_success=0.0)
    home.clock.advance(hours=1)
    await home.use(PHOTOS)

    lines = list(map(str, (await home.run()).lines))

    assert lines[0].startswith("trust in fs_write fs_write:~/photos/* moved from 0.00 to 0.7")
    assert lines[-1] == "fs_write fs_write:~/notes/* is approved often (0.90) and succeeds seldom (0.00)"


async def test_a_record_that_does_not_check_out_is_told_and_nothing_is_written_into_it(home: Home) -> None:
    await home.use(NOTES)
    (home.folder / "trust.head").write_text("{}")
    home.clock.advance(days=40)

    report = await home.run()

    assert [str(line).partition(":")[0] for line in report.lines] == ["the trust record does not check out"]
    assert await home.faded() is None


async def test_a_plugin_that_fails_is_left_out_and_the_night_is_done(home: Home) -> None:
    report = await home.run(a={"myclaw_nightly": raising(ValueError("no"))}, b={"myclaw_nightly": lambda: ["swept"]})

    assert (list(map(str, report.lines)), report.problems) == (["swept"], ())


async def test_where_a_part_of_the_core_fails_the_night_is_not_done(home: Home) -> None:
    """The other parts are done all the same, and the next run tries again."""
    async with home.opened(a={"myclaw_nightly": lambda: ["swept"]}) as work:
        await work.book.close()
        failed = await run_nightly(work)

    assert len(failed.problems) == 1
    assert list(map(str, failed.lines)) == ["swept"]
    assert await home.events(NightlyDone) == []
    assert not (await home.run()).done_before


# --- kill -9 -------------------------------------------------------------------------------------------------------


class Points:
    """Counts the points of a run and dies at one of them."""

    def __init__(self, fatal: int = 0) -> None:
        self.fatal = fatal
        self.passed = 0

    def reach(self) -> None:
        self.passed += 1
        if self.passed == self.fatal:
            os.kill(os.getpid(), signal.SIGKILL)


def instrument(store: Any, points: Points) -> None:
    """Put a point before and after every commit."""
    plain = store.transaction

    @asynccontextmanager
    async def transaction() -> AsyncIterator[Any]:
        async with plain() as tx:
            yield tx
            points.reach()
        points.reach()

    store.transaction = transaction


async def run_watched(home: Home, points: Points) -> None:
    async with home.opened() as work:
        instrument(work.log._store, points)
        instrument(work.backend, points)
        await run_nightly(work)


def in_a_process(work: Callable[[], Awaitable[None]]) -> int:
    """Run something in a process of its own and return how that ended."""
    child = os.fork()
    if not child:
        status = 1
        try:
            asyncio.run(work())  # type: ignore[arg-type]
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def prepared(folder: Path) -> Home:
    """Return a home in which something has not been used for a month."""
    folder.mkdir()
    home = Home(folder, FakeClock(START))
    asyncio.run(home.use(NOTES))
    home.clock.advance(days=31)
    asyncio.run(home.use(PHOTOS, cost_usd=0.04))
    return home


def test_a_kill_at_every_commit_leaves_a_night_that_is_done_by_the_next_run(tmp_path: Path) -> None:
    """Once, with the figures that an undisturbed run gives."""
    whole, counted = prepared(tmp_path / "whole"), Points()
    asyncio.run(run_watched(whole, counted))
    assert counted.passed >= 6
    for fatal in range(1, counted.passed + 1):
        home, points = prepared(tmp_path / str(fatal)), Points(fatal)
        assert in_a_process(lambda home=home, points=points: run_watched(home, points)) == -signal.SIGKILL

        report = asyncio.run(home.run())

        assert not report.problems
        assert asyncio.run(home.events(NightlyDone)) == asyncio.run(whole.events(NightlyDone))
        assert asyncio.run(home.events(CostMediansSet))[-1] == asyncio.run(whole.events(CostMediansSet))[-1]
        assert asyncio.run(home.faded()) == asyncio.run(whole.faded())


async def test_what_runs_by_itself_from_now_on_is_told_with_its_back_test_before_it_does(home: Home) -> None:
    """Once, in the night after the yes that completed the conditions."""
    told = []
    for _ in range(5):
        home.clock.advance(days=1)
        if len(told) < 3:
            await home.use(NOTES)
        told.append([str(line) for line in (await home.run()).lines if "by itself" in str(line)])

    about = "fs_write fs_write:~/notes/* runs by itself from now on: in the last 30 days it would have asked "
    assert [[line.partition(about)[1] == about for line in lines] for lines in told] == [[], [], [True], [], []]
