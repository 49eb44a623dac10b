"""The core database on real SQLite files."""

from __future__ import annotations

import asyncio
import resource
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from myclaw_sqlite.event_store import _TRACES, SqliteEventStore

from myclaw_core.errors import StoreError
from myclaw_core.events.store import EventStore, Head


def head(seq: int, trace_id: str = "") -> Head:
    return Head(seq=seq, at="2026-01-05T09:00:00.000000Z", type="t", trace_id=trace_id, body_sha256=b"d", mac=b"m")


async def filled(store: SqliteEventStore, count: int) -> None:
    for seq in range(1, count + 1):
        async with store.transaction() as tx:
            await tx.append(head(seq, f"trace-{seq % 2}"), b"body %d" % seq)


async def test_the_store_fulfils_the_contract(path: Path) -> None:
    store: EventStore = SqliteEventStore(path)
    await store.open()
    await store.close()


async def test_what_was_committed_is_there_after_opening_again(path: Path, store: SqliteEventStore) -> None:
    await filled(store, 3)
    async with store.transaction() as tx:
        await tx.put("grant", "a", b"1")
    await store.close()
    again = SqliteEventStore(path)
    await again.open()
    assert [found.seq for found in await again.heads()] == [1, 2, 3]
    assert [found.seq for found in await again.heads(after=1, limit=1)] == [2]
    assert [found.seq for found in await again.heads_of("trace-1")] == [1, 3]
    assert await again.last_head() == head(3, "trace-1")
    assert await again.body(2) == b"body 2"
    assert await again.get("grant", "a") == b"1"
    await again.close()


async def test_an_empty_store_has_nothing(store: SqliteEventStore) -> None:
    assert await store.last_head() is None
    assert list(await store.heads()) == []
    assert await store.body(1) is None
    assert await store.get("grant", "a") is None


async def test_traces_are_found_by_the_beginning_of_their_id_the_newest_first(store: SqliteEventStore) -> None:
    for seq, trace_id in enumerate(["ab1", "", "b", "ab2", "ab1", "a%"], start=1):
        async with store.transaction() as tx:
            await tx.append(head(seq, trace_id), b"body")
    assert list(await store.trace_ids()) == ["a%", "ab2", "b", "ab1"]
    assert list(await store.trace_ids("ab")) == ["ab2", "ab1"]
    assert list(await store.trace_ids("a", limit=2)) == ["a%", "ab2"]
    assert list(await store.trace_ids("a%")) == ["a%"]
    assert list(await store.trace_ids("c")) == []


async def test_a_trace_is_found_through_the_index_alone(path: Path, store: SqliteEventStore) -> None:
    """A log grows for years; its heads are not read to find one of them."""
    with closing(sqlite3.connect(path)) as database:
        (plan, *_) = database.execute(f"EXPLAIN QUERY PLAN {_TRACES}", ("ab", 2)).fetchall()
    assert plan[-1] == "SEARCH heads USING COVERING INDEX heads_by_trace (trace_id>? AND trace_id<?)"


async def test_records_are_scanned_by_prefix_in_order_and_patterns_mean_nothing(store: SqliteEventStore) -> None:
    async with store.transaction() as tx:
        for key in ("b/2", "a%1", "a_1", "a%2", "ä", "b/1"):
            await tx.put("k", key, key.encode())
        await tx.put("other", "a%9", b"")
        await tx.put("k", "b/1", b"new")
        await tx.delete("k", "b/2")
        await tx.delete("k", "never there")
        assert await tx.scan("k", "a%") == [("a%1", b"a%1"), ("a%2", b"a%2")]
    assert [key for key, _ in await store.scan("k")] == ["a%1", "a%2", "a_1", "b/1", "ä"]
    assert await store.scan("k", "b/") == [("b/1", b"new")]
    assert await store.scan("k", "ä") == [("ä", "ä".encode())]


async def test_an_exception_in_the_body_rolls_everything_back(store: SqliteEventStore) -> None:
    async def change() -> None:
        async with store.transaction() as tx:
            await tx.append(head(1), b"body")
            await tx.put("grant", "a", b"1")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await change()
    assert await store.last_head() is None
    assert await store.get("grant", "a") is None


async def test_a_failed_statement_gives_the_transaction_up_even_if_its_error_is_swallowed(
    store: SqliteEventStore,
) -> None:
    async def change() -> None:
        async with store.transaction() as tx:
            await tx.put("grant", "a", b"1")
            with pytest.raises(StoreError, match="must follow the newest"):
                await tx.append(head(7), b"body")
            with pytest.raises(StoreError, match="has ended"):
                await tx.put("grant", "b", b"1")

    with pytest.raises(StoreError, match="nothing was kept"):
        await change()
    assert await store.scan("grant") == []


async def test_a_transaction_cannot_be_used_after_its_end(store: SqliteEventStore) -> None:
    async with store.transaction() as tx:
        pass
    with pytest.raises(StoreError, match="has ended"):
        await tx.put("grant", "a", b"1")


