"""What undo kept goes once its time is over, and never before: whatever the clock, other processes or a crash do."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from undo_store import KEEP_DAYS, TRACE, Store

from myclaw_core.errors import StoreError
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import UndoExpired, UnknownEvent
from myclaw_core.process import this_process
from myclaw_core.runtime.tool import PlannedChange
from myclaw_core.undo.dropping import drop_unneeded
from myclaw_core.undo.journal import UndoJournal
from myclaw_core.undo.keep import blob_path
from myclaw_core.undo.needs import needed_bytes
from myclaw_core.undo.records import UNDO_KIND, undo_key
from myclaw_core.undo.sweep import Swept, settled_time


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Return an empty home."""
    return Store(tmp_path)


@pytest.mark.parametrize("whole", [False, True])
async def test_a_record_lives_its_days_and_then_goes_with_its_bytes(store: Store, whole: bool) -> None:
    """A night later another sweep finds nothing; the log says which actions can no longer be taken back."""
    record = store.make("old", whole=whole)
    await store.commit(record)
    await store.pass_days(29)
    assert await store.sweep() == Swept()
    await store.pass_days(1)
    swept = await store.sweep()
    assert (swept.records, store.files(), await store.records()) == (1, set(), [])
    assert swept.dropped.files >= 1
    assert swept.dropped.bytes >= len("old")
    assert await store.sweep() == Swept()
    events = await store.with_log(lambda log: log.since(0))
    assert [event.undo_ids for _, event in events if isinstance(event, UndoExpired)] == [(record.id,)]


async def test_bytes_that_another_record_needs_stay(store: Store) -> None:
    """Also where that is a snapshot in which they are one file of many."""
    await store.commit(store.make("same"))
    await store.pass_days(20)
    later = store.make("same", whole=True)
    await store.commit(later)
    await store.pass_days(11)
    assert (await store.sweep()).records == 1
    assert store.files() == await store.needed()
    assert UndoJournal(store.blobs, store.clock).revert(later).reverted


async def test_what_was_taken_back_needs_no_bytes(store: Store) -> None:
    """Its record stays, so that it is not taken back twice."""
    record = store.make("old")
    await store.commit(evolve(record, reverted_at=store.clock.now()))
    await store.pass_days(1)
    swept = await store.sweep()
    assert (swept.records, swept.dropped.files, store.files()) == (0, 1, set())
    assert len(await store.records()) == 1


async def test_bytes_without_a_record_stay_while_they_are_young(store: Store) -> None:
    """Their record may be about to be committed; and what is put again is young again."""
    record = store.make("old")
    await store.happen()
    store.clock.advance(hours=11)
    assert await store.sweep() == Swept()
    await store.pass_days(1)
    again = store.make("old")
    assert again.changes[0].before.sha256 == record.changes[0].before.sha256
    assert await store.sweep() == Swept()
    await store.commit(again)
    await store.pass_days(1)
    await store.sweep()
    assert store.files() == await store.needed() != set()


def test_bytes_that_are_put_at_the_very_moment_stay(store: Store) -> None:
    """Another process puts them between the look at the records and the removal."""
    sha = store.blobs.put(b"same")
    store.clock.advance(days=2)

    class Putting:
        def __contains__(self, found: object) -> bool:
            store.blobs.put(b"same")
            return False

    assert drop_unneeded(store.undo, Putting(), store.clock.now()).files == 0
    assert store.blobs.get(sha) == b"same"


def test_bytes_that_an_undo_is_reading_stay(store: Store) -> None:
    """An undo looks at all of them first, and they are young from then on."""
    sha = store.blobs.put(b"same")
    store.clock.advance(days=2)
    before = store.clock.now()
    store.blobs.hold(sha)
    assert drop_unneeded(store.undo, set(), before).files == 0


async def test_a_clock_that_is_ahead_for_an_hour_ends_nothing(store: Store) -> None:
    """Nor what is recorded then, nor the nights of that hour."""
    await store.commit(store.make("old"))
    await store.pass_days(1)
    real = store.clock.now()
    store.clock.advance(days=366)
    await store.happen()
    assert await store.sweep() == Swept()
    store.clock.advance(hours=1)
    await store.happen()
    assert await store.sweep() == Swept()
    store.clock.set(real)
    await store.happen()
    assert await store.sweep() == Swept()
    await store.pass_days(20)
    assert await store.sweep() == Swept()
    await store.pass_days(10)
    assert (await store.sweep()).records == 1


async def test_a_clock_that_was_behind_shortens_nothing(store: Store) -> None:
    """What was made meanwhile lives from the newest moment that is known."""
    await store.happen()
    real = store.clock.now()
    store.clock.set(real - timedelta(days=3000))
    journal = UndoJournal(store.blobs, store.clock, KEEP_DAYS)
    newest = await store.with_log(lambda log: log.last())
    journal.time.saw(datetime.fromisoformat(newest.at))
    store.root.mkdir()
    (store.root / "a.txt").write_text("old")
    record = journal.record(
        undo_id=UUID(int=1),
        tool_name="t",
        plan=(PlannedChange(path="a.txt"),),
        cwd=str(store.root),
        trace_id=TRACE,
        step_index=0,
    )
    await store.commit(record)
    store.clock.set(real)
    await store.pass_days(29)
    await store.sweep()
    assert await store.records() == [record]
    assert store.files() == await store.needed() != set()


