"""The trust store on real SQLite files."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
from myclaw_sqlite.trust_store import TrustStoreDb

from myclaw_core.errors import StoreError
from myclaw_core.trust.store import TrustBackend, TrustRow


def row(seq: int, trace_id: str = "", subject: str = "s", kind: str = "sample", attempt: int = 0) -> TrustRow:
    return TrustRow(
        seq=seq,
        ts="2026-01-05T09:00:00.000000Z",
        kind=kind,
        subject_hash=subject,
        trace_id=trace_id,
        attempt=attempt,
        delta=b"{}",
        mac=b"m%d" % seq,
    )


@pytest.fixture
def trust_path(tmp_path: Path) -> Path:
    """Return where the database lies."""
    return tmp_path / "trust.db"


@pytest.fixture
async def trust(trust_path: Path) -> AsyncIterator[TrustStoreDb]:
    """Return an open, empty store."""
    store = TrustStoreDb(trust_path)
    await store.open()
    yield store
    await store.close()


async def append(store: TrustStoreDb, *rows: TrustRow) -> list[bool]:
    async with store.transaction() as tx:
        return [await tx.append(one) for one in rows]


async def test_the_store_fulfils_the_contract(trust_path: Path) -> None:
    store: TrustBackend = TrustStoreDb(trust_path)
    await store.open()
    await store.close()
    await store.close()


async def test_an_empty_store_has_nothing(trust: TrustStoreDb) -> None:
    assert list(await trust.rows()) == []
    assert list(await trust.rows_of(["s"])) == []
    assert list(await trust.rows_of_trace("t")) == []
    assert list(await trust.scores()) == []
    assert await trust.macs([0, 1]) == {}
    assert await trust.get_meta("applied_seq") is None


async def test_what_was_committed_is_there_after_opening_again(trust_path: Path, trust: TrustStoreDb) -> None:
    async with trust.transaction() as tx:
        await tx.append(row(1, "t"))
        await tx.put_score("s", ("fs_write", "fs_write:~/ws/*"), b"blob", "2026-01-05T09:00:00.000000Z")
        await tx.put_score("s", ("fs_write", "fs_write:~/ws/*"), b"newer", "2026-01-05T09:00:00.000000Z")
        await tx.put_meta("applied_seq", b"1")
        await tx.put_meta("applied_seq", b"2")
    await trust.close()
    again = TrustStoreDb(trust_path)
    await again.open()
    assert list(await again.rows()) == [row(1, "t")]
    assert list(await again.scores()) == [(("fs_write", "fs_write:~/ws/*"), b"newer")]
    assert await again.get_meta("applied_seq") == b"2"
    await again.close()


async def test_rows_are_found_by_place_subject_and_trace(trust: TrustStoreDb) -> None:
    rows = [row(seq, f"t{seq % 2}", f"s{seq}") for seq in range(1, 7)]
    await append(trust, *rows)
    assert list(await trust.rows(after=2, limit=2)) == rows[2:4]
    assert list(await trust.rows_of(["s6", "s1", "other"])) == [rows[0], rows[5]]
    assert list(await trust.rows_of([])) == []
    assert list(await trust.rows_of_trace("t1")) == rows[::2]
    assert list(await trust.rows_of_trace("")) == []
    assert await trust.macs([0, 2, 5, 9]) == {2: b"m2", 5: b"m5"}


async def test_a_row_of_the_same_kind_trace_and_subject_is_taken_once(trust: TrustStoreDb) -> None:
    taken = await append(trust, row(1, "t"), row(2, "t"), row(2, "t", kind="undo"), row(3, "t", "other"))
    assert taken == [True, False, True, True]
    assert [found.seq for found in await trust.rows()] == [1, 2, 3]


async def test_what_a_rollback_voided_is_written_again_under_the_next_attempt(trust: TrustStoreDb) -> None:
    """The table only grows: without the number the same sample could never come back."""
    taken = await append(trust, row(1, "t"), row(2, "t", attempt=1), row(3, "t", attempt=1), row(3, "t", attempt=2))
    assert taken == [True, True, False, True]
    assert [found.attempt for found in await trust.rows()] == [0, 1, 2]


async def test_rows_without_a_trace_are_all_taken(trust: TrustStoreDb) -> None:
    assert await append(trust, row(1), row(2)) == [True, True]


async def test_rows_grow_by_one(trust: TrustStoreDb) -> None:
    with pytest.raises(StoreError, match="must follow the newest one"):
        await append(trust, row(2))
    assert list(await trust.rows()) == []


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("UPDATE events SET mac = x'00'", "never changes"),
        ("DELETE FROM events", "never deleted"),
        ("INSERT OR REPLACE INTO events SELECT * FROM events", "must follow"),
    ],
)
async def test_the_database_refuses_to_rewrite_events(
    trust_path: Path, trust: TrustStoreDb, statement: str, reason: str
) -> None:
    await append(trust, row(1), row(2))
    with closing(sqlite3.connect(trust_path)) as database, pytest.raises(sqlite3.IntegrityError, match=reason):
        database.execute(statement)
    assert len(await trust.rows()) == 2


async def test_an_exception_keeps_nothing(trust: TrustStoreDb) -> None:
    async def broken() -> None:
        async with trust.transaction() as tx:
            await tx.append(row(1))
            await tx.put_score("s", ("a", "b"), b"blob", "")
            await tx.put_meta("k", b"v")
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        await broken()
    assert list(await trust.rows()) == []
    assert list(await trust.scores()) == []
    assert await trust.get_meta("k") is None


async def test_readers_see_only_what_is_committed(trust: TrustStoreDb) -> None:
    async with trust.transaction() as tx:
        await tx.append(row(1))
        assert list(await trust.rows()) == []
    assert list(await trust.rows()) == [row(1)]


async def test_transactions_of_two_stores_over_one_file_wait_for_each_other(
    trust_path: Path, trust: TrustStoreDb
) -> None:
    other = TrustStoreDb(trust_path)
    await other.open()

    async def add(store: TrustStoreDb) -> None:
        async with store.transaction() as tx:
            newest = max((found.seq for found in await store.rows()), default=0)
            await tx.append(row(newest + 1))

    await asyncio.gather(*(add(store) for store in (trust, other) * 10))
    assert [found.seq for found in await trust.rows()] == list(range(1, 21))
    await other.close()


async def test_a_threshold_is_kept_once_a_class_and_band(trust_path: Path, trust: TrustStoreDb) -> None:
    async with trust.transaction() as tx:
        await tx.put_threshold("fs_write:~/ws/*", "low", 0.6, 3, "full")
        await tx.put_threshold("fs_write:~/ws/*", "low", 0.7, 4, "full")
    with closing(sqlite3.connect(trust_path)) as database:
        assert list(database.execute("SELECT * FROM thresholds")) == [("fs_write:~/ws/*", "low", 0.7, 4, "full")]


async def test_a_store_that_cannot_be_opened_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"trust\.db: .*; ") as caught:
        await TrustStoreDb(tmp_path / "missing" / "trust.db").open()
    assert "\n" not in str(caught.value)
