"""The core database on SQLite: chained heads, erasable bodies and current-state records in one file."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from myclaw_core.events.store import Head
from myclaw_sqlite.database import Database, Transaction

__all__ = ["SqliteEventStore", "SqliteEventTransaction"]

_VERSION = 1
_SCHEMA = (
    """CREATE TABLE heads (
        seq INTEGER PRIMARY KEY,
        at TEXT NOT NULL,
        type TEXT NOT NULL,
        trace_id TEXT NOT NULL,
        body_sha256 BLOB NOT NULL,
        mac BLOB NOT NULL
    ) STRICT""",
    "CREATE INDEX heads_by_trace ON heads (trace_id)",
    "CREATE TABLE bodies (seq INTEGER PRIMARY KEY REFERENCES heads, body BLOB NOT NULL) STRICT",
    """CREATE TABLE records (
        kind TEXT NOT NULL,
        key TEXT NOT NULL,
        value BLOB NOT NULL,
        PRIMARY KEY (kind, key)
    ) STRICT, WITHOUT ROWID""",
    """CREATE TRIGGER heads_grow_by_one BEFORE INSERT ON heads
        WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM heads)
        BEGIN SELECT raise(ABORT, 'a head must follow the newest one'); END""",
    """CREATE TRIGGER heads_never_change BEFORE UPDATE ON heads
        BEGIN SELECT raise(ABORT, 'a head never changes'); END""",
    """CREATE TRIGGER heads_never_go BEFORE DELETE ON heads
        BEGIN SELECT raise(ABORT, 'a head is never deleted'); END""",
    """CREATE TRIGGER bodies_never_change BEFORE UPDATE ON bodies
        BEGIN SELECT raise(ABORT, 'a body never changes'); END""",
)
_HEAD = "SELECT seq, at, type, trace_id, body_sha256, mac FROM heads"
_NEWEST = f"{_HEAD} ORDER BY seq DESC LIMIT 1"
# No text that starts with the prefix sorts after the prefix and the last of all characters.
_TRACES = """SELECT trace_id FROM heads WHERE trace_id <> '' AND trace_id >= ?1 AND trace_id < ?1 || char(1114111)
    GROUP BY trace_id ORDER BY min(seq) DESC LIMIT ?2"""
_GET = "SELECT value FROM records WHERE kind = ? AND key = ?"
_SCAN = "SELECT key, value FROM records WHERE kind = ?1 AND key >= ?2 AND substr(key, 1, length(?2)) = ?2 ORDER BY key"


class SqliteEventTransaction:
    """One atomic change of the core database (`StoreTransaction`)."""

    def __init__(self, transaction: Transaction) -> None:
        self._run = transaction.run

    async def last_head(self) -> Head | None:
        """Return the newest head, or `None` in an empty log."""
        return _first_head(await self._run(_NEWEST))

    async def append(self, head: Head, body: bytes) -> None:
        """Add a head with its body.

        Raises:
            StoreError: `head.seq` is not the next one.
        """
        await self._run(
            "INSERT INTO heads VALUES (?, ?, ?, ?, ?, ?)",
            head.seq,
            head.at,
            head.type,
            head.trace_id,
            head.body_sha256,
            head.mac,
        )
        await self._run("INSERT INTO bodies VALUES (?, ?)", head.seq, body)

    async def get(self, kind: str, key: str) -> bytes | None:
        """Return one current-state record."""
        return _first_value(await self._run(_GET, kind, key))

    async def put(self, kind: str, key: str, value: bytes) -> None:
        """Set one current-state record."""
        await self._run("INSERT OR REPLACE INTO records VALUES (?, ?, ?)", kind, key, value)

    async def delete(self, kind: str, key: str) -> None:
        """Remove one current-state record; nothing happens where there is none."""
        await self._run("DELETE FROM records WHERE kind = ? AND key = ?", kind, key)

    async def scan(self, kind: str, prefix: str = "") -> Sequence[tuple[str, bytes]]:
        """Return the records of `kind` whose key starts with `prefix`, by key."""
        return [(key, value) for key, value in await self._run(_SCAN, kind, prefix)]


class SqliteEventStore:
    """The core database in one SQLite file (`EventStore`).

    Args:
        path: The file; its folder must exist.
    """

    def __init__(self, path: Path) -> None:
        self._database = Database(path, _SCHEMA, _VERSION)

    async def open(self) -> None:
        """Open or create the file.

        Raises:
            StoreError: It cannot be used; the text names the file and what to do.
        """
        await self._database.open()

    async def close(self) -> None:
        """Close the file; may be called twice."""
        await self._database.close()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[SqliteEventTransaction]:
        """Hold the write lock from the start and commit durably at the end; an exception rolls back."""
        async with self._database.transaction() as transaction:
            yield SqliteEventTransaction(transaction)

    async def last_head(self) -> Head | None:
        """Return the newest committed head, or `None` in an empty log."""
        return _first_head(await self._database.read(_NEWEST))

    async def heads(self, after: int = 0, limit: int = 1000) -> Sequence[Head]:
        """Return heads with `seq > after` in order."""
        return _heads(await self._database.read(f"{_HEAD} WHERE seq > ? ORDER BY seq LIMIT ?", after, limit))

    async def heads_of(self, trace_id: str) -> Sequence[Head]:
        """Return the heads of one trace in order."""
        return _heads(await self._database.read(f"{_HEAD} WHERE trace_id = ? ORDER BY seq", trace_id))

    async def trace_ids(self, prefix: str = "", limit: int = 1000) -> Sequence[str]:
        """Return the ids of traces that start with `prefix`, the one that began last first."""
        return [trace_id for (trace_id,) in await self._database.read(_TRACES, prefix, limit)]

    async def body(self, seq: int) -> bytes | None:
        """Return the body of one event, or `None` where it was erased."""
        return _first_value(await self._database.read("SELECT body FROM bodies WHERE seq = ?", seq))

    async def erase_body(self, seq: int) -> None:
        """Erase one body for good, from the write-ahead log too; its head stays."""
        async with self._database.transaction() as transaction:
            await transaction.run("DELETE FROM bodies WHERE seq = ?", seq)
        await self._database.scrub()

    async def get(self, kind: str, key: str) -> bytes | None:
        """Return one committed current-state record."""
        return _first_value(await self._database.read(_GET, kind, key))

    async def scan(self, kind: str, prefix: str = "") -> Sequence[tuple[str, bytes]]:
        """Return the committed records of `kind` whose key starts with `prefix`, by key."""
        return [(key, value) for key, value in await self._database.read(_SCAN, kind, prefix)]


def _heads(rows: Sequence[tuple[Any, ...]]) -> list[Head]:
    return [
        Head(seq=seq, at=at, type=type_, trace_id=trace_id, body_sha256=body_sha256, mac=mac)
        for seq, at, type_, trace_id, body_sha256, mac in rows
    ]


def _first_head(rows: Sequence[tuple[Any, ...]]) -> Head | None:
    return next(iter(_heads(rows)), None)


def _first_value(rows: Sequence[tuple[Any, ...]]) -> bytes | None:
    return rows[0][0] if rows else None