async def test_a_record_that_cannot_be_read_keeps_what_it_may_need(store: Store) -> None:
    """For the days that a record lives; then its bytes go, and it stays as evidence."""
    record = store.make("old")
    key = undo_key(record.trace_id, record.step_index)

    async def tear(log: EventLog) -> None:
        async with log.transaction() as tx:
            await tx.put(UNDO_KIND, key, b"torn")

    await store.with_log(tear)
    await store.pass_days(20)
    assert await store.sweep() == Swept(unread=1)
    assert store.files() == needed_bytes(record, store.blobs)
    await store.pass_days(20)
    assert (await store.sweep()).dropped.files == 1
    assert await store.with_log(lambda log: log.get(UNDO_KIND, key)) == b"torn"


async def test_a_snapshot_that_cannot_be_read_keeps_everything_likewise(store: Store) -> None:
    record = store.make("old", whole=True)
    await store.commit(record)
    blob_path(store.undo, record.data["before"]).write_bytes(b"torn")
    store.blobs.put(b"something else")
    before = store.files()
    await store.pass_days(20)
    assert await store.sweep() == Swept(unread=1)
    assert store.files() == before


async def test_what_a_record_of_a_later_version_names_is_kept(store: Store) -> None:
    """Its handler is not known here, so that every digest in its data may be of bytes."""
    record = store.make("old")
    (sha,) = needed_bytes(record, store.blobs)
    await store.commit(evolve(record, handler="later", changes=(), data={"kept": [sha]}))
    await store.pass_days(1)
    assert await store.sweep() == Swept()
    assert store.files() == {sha}


async def test_copies_that_dead_processes_did_not_finish_go(store: Store) -> None:
    """Those of a process that runs stay."""
    store.blobs.put(b"x")
    gone = store.undo / f".myclaw-{this_process()[:-1]}x-1.tmp"
    going = store.undo / f".myclaw-{this_process()}-1.tmp"
    for file in (gone, going):
        file.write_bytes(b"half")
    await store.happen()
    store.clock.advance(hours=13)
    assert (await store.sweep()).dropped.files == 1
    assert (gone.exists(), going.exists()) == (False, True)


async def test_a_file_that_cannot_be_removed_is_one_line_and_the_next_sweep_goes_on(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.blobs.put(b"x")
    await store.happen()
    store.clock.advance(days=1)
    await store.happen()
    store.clock.advance(days=1)

    def refuse(_path: Path, **_options: Any) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", refuse)
        with pytest.raises(StoreError, match="cannot remove bytes kept for undo"):
            await store.sweep()
    assert (await store.sweep()).dropped.files == 1


async def test_the_settled_time_is_found_in_a_long_log(store: Store) -> None:
    """Behind more events of the last half day than one look reads."""
    early = store.clock.now()

    async def fill(log: EventLog) -> datetime | None:
        for hours in (0, 13):
            store.clock.advance(hours=hours)
            async with log.transaction() as tx:
                for _ in range(1200 if hours else 1):
                    await tx.append(UnknownEvent(type="x", data={}))
        return await settled_time(log, store.clock.now())

    assert await store.with_log(fill) == early


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("make"), st.sampled_from(["a", "b", "c"]), st.booleans()),
        st.tuples(st.just("lose"), st.sampled_from(["a", "b", "c"]), st.booleans()),
        st.tuples(st.just("revert"), st.integers(0, 5), st.none()),
        st.tuples(st.just("pass"), st.sampled_from([0.1, 1, 15, 31]), st.none()),
        st.tuples(st.just("sweep"), st.none(), st.none()),
    ),
    max_size=14,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(steps=STEPS)
def test_what_a_living_record_needs_is_always_there_and_nothing_else_in_the_end(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, Any, Any]]
) -> None:
    """Any order of records, undos, days and sweeps; `lose` is a process that died before its record."""
    store = Store(tmp_path_factory.mktemp("store"))

    async def play() -> None:
        for what, which, whole in steps:
            if what in {"make", "lose"}:
                record = store.make(which, whole=whole)
                if what == "make":
                    await store.commit(record)
            elif what == "revert":
                for record in (await store.records())[which : which + 1]:
                    await store.commit(evolve(record, reverted_at=store.clock.now()))
            elif what == "pass":
                await store.pass_days(which)
            else:
                alive = [record for record in await store.records() if record.expires_at > store.clock.now()]
                await store.sweep()
                assert {record.id for record in alive} <= {record.id for record in await store.records()}
            assert await store.needed() <= store.files()
        await store.pass_days(1)
        await store.sweep()
        assert store.files() == await store.needed()

    asyncio.run(play())
