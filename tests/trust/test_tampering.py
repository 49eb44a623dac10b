"""A trust store that was touched: noticed, loud, nothing promoted, evidence kept."""

from __future__ import annotations

import logging
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import evolve
from myclaw_sqlite.trust_store import TrustStoreDb

from myclaw_core.testing import FakeClock
from myclaw_core.trust.blob import to_blob
from myclaw_core.trust.book import TrustBook
from myclaw_core.trust.chain import Anchor, ChainHead, linked
from myclaw_core.trust.decayed_mean import DecayedMean
from myclaw_core.trust.promotion import judge
from myclaw_core.trust.state import Component

FREE = "DROP TRIGGER events_never_change; DROP TRIGGER events_never_go; DROP TRIGGER events_grow_by_one;"
PARENT = ("fs_write", "fs_write:*")


def run(path: Path, script: str) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.executescript(script)


def changed(column: str, old: str, new: str) -> str:
    return f"CAST(replace({column}, '{old}', '{new}') AS BLOB)"


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as database:
        return list(database.iterdump())


async def grown(make: SimpleNamespace, book: TrustBook, clock: FakeClock, days: int = 10) -> None:
    for _ in range(days):
        clock.advance(days=1)
        trace = make.trace(clock.new_id(), clock.now())
        await book.bulk_update_from_trace(trace, [make.ideal()], book.applied_seq + 1)


def promoted(make: SimpleNamespace, book: TrustBook, clock: FakeClock) -> bool:
    effect = make.effect(make.NOTES)
    action = make.action(effect, clock.now(), named=True)
    return judge(effect, action, book, make.threshold(), clock.now()).promoted


@pytest.fixture
async def store(tmp_path: Path, open_book: Any, clock: FakeClock, make: SimpleNamespace) -> Path:
    """Return the closed store of a subject that has earned its promotion."""
    book = await open_book()
    await grown(make, book, clock)
    assert promoted(make, book, clock)
    await book.close()
    return tmp_path / "trust.db"


TOUCHED = {
    "an event was edited": f"{FREE} UPDATE events SET delta_blob = {changed('delta_blob', '1.0', '0.9')} WHERE seq = 4",
    "an event was moved in time": f"{FREE} UPDATE events SET ts = '2026-01-01T00:00:00.000000Z' WHERE seq = 4;",
    "the last five were deleted": f"{FREE} DELETE FROM events WHERE seq > 5;",
    "the middle was deleted": f"{FREE} DELETE FROM events WHERE seq IN (4, 5);",
    "all were deleted": f"{FREE} DELETE FROM events; DELETE FROM scores;",
    "two were swapped": f"""{FREE} UPDATE events SET seq = 99 WHERE seq = 4;
        UPDATE events SET seq = 4 WHERE seq = 5; UPDATE events SET seq = 5 WHERE seq = 99;""",
    "an event was moved to another attempt": f"{FREE} UPDATE events SET attempt = 1 WHERE seq = 4;",
    "a mac was cleared": f"{FREE} UPDATE events SET mac = x'' WHERE seq = 4;",
    "a row was added": f"""{FREE} INSERT INTO events
        SELECT seq + 1, ts, kind, subject_hash, 'other', attempt, delta_blob, mac FROM events WHERE seq = 10;""",
}


@pytest.mark.parametrize("script", TOUCHED.values(), ids=TOUCHED.keys())
async def test_it_is_noticed_at_start_and_nothing_is_promoted_from_it(
    store: Path,
    open_book: Any,
    clock: FakeClock,
    make: SimpleNamespace,
    caplog: pytest.LogCaptureFixture,
    script: str,
) -> None:
    run(store, script)
    evidence = dump(store)
    with caplog.at_level(logging.CRITICAL, logger="myclaw.trust"):
        book = await open_book()
    assert (book.sound, promoted(make, book, clock)) == (False, False)
    assert "does not check out" in caplog.text
    assert not (await book.verify()).ok
    await grown(make, book, clock, 5)
    await book.record_undo(clock.new_id(), at=clock.now(), undone_by=clock.new_id(), in_time=True)
    assert not promoted(make, book, clock)
    await book.close()
    assert dump(store) == evidence


async def test_the_first_bad_row_is_named(store: Path, open_book: Any) -> None:
    run(store, TOUCHED["an event was edited"])
    report = await (await open_book()).verify()
    assert (report.first_bad_row, report.rows) == (4, 3)
    assert "row 4" in str(report.problems[0])


