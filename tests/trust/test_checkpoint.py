"""Opening from a checkpoint: quicker, and in nothing else different from reading every row."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from myclaw_sqlite.trust_store import TrustStoreDb
from practice import apply, happen, practised

from myclaw_core.errors import TrustCorruptionError
from myclaw_core.testing import FakeClock
from myclaw_core.trust.book import TrustBook
from myclaw_core.trust.census import Census
from myclaw_core.trust.chain import Anchor, ChainHead, linked
from myclaw_core.trust.checkpoint import read_checkpoint, to_checkpoint
from myclaw_core.trust.decayed_mean import DecayedMean
from myclaw_core.trust.promotion import judge

PHOTOS = ("fs_write", "fs_write:~/ws/photos/*")
FREE = "DROP TRIGGER events_never_change; DROP TRIGGER events_never_go; DROP TRIGGER events_grow_by_one;"
STILL = "the trust record is still being checked"
EVERY = 4
NEVER = 10**9


def run(path: Path, script: str) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.executescript(script)


def kept(path: Path) -> bytes | None:
    """Return the checkpoint that lies in a store."""
    with closing(sqlite3.connect(path)) as database:
        found = database.execute("SELECT value FROM marks WHERE key = 'checkpoint'").fetchone()
    return found[0] if found else None


def put(path: Path, checkpoint: bytes | None) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("DELETE FROM marks WHERE key = 'checkpoint'")
        if checkpoint is not None:
            database.execute("INSERT INTO marks VALUES ('checkpoint', ?)", (checkpoint,))
        database.commit()


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as database:
        return list(database.iterdump())


def states_of(book: TrustBook) -> dict[Any, Any]:
    return {subject: book.state(subject) for subject in book.subjects()}


def promoted(make: SimpleNamespace, book: TrustBook, clock: FakeClock) -> bool:
    effect = make.effect(make.NOTES)
    return judge(effect, make.action(effect, clock.now(), named=True), book, make.threshold(), clock.now()).promoted


def told(make: SimpleNamespace, book: TrustBook, clock: FakeClock) -> str:
    effect = make.effect(make.NOTES)
    return str(judge(effect, make.action(effect, clock.now()), book, make.threshold(), clock.now()).reason)


async def check_of(book: TrustBook) -> None:
    """Keep the background check from being quicker than what is tried here."""
    await book._keeper._stop_checking()


@pytest.fixture
async def store(tmp_path: Path, open_book: Any, clock: FakeClock, make: SimpleNamespace) -> Path:
    """Return the closed store of a subject that has earned its promotion, with checkpoints at its rows 4 and 8."""
    book = await open_book(checkpoint_rows=EVERY)
    await practised(make, book, clock, 10)
    assert promoted(make, book, clock)
    await book.close()
    return tmp_path / "trust.db"


# What it says and when it is used.


async def test_a_checkpoint_is_stated_every_so_many_rows(store: Path, make: SimpleNamespace) -> None:
    checkpoint = read_checkpoint(kept(store), make.KEY)
    assert checkpoint is not None
    assert (checkpoint.head.seq, sum(checkpoint.census.rows.values())) == (8, 8)


async def test_a_small_store_has_none_and_is_read_as_a_whole(
    open_book: Any, tmp_path: Path, clock: FakeClock, make: SimpleNamespace
) -> None:
    book = await open_book()
    await practised(make, book, clock, 10)
    await book.close()
    assert kept(tmp_path / "trust.db") is None
    assert (await open_book()).sound


async def test_an_older_store_gets_one_at_its_next_opening(
    open_book: Any, tmp_path: Path, clock: FakeClock, make: SimpleNamespace
) -> None:
    book = await open_book(checkpoint_rows=NEVER)
    await practised(make, book, clock, 10)
    await book.close()
    book = await open_book(checkpoint_rows=EVERY)
    assert book.sound
    await book.close()
    checkpoint = read_checkpoint(kept(tmp_path / "trust.db"), make.KEY)
    assert checkpoint is not None
    assert checkpoint.head.seq == 10


async def test_nothing_is_promoted_until_every_row_is_checked(
    store: Path, open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    book = await open_book(checkpoint_rows=EVERY)
    assert (book.problem, str(book.unchecked), book.sound) == (None, STILL, False)
    assert (promoted(make, book, clock), told(make, book, clock)) == (False, STILL)
    await book.checked()
    assert (book.unchecked, book.sound, promoted(make, book, clock)) == (None, True, True)


async def test_a_whole_check_by_hand_ends_the_waiting_too(store: Path, open_book: Any) -> None:
    book = await open_book(checkpoint_rows=EVERY)
    await check_of(book)
    assert (await book.verify()).ok
    assert book.sound


async def test_what_happens_meanwhile_is_taken_in(
    store: Path, open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    book = await open_book(checkpoint_rows=EVERY)
    await check_of(book)
    await practised(make, book, clock, 1)
    await book.record_undo(UUID(int=1), at=clock.now())
    assert (await book.get(make.NOTES)).n_samples == 11
    assert (await book.verify()).ok


async def test_only_the_rows_since_are_read_at_the_opening(
    store: Path, open_book: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    plain = TrustStoreDb.rows

    async def watched(self: TrustStoreDb, after: int = 0, limit: int = 10_000) -> Any:
        rows = await plain(self, after, limit)
        read.extend(row.seq for row in rows)
        return rows

    monkeypatch.setattr(TrustStoreDb, "rows", watched)
    book = await open_book(checkpoint_rows=EVERY)
    assert read == [9, 10]
    await book.checked()
    assert read == [9, 10, *range(1, 11)]


# Tampering with the rows.

TOUCHED = {
    "an old event was edited": f"""{FREE} UPDATE events SET
        delta_blob = CAST(replace(delta_blob, '"tool_success":1.0', '"tool_success":0.9') AS BLOB) WHERE seq = 2;""",
    "a new event was edited": f"{FREE} UPDATE events SET ts = '2026-01-01T00:00:00.000000Z' WHERE seq = 9;",
    "the event at the checkpoint was edited": f"{FREE} UPDATE events SET attempt = 1 WHERE seq = 8;",
    "the last five were deleted": f"{FREE} DELETE FROM events WHERE seq > 5;",
    "the last one was deleted": f"{FREE} DELETE FROM events WHERE seq > 9;",
    "the old middle was deleted": f"{FREE} DELETE FROM events WHERE seq IN (3, 4);",
    "the middle was deleted": f"{FREE} DELETE FROM events WHERE seq IN (7, 8, 9);",
    "all before the checkpoint were deleted": f"{FREE} DELETE FROM events WHERE seq < 8;",
    "all were deleted": f"{FREE} DELETE FROM events; DELETE FROM scores;",
    "two old ones were swapped": f"""{FREE} UPDATE events SET seq = 99 WHERE seq = 3;
        UPDATE events SET seq = 3 WHERE seq = 4; UPDATE events SET seq = 4 WHERE seq = 99;""",
    "an old mac was cleared": f"{FREE} UPDATE events SET mac = x'' WHERE seq = 4;",
    "the mac at the checkpoint was cleared": f"{FREE} UPDATE events SET mac = x'' WHERE seq = 8;",
    "a row was added": f"""{FREE} INSERT INTO events
        SELECT seq + 1, ts, kind, subject_hash, 'other', attempt, delta_blob, mac FROM events WHERE seq = 10;""",
}


@pytest.mark.parametrize("script", TOUCHED.values(), ids=TOUCHED.keys())
async def test_what_a_whole_reading_notices_is_noticed_and_nothing_is_promoted_before(
    store: Path, open_book: Any, clock: FakeClock, make: SimpleNamespace, script: str
) -> None:
    """The same is said, and the same is left as evidence."""
    run(store, script)
    evidence = dump(store)
    book = await open_book(checkpoint_rows=EVERY)
    assert not promoted(make, book, clock)
    await book.checked()
    report = await book.verify()
    assert (book.sound, promoted(make, book, clock), report.ok) == (False, False, False)
    problem = str(book.problem)
    await practised(make, book, clock, 1)
    await book.close()
    assert dump(store) == evidence
    put(store, None)
    whole = await open_book(checkpoint_rows=NEVER)
    assert (str(whole.problem), (await whole.verify()).first_bad_row) == (problem, report.first_bad_row)


async def test_an_old_row_that_was_edited_is_noticed_before_a_score_is_made_of_it(
    store: Path, open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    """An undo reads a history again; the background check is kept from being quicker."""
    book = await open_book(checkpoint_rows=EVERY)
    first = UUID((await book.events(make.NOTES))[0].trace_id)
    await book.close()
    run(store, TOUCHED["an old event was edited"])
    evidence = dump(store)
    book = await open_book(checkpoint_rows=EVERY)
    await check_of(book)
    before = states_of(book)
    await book.record_undo(first, [make.NOTES], at=clock.now(), in_time=True)
    assert str(book.problem) == "trust row 2 is not the one that was once written"
    assert states_of(book) == before
    await book.close()
    assert dump(store) == evidence


async def test_an_old_row_that_was_edited_is_never_shown_as_history(
    store: Path, open_book: Any, make: SimpleNamespace
) -> None:
    run(store, TOUCHED["an old event was edited"])
    book = await open_book(checkpoint_rows=EVERY)
    await check_of(book)
    with pytest.raises(TrustCorruptionError, match="row 2"):
        await book.events(make.NOTES)
    assert book.problem is not None


async def test_a_history_of_which_an_old_row_is_gone_is_never_shown(
    store: Path, open_book: Any, make: SimpleNamespace
) -> None:
    run(store, TOUCHED["the old middle was deleted"])
    book = await open_book(checkpoint_rows=EVERY)
    await check_of(book)
    with pytest.raises(TrustCorruptionError, match=r"events of fs_write fs_write:~/ws/notes/\* are not found"):
        await book.events(make.NOTES)
    assert book.problem is not None


async def test_a_deleted_score_is_not_made_again_from_rows_that_were_edited(
    store: Path, open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    run(store, TOUCHED["an old event was edited"] + "DELETE FROM scores;")
    evidence = dump(store)
    book = await open_book(checkpoint_rows=EVERY)
    assert str(book.problem) == "trust row 2 is not the one that was once written"
    assert (book.subjects(), promoted(make, book, clock)) == ([], False)
    await book.close()
    assert dump(store) == evidence


async def test_an_edited_score_reads_as_no_trust(
    store: Path, open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    run(store, "UPDATE scores SET component_blob = CAST(replace(component_blob, '0.', '0.9') AS BLOB)")
    book = await open_book(checkpoint_rows=EVERY)
    await book.checked()
    assert (book.problem, (await book.get(make.NOTES)).n_samples, promoted(make, book, clock)) == (None, 0, False)
    await practised(make, book, clock, 1)
    assert (await book.get(make.NOTES)).n_samples == 11


async def test_a_chain_made_again_without_the_key_is_noticed(
    store: Path, open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
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
    with_the_true_checkpoint = await open_book(checkpoint_rows=EVERY)
    assert with_the_true_checkpoint.problem is not None
    await with_the_true_checkpoint.close()
    put(store, to_checkpoint(ChainHead(8, forged.mac), Census(), b"another key"))
    assert (await open_book(checkpoint_rows=EVERY)).problem is not None


async def test_yesterdays_copy_of_the_store_is_noticed_at_once(
    store: Path, tmp_path: Path, open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    shutil.copy(store, tmp_path / "yesterday.db")
    book = await open_book(checkpoint_rows=EVERY)
    await practised(make, book, clock, 5)
    await book.close()
    shutil.copy(tmp_path / "yesterday.db", store)
    assert str((await open_book(checkpoint_rows=EVERY)).problem) == "5 of its newest rows are missing"


@pytest.mark.parametrize("touch", [Path.unlink, lambda path: path.write_text("{}"), lambda path: path.write_text("")])
async def test_a_lost_or_damaged_head_file_is_noticed_at_once(
    store: Path, open_book: Any, touch: Callable[[Path], object]
) -> None:
    touch(store.with_name("trust.head"))
    assert (await open_book(checkpoint_rows=EVERY)).problem is not None


async def test_an_old_row_of_a_later_version_is_not_passed_over(
    store: Path, open_book: Any, make: SimpleNamespace
) -> None:
    """A checkpoint that the later version stated lies behind it."""
    backend = TrustStoreDb(store)
    await backend.open()
    rows = await backend.rows()
    newest = ChainHead(rows[-1].seq, rows[-1].mac)
    row = linked(evolve(rows[-1], trace_id="later", kind="freeze"), newest, make.KEY)
    census = Census()
    for known in rows:
        census.take(known)
    async with backend.transaction() as tx:
        await tx.append(row)
        await tx.put_meta("checkpoint", to_checkpoint(ChainHead(row.seq, row.mac), census, make.KEY))
    await backend.close()
    Anchor(store.with_name("trust.head")).write(ChainHead(row.seq, row.mac))
    book = await open_book(checkpoint_rows=EVERY)
    assert str(book.unchecked) == STILL
    await book.checked()
    assert "its kind 'freeze' is not known" in str(book.problem)


# Tampering with the checkpoint.


def flipped(checkpoint: bytes) -> bytes:
    place = random.Random(3).randrange(len(checkpoint))
    return checkpoint[:place] + bytes([checkpoint[place] ^ 1]) + checkpoint[place + 1 :]


DAMAGE: dict[str, Callable[[bytes], bytes | None]] = {
    "gone": lambda _: None,
    "empty": lambda _: b"",
    "nonsense": lambda _: b"x",
    "cut": lambda checkpoint: checkpoint[:-1],
    "one bit flipped": flipped,
    "raised": lambda checkpoint: checkpoint.replace(b'"seq":8', b'"seq":9'),
    "more rows": lambda checkpoint: checkpoint.replace(b'/notes/*",8,', b'/notes/*",9,'),
    "sealed with another key": lambda checkpoint: to_checkpoint(ChainHead(8, b"m" * 32), Census(), b"another key"),
    "sealed as something else": lambda checkpoint: b"8 " + checkpoint,
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
async def test_a_checkpoint_that_is_missing_or_damaged_means_that_every_row_is_read(
    store: Path, open_book: Any, clock: FakeClock, make: SimpleNamespace, damage: Callable[[bytes], bytes | None]
) -> None:
    true = kept(store)
    assert true is not None
    put(store, damage(true))
    book = await open_book(checkpoint_rows=EVERY)
    assert (book.sound, promoted(make, book, clock)) == (True, True)
    assert (await book.verify()).ok
    assert read_checkpoint(kept(store), make.KEY) is not None


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
async def test_a_damaged_checkpoint_hides_no_damaged_row(
    store: Path, open_book: Any, damage: Callable[[bytes], bytes | None]
) -> None:
    put(store, damage(kept(store) or b""))
    run(store, TOUCHED["an old event was edited"])
    assert (await open_book(checkpoint_rows=EVERY)).problem is not None


async def test_an_old_checkpoint_put_back_only_makes_the_opening_slower(
    store: Path, open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    old = kept(store)
    book = await open_book(checkpoint_rows=EVERY)
    await happen(make, book, clock, "rollback", make.NOTES, [])
    await practised(make, book, clock, 5)
    before = states_of(book)
    await book.close()
    assert kept(store) != old
    put(store, old)
    book = await open_book(checkpoint_rows=EVERY)
    assert (str(book.unchecked), states_of(book)) == (STILL, before)
    await book.checked()
    assert (await book.verify()).ok
    await practised(make, book, clock, 5)
    assert (await book.verify()).ok


@pytest.mark.parametrize(("days", "rows"), [(9, "as far"), (17, "further")])
async def test_a_checkpoint_of_a_store_that_went_another_way_is_not_used(
    store: Path, tmp_path: Path, open_book: Any, clock: FakeClock, make: SimpleNamespace, days: int, rows: str
) -> None:
    """It is sealed with the same key, and only its mac tells."""
    other = TrustBook(
        TrustStoreDb(tmp_path / "other.db"), make.KEY, clock, anchor=tmp_path / "other.head", checkpoint_rows=EVERY
    )
    await other.open()
    await practised(make, other, clock, days, PHOTOS)
    await other.close()
    foreign = read_checkpoint(kept(tmp_path / "other.db"), make.KEY)
    assert foreign is not None
    assert (foreign.head.seq > 10) == (rows == "further")
    put(store, kept(tmp_path / "other.db"))
    book = await open_book(checkpoint_rows=EVERY)
    assert (book.sound, promoted(make, book, clock)) == (True, True)
    assert PHOTOS not in book.subjects()
    assert (await book.verify()).ok


async def test_a_checkpoint_beyond_the_head_file_is_not_used(
    store: Path, open_book: Any, make: SimpleNamespace
) -> None:
    """Its row cannot be told from one of a store that went another way."""
    backend = TrustStoreDb(store)
    await backend.open()
    early = (await backend.rows())[2]
    await backend.close()
    head = store.with_name("trust.head")
    head.unlink()
    Anchor(head).write(ChainHead(early.seq, early.mac))
    book = await open_book(checkpoint_rows=EVERY)
    assert (book.sound, book.unchecked) == (True, None)


# Nothing else is different.

HAPPENINGS = ("good", "failed", "denied", "undo", "late undo", "yes", "no", "rollback", "revoke", "hold", "restore")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(HAPPENINGS), st.booleans(), st.integers(0, 60), st.booleans()), max_size=25
    )
)
def test_any_history_reads_the_same_with_and_without_a_checkpoint(make: SimpleNamespace, steps: Any) -> None:
    """Bit for bit: states, stored bytes, what was rolled back and how far the log is applied; also when run on."""

    async def lives(folder: Path) -> None:
        quick_clock, slow_clock = FakeClock(), FakeClock()
        quick = a_book(make, folder / "quick", quick_clock, checkpoint_rows=2)
        slow = a_book(make, folder / "slow", slow_clock, checkpoint_rows=NEVER)
        await quick.open()
        await slow.open()
        quick_traces: list[Any] = []
        slow_traces: list[Any] = []
        for what, is_photos, hours, reopens in steps:
            subject = PHOTOS if is_photos else make.NOTES
            for book, clock, traces in ((quick, quick_clock, quick_traces), (slow, slow_clock, slow_traces)):
                clock.advance(hours=hours)
                await happen(make, book, clock, what, subject, traces)
                if reopens:
                    await book.close()
                    await book.open()
            assert states_of(quick) == states_of(slow)
        assert dict(await quick._backend.scores()) == dict(await slow._backend.scores())
        assert quick._keeper._census == slow._keeper._census
        assert quick.applied_seq == slow.applied_seq
        await quick.checked()
        assert (await quick.verify()).ok
        await quick.close()
        await slow.close()

    with TemporaryDirectory() as folder:
        asyncio.run(lives(Path(folder)))


def a_book(make: SimpleNamespace, folder: Path, clock: FakeClock, **options: Any) -> TrustBook:
    folder.mkdir(exist_ok=True)
    return TrustBook(TrustStoreDb(folder / "trust.db"), make.KEY, clock, anchor=folder / "trust.head", **options)


async def test_other_weights_replay_every_event(
    store: Path, open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    weights = {
        "tool_success": 0.4,
        "human_approval_rate": 0.2,
        "cost_efficiency": 0.2,
        "constitution_clean": 0.1,
        "undo_rate": 0.1,
    }
    book = await open_book(checkpoint_rows=EVERY, estimator=DecayedMean(weights))
    await book.checked()
    replayed = dict(await book._backend.scores())
    await book.close()
    put(store, None)
    run(store, "DELETE FROM scores")
    whole = await open_book(checkpoint_rows=NEVER, estimator=DecayedMean(weights))
    assert dict(await whole._backend.scores()) == replayed
    assert (await whole.verify()).ok


# Several at once.


async def test_two_books_over_one_store_state_checkpoints_in_turn(
    open_book: Any, tmp_path: Path, clock: FakeClock, make: SimpleNamespace
) -> None:
    one, two = await open_book(checkpoint_rows=3), await open_book(checkpoint_rows=3)
    for turn in range(12):
        await apply(make, two if turn % 3 else one, clock, make.ideal(), make.ideal(PHOTOS))
        clock.advance(hours=9)
    await one.refresh()
    await two.refresh()
    again = await open_book(checkpoint_rows=3)
    assert str(again.unchecked) == STILL
    assert states_of(again) == states_of(one) == states_of(two)
    await again.checked()
    assert (await again.verify()).ok


def test_two_processes_that_write_at_once_leave_a_checkpoint_that_fits(tmp_path: Path, make: SimpleNamespace) -> None:
    async def write(first: int) -> None:
        clock = FakeClock()
        book = a_book(make, tmp_path, clock, checkpoint_rows=3)
        await book.open()
        for number in range(first, first + 15):
            clock.advance(hours=3)
            await book.bulk_update_from_trace(make.trace(UUID(int=number), clock.now()), [make.ideal()])
        await book.close()

    def in_a_process(first: int) -> int:
        child = os.fork()
        if child:
            return child
        status = 1
        try:
            asyncio.run(write(first))
            status = 0
        finally:
            os._exit(status)

    async def look() -> None:
        book = a_book(make, tmp_path, FakeClock(), checkpoint_rows=3)
        await book.open()
        assert str(book.unchecked) == STILL
        await book.checked()
        assert (book.sound, book.state(make.NOTES).n_samples, (await book.verify()).ok) == (True, 30, True)
        await book.close()

    children = [in_a_process(100), in_a_process(200)]
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0, 0]
    asyncio.run(look())