async def test_a_transaction_inside_another_of_the_same_task_is_an_error_and_not_a_hang(
    store: SqliteEventStore,
) -> None:
    async with store.transaction() as tx:
        with pytest.raises(RuntimeError, match="inside a transaction"):
            async with store.transaction():
                pass
        await tx.put("grant", "a", b"1")
    assert await store.get("grant", "a") == b"1"


async def test_transactions_of_one_process_never_interleave(store: SqliteEventStore) -> None:
    running = 0

    async def add() -> None:
        nonlocal running
        async with store.transaction() as tx:
            running += 1
            assert running == 1
            newest = await tx.last_head()
            await asyncio.sleep(0)
            await tx.append(head(newest.seq + 1 if newest else 1), b"body")
            running -= 1

    await asyncio.gather(*(add() for _ in range(20)))
    assert [found.seq for found in await store.heads()] == list(range(1, 21))


async def test_readers_see_only_what_is_committed_and_do_not_wait(store: SqliteEventStore) -> None:
    async with store.transaction() as tx:
        await tx.append(head(1), b"body")
        await tx.put("grant", "a", b"1")
        assert await tx.get("grant", "a") == b"1"
        assert await store.get("grant", "a") is None
        assert await store.last_head() is None
        assert await store.body(1) is None
    assert await store.get("grant", "a") == b"1"


async def test_a_cancellation_in_the_body_rolls_back_and_frees_the_lock(store: SqliteEventStore) -> None:
    inside = asyncio.Event()

    async def hang() -> None:
        async with store.transaction() as tx:
            await tx.put("grant", "a", b"1")
            inside.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(hang())
    await inside.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with store.transaction() as tx:
        await tx.put("grant", "b", b"2")
    assert [key for key, _ in await store.scan("grant")] == ["b"]


@pytest.mark.parametrize("steps", range(14))
async def test_a_cancellation_at_any_step_leaves_all_or_nothing(store: SqliteEventStore, steps: int) -> None:
    async def change() -> None:
        async with store.transaction() as tx:
            await tx.append(head(1), b"body")
            await tx.put("grant", "a", b"1")

    task = asyncio.create_task(change())
    for _ in range(steps):
        await store.get("grant", "-")
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    kept = (await store.last_head() is not None, await store.get("grant", "a") is not None)
    assert kept in {(True, True), (False, False)}
    async with store.transaction() as tx:
        await tx.put("grant", "b", b"2")


async def test_a_cancelled_wait_for_another_process_leaves_nothing_behind(path: Path, store: SqliteEventStore) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        async def change() -> None:
            async with store.transaction() as tx:
                await tx.put("grant", "a", b"1")

        task = asyncio.create_task(change())
        await store.get("grant", "-")
        task.cancel()
        other.execute("ROLLBACK")
        with pytest.raises(asyncio.CancelledError):
            await task
        other.execute("BEGIN IMMEDIATE")
        other.execute("ROLLBACK")
    assert await store.scan("grant") == []


@pytest.mark.parametrize(
    "tampering",
    [
        "UPDATE heads SET at = 'x'",
        "DELETE FROM heads WHERE seq = 1",
        "UPDATE bodies SET body = x'00'",
        "INSERT INTO heads VALUES (9, 'a', 't', '', x'00', x'00')",
        "INSERT OR REPLACE INTO heads VALUES (1, 'a', 't', '', x'00', x'00')",
    ],
)
async def test_heads_and_bodies_cannot_be_changed_in_place(path: Path, store: SqliteEventStore, tampering: str) -> None:
    await filled(store, 2)
    with (
        closing(sqlite3.connect(path, isolation_level=None)) as other,
        pytest.raises(sqlite3.IntegrityError, match=r"head|body"),
    ):
        other.execute(tampering)


async def test_an_erased_body_is_gone_from_every_file(path: Path, store: SqliteEventStore) -> None:
    secret = b"a very private sentence " * 400
    async with store.transaction() as tx:
        await tx.append(head(1), secret)
        await tx.append(head(2), b"other")
    await store.erase_body(1)
    await store.erase_body(1)
    assert await store.body(1) is None
    assert await store.body(2) == b"other"
    assert [found.seq for found in await store.heads()] == [1, 2]
    for file in path.parent.iterdir():
        assert b"private sentence" not in file.read_bytes(), file.name


async def test_erasing_says_so_when_another_process_still_holds_old_pages(path: Path, store: SqliteEventStore) -> None:
    await filled(store, 1)
    await store._database.execute("PRAGMA busy_timeout = 0")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT * FROM bodies").fetchall()
        with pytest.raises(StoreError, match="erase again later"):
            await store.erase_body(1)
    await store.erase_body(1)


async def test_closing_twice_is_fine_and_a_closed_store_says_so(path: Path) -> None:
    store = SqliteEventStore(path)
    await store.close()
    others = set(threading.enumerate())
    await store.open()
    await store.open()
    own = {thread for thread in threading.enumerate() if not thread.name.startswith("asyncio")} - others
    await store.close()
    await store.close()
    assert len(own) == 2
    for thread in own:
        thread.join(timeout=10)
    assert not any(thread.is_alive() for thread in own)
    with pytest.raises(StoreError, match="is closed"):
        await store.last_head()
    with pytest.raises(StoreError, match="is closed"):
        async with store.transaction():
            pass