async def test_a_chain_made_again_without_the_key_is_noticed(store: Path, open_book: Any) -> None:
    backend = TrustStoreDb(store)
    await backend.open()
    rows, head = await backend.rows(), ChainHead()
    await backend.close()
    run(store, FREE)
    with closing(sqlite3.connect(store)) as database:
        for row in rows:
            forged = linked(row, head, b"another key")
            database.execute("UPDATE events SET mac = ? WHERE seq = ?", (forged.mac, row.seq))
            head = ChainHead(forged.seq, forged.mac)
        database.commit()
    assert not (await open_book()).sound


async def test_yesterdays_copy_of_the_store_is_noticed(
    store: Path, tmp_path: Path, open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    shutil.copy(store, tmp_path / "yesterday.db")
    book = await open_book()
    await grown(make, book, clock, 1)
    await book.close()
    shutil.copy(tmp_path / "yesterday.db", store)
    book = await open_book()
    assert str(book.problem) == "1 of its newest rows are missing"


@pytest.mark.parametrize("touch", [Path.unlink, lambda path: path.write_text("{}"), lambda path: path.write_text("")])
async def test_a_lost_or_damaged_head_file_is_noticed(
    store: Path, open_book: Any, touch: Callable[[Path], object]
) -> None:
    touch(store.with_name("trust.head"))
    assert not (await open_book()).sound


async def test_another_key_is_noticed(store: Path, clock: FakeClock) -> None:
    book = TrustBook(TrustStoreDb(store), b"other", clock, anchor=store.with_name("trust.head"))
    await book.open()
    assert not book.sound
    await book.close()


async def test_a_cut_is_noticed_while_it_runs(
    store: Path, open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    book = await open_book()
    run(store, TOUCHED["the last five were deleted"])
    await grown(make, book, clock, 1)
    assert not book.sound
    assert not promoted(make, book, clock)


async def test_rows_that_another_wrote_without_the_key_are_noticed_on_refresh(store: Path, open_book: Any) -> None:
    book = await open_book()
    run(store, TOUCHED["a row was added"] + "UPDATE marks SET value = x'00' WHERE key = 'generation';")
    await book.refresh()
    assert not book.sound


async def test_an_edited_score_reads_as_no_trust_and_heals_with_the_next_sample(
    store: Path, open_book: Any, clock: FakeClock, make: SimpleNamespace, caplog: pytest.LogCaptureFixture
) -> None:
    edited = changed("component_blob", "0.", "0.9")
    run(store, f"UPDATE scores SET component_blob = {edited} WHERE effect_class LIKE '%notes%'")
    with caplog.at_level(logging.CRITICAL, logger="myclaw.trust"):
        book = await open_book()
    assert "the stored score is damaged: its checksum fails" in caplog.text
    assert (await book.get(make.NOTES)).score == 0.0
    assert (await book.get(make.NOTES)).n_samples == 0
    assert book.sound
    report = await book.verify()
    assert (report.ok, report.damaged) == (False, (make.NOTES,))
    await grown(make, book, clock, 1)
    assert (await book.get(make.NOTES)).n_samples == 11
    assert (await book.verify()).ok


async def test_a_damaged_parent_promotes_none_of_its_children(
    store: Path, open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    run(store, "UPDATE scores SET component_blob = x'00' WHERE effect_class = 'fs_write:*'")
    book = await open_book()
    assert (await book.get(PARENT)).n_samples == 0
    assert (await book.get(make.NOTES)).n_samples == 10
    assert not promoted(make, book, clock)


async def test_an_older_score_put_back_is_found_by_a_full_check(
    store: Path, tmp_path: Path, open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    """Its checksum is right; only its events tell."""
    book = await open_book()
    old = dict(await book._backend.scores())[make.NOTES]
    trace = make.trace(clock.new_id(), clock.now())
    await book.bulk_update_from_trace(trace, [make.denied()], book.applied_seq + 1)
    await book.close()
    with closing(sqlite3.connect(store)) as database:
        database.execute("UPDATE scores SET component_blob = ? WHERE effect_class = ?", (old, make.NOTES[1]))
        database.commit()
    book = await open_book()
    report = await book.verify()
    assert report.damaged == (make.NOTES,)
    assert (await book.get(make.NOTES)).score == 0.0


async def test_deleted_scores_are_rebuilt_from_their_events(
    store: Path, open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    intact = await (await open_book()).snapshot()
    run(store, "DELETE FROM scores")
    book = await open_book()
    assert await book.snapshot() == intact
    assert (await book.verify()).ok


async def test_a_raised_mark_makes_events_apply_again_instead_of_being_skipped(
    store: Path, open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    run(store, f"UPDATE marks SET value = {changed('value', '10 ', '99 ')} WHERE key = 'applied_seq'")
    book = await open_book()
    assert (book.sound, book.applied_seq) == (True, 0)


@pytest.mark.parametrize("changes", [{"subject_hash": "0" * 64}, {"kind": "freeze"}])
async def test_a_row_of_a_later_version_is_not_passed_over(
    store: Path, open_book: Any, make: SimpleNamespace, changes: dict[str, str]
) -> None:
    """Also where it is about a subject that is known: what it says may be what takes trust away."""
    backend = TrustStoreDb(store)
    await backend.open()
    last = (await backend.rows())[-1]
    row = linked(evolve(last, trace_id="later", **changes), ChainHead(last.seq, last.mac), make.KEY)
    async with backend.transaction() as tx:
        assert await tx.append(row)
    await backend.close()
    book = await open_book()
    assert not book.sound
    assert "row 11" in str(book.problem)


async def test_a_store_that_went_another_way_since_a_copy_is_noticed(
    store: Path, tmp_path: Path, open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    """Both chains are sound; only the head file tells which one belongs here."""
    for name in ("trust.db", "trust.head"):
        shutil.copy(tmp_path / name, tmp_path / f"other-{name}")
    elsewhere = TrustBook(
        TrustStoreDb(tmp_path / "other-trust.db"), make.KEY, clock, anchor=tmp_path / "other-trust.head"
    )
    await elsewhere.open()
    await grown(make, elsewhere, clock, 2)
    await elsewhere.close()
    here = await open_book()
    await grown(make, here, clock, 1)
    await here.close()
    shutil.copy(tmp_path / "other-trust.db", store)
    assert str((await open_book()).problem) == "row 11 is not the one in its head file"


async def test_a_lost_head_file_is_noticed_at_every_start(store: Path, open_book: Any) -> None:
    store.with_name("trust.head").unlink()
    for _ in range(2):
        book = await open_book()
        assert str(book.problem) == "its head file is missing"
        await book.close()


async def test_the_head_file_is_there_before_the_first_row(tmp_path: Path, open_book: Any) -> None:
    """Else a crash between the first row and its anchor would look like a lost file."""
    assert (await open_book()).sound
    assert Anchor(tmp_path / "trust.head").read() == ChainHead()


@pytest.mark.parametrize("changes", [{"n_good": 9}, {"tool_success": Component(0.99, 9.0)}], ids=["count", "mean"])
async def test_a_score_that_its_events_do_not_give_is_found_by_a_full_check(
    store: Path, open_book: Any, clock: FakeClock, make: SimpleNamespace, changes: dict[str, Any]
) -> None:
    book = await open_book()
    state = evolve(book.view(make.NOTES, clock.now()).state, **changes)
    await book.close()
    with closing(sqlite3.connect(store)) as database:
        blob = to_blob(state, DecayedMean(), make.KEY)
        database.execute("UPDATE scores SET component_blob = ? WHERE effect_class = ?", (blob, make.NOTES[1]))
        database.commit()
    book = await open_book()
    assert (await book.verify()).damaged == (make.NOTES,)


async def test_a_head_file_of_a_newer_major_is_named_and_left_alone(
    store: Path, open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    head = store.with_name("trust.head")
    newer = head.read_bytes().replace(b'"1.0"', b'"2.0"')
    head.write_bytes(newer)
    book = await open_book()
    assert "trust.head: schema version 2.0 is newer" in str(book.problem)
    await grown(make, book, clock, 1)
    assert head.read_bytes() == newer


async def test_a_row_of_a_newer_major_is_named(store: Path, open_book: Any, make: SimpleNamespace) -> None:
    backend = TrustStoreDb(store)
    await backend.open()
    last = (await backend.rows())[-1]
    newer = evolve(last, subject_hash="0" * 64, trace_id="later", delta=last.delta.replace(b'"1.0"', b'"2.0"'))
    async with backend.transaction() as tx:
        await tx.append(linked(newer, ChainHead(last.seq, last.mac), make.KEY))
    await backend.close()
    book = await open_book()
    assert "trust row 11: schema version 2.0 is newer" in str(book.problem)