async def test_closing_waits_for_the_transaction_that_runs(store: SqliteEventStore) -> None:
    async with store.transaction() as tx:
        closing_task = asyncio.create_task(store.close())
        await asyncio.sleep(0)
        await tx.put("grant", "a", b"1")
    await closing_task
    await store.open()
    assert await store.get("grant", "a") == b"1"


async def test_only_the_owner_may_read_the_file(path: Path, store: SqliteEventStore) -> None:
    await filled(store, 1)
    assert {file.stat().st_mode & 0o777 for file in path.parent.iterdir()} == {0o600}


async def test_the_file_is_durable_at_each_commit(store: SqliteEventStore) -> None:
    assert await store._database.execute("PRAGMA journal_mode") == [("wal",)]
    assert await store._database.execute("PRAGMA synchronous") == [(2,)]
    assert await store._database.execute("PRAGMA secure_delete") == [(1,)]


def open_once(path: Path) -> None:
    async def open_and_close() -> None:
        store = SqliteEventStore(path)
        await store.open()
        await store.close()

    asyncio.run(open_and_close())


@pytest.mark.parametrize(
    "content",
    [b"this is no database, it only looks long enough" * 90, b"SQLite format 3\x00" + b"\xff" * 8000],
)
def test_a_damaged_file_is_kept_aside_and_told(path: Path, content: bytes) -> None:
    for number in (1, 2):
        path.write_bytes(content)
        with pytest.raises(StoreError, match=rf"events\.db is damaged and was kept as events\.db\.damaged-{number}"):
            open_once(path)
        assert not path.exists()
        assert path.with_name(f"events.db.damaged-{number}").read_bytes() == content
    open_once(path)
    assert path.exists()


async def test_a_database_of_another_program_is_refused_and_left_alone(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE photos (name TEXT)")
    with pytest.raises(StoreError, match=r"events\.db belongs to another program; move it away"):
        await SqliteEventStore(path).open()
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("SELECT count(*) FROM photos").fetchone() == (0,)


async def test_another_schema_version_is_refused_and_left_alone(path: Path, store: SqliteEventStore) -> None:
    await store.close()
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("UPDATE meta SET schema_version = 9")
    with pytest.raises(StoreError, match="has schema 9 and this version of myclaw reads schema 1"):
        await SqliteEventStore(path).open()
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("SELECT schema_version FROM meta").fetchone() == (9,)


async def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"no/events\.db: No such file or directory; check that its folder exists"):
        await SqliteEventStore(tmp_path / "no" / "events.db").open()


async def test_a_file_that_may_not_be_written_is_named(path: Path, store: SqliteEventStore) -> None:
    await store._database.execute("PRAGMA query_only = ON")
    with pytest.raises(StoreError, match=r"events\.db: it cannot be written; make the file and its folder writable"):
        await filled(store, 1)


async def test_a_full_disk_refuses_one_change_and_nothing_else(store: SqliteEventStore) -> None:
    await filled(store, 1)
    ((pages,),) = await store._database.execute("PRAGMA page_count")
    await store._database.execute(f"PRAGMA max_page_count = {pages + 1}")

    async def grow() -> None:
        async with store.transaction() as tx:
            await tx.put("grant", "a", b"1")
            await tx.append(head(2), b"x" * 100_000)

    with pytest.raises(StoreError, match=r"events\.db: the disk is full; free some space"):
        await grow()
    assert [found.seq for found in await store.heads()] == [1]
    assert await store.get("grant", "a") is None
    await store._database.execute("PRAGMA max_page_count = 100000")
    async with store.transaction() as tx:
        await tx.append(head(2), b"x" * 100_000)
    assert await store.body(2) == b"x" * 100_000


def write_until_refused(path: Path) -> list[str]:
    script = Path(__file__).with_name("write_until_refused.py")
    run = subprocess.run(
        [sys.executable, script, path],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000)),
    )
    return run.stdout.splitlines()


async def test_a_write_that_the_system_refuses_is_told_in_one_line(path: Path) -> None:
    *acked, problem = write_until_refused(path)
    assert "events.db: the disk" in problem
    store = SqliteEventStore(path)
    await store.open()
    assert [found.seq for found in await store.heads()] == [int(seq) for seq in acked]
    await store.close()


def test_three_processes_that_create_the_file_at_once_all_succeed(path: Path) -> None:
    code = (
        "import asyncio, sys; from pathlib import Path; from myclaw_sqlite.event_store import SqliteEventStore as S\n"
        "async def main():\n"
        "    store = S(Path(sys.argv[1])); sys.stdin.readline(); await store.open(); await store.close()\n"
        "asyncio.run(main())"
    )
    runs = [subprocess.Popen([sys.executable, "-c", code, path], stdin=subprocess.PIPE) for _ in range(3)]
    for run in runs:
        assert run.stdin is not None
        run.stdin.write(b"\n")
        run.stdin.flush()
    for run in runs:
        run.communicate()
        assert run.returncode == 0
