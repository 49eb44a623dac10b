"""The trust store on SQLite: the three tables of seed 000 and a few marks in one file."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from myclaw_core.trust.store import TrustRow
from myclaw_core.types.trust import TrustSubject
from myclaw_sqlite.database import Database, Row, Transaction

__all__ = ["TrustDbTransaction", "TrustStoreDb"]

_VERSION = 1
_SCHEMA = (
    """CREATE TABLE scores (
        subject_hash TEXT PRIMARY KEY,
        tool_name TEXT NOT NULL,
        effect_class TEXT NOT NULL,
        component_blob BLOB NOT NULL,
        last_updated TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE thresholds (
        effect_class TEXT NOT NULL,
        risk_band TEXT NOT NULL,
        min_score REAL NOT NULL,
        min_samples INTEGER NOT NULL,
        cap_autonomy TEXT NOT NULL,
        PRIMARY KEY (effect_class, risk_band)
    ) STRICT""",
    """CREATE TABLE events (
        seq INTEGER PRIMARY KEY,
        ts TEXT NOT NULL,
        kind TEXT NOT NULL,
        subject_hash TEXT NOT NULL,
        trace_id TEXT NOT NULL,
        attempt INTEGER NOT NULL,
        delta_blob BLOB NOT NULL,
        mac BLOB NOT NULL
    ) STRICT""",
    "CREATE TABLE marks (key TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT",
    "CREATE UNIQUE INDEX events_once ON events (trace_id, kind, subject_hash, attempt) WHERE trace_id <> ''",
    "CREATE INDEX events_by_subject ON events (subject_hash)",
    """CREATE TRIGGER events_grow_by_one BEFORE INSERT ON events
        WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM events)
        BEGIN SELECT raise(ABORT, 'a trust event must follow the newest one'); END""",
    """CREATE TRIGGER events_never_change BEFORE UPDATE ON events
        BEGIN SELECT raise(ABORT, 'a trust event never changes'); END""",
    """CREATE TRIGGER events_never_go BEFORE DELETE ON events
        BEGIN SELECT raise(ABORT, 'a trust event is never deleted'); END""",
)
_ROW = "SELECT seq, ts, kind, subject_hash, trace_id, attempt, delta_blob, mac FROM events"
_MACS = "SELECT seq, mac FROM events WHERE seq IN (SELECT value FROM json_each(?))"
_OF_SUBJECTS = "WHERE subject_hash IN (SELECT value FROM json_each(?)) ORDER BY seq"


class TrustDbTransaction:
    """One atomic change of the trust store (`TrustTransaction`)."""

    def __init__(self, transaction: Transaction) -> None:
        self._run = transaction.run

    async def append(self, row: TrustRow) -> bool:
        """Add a row; return False and change nothing where there is one of its trace, kind, subject and attempt.

        Raises:
            StoreError: `row.seq` is not the next one.
        """
        added = await self._run(
            """INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (trace_id, kind, subject_hash, attempt) WHERE trace_id <> '' DO NOTHING RETURNING seq""",
            row.seq,
            row.ts,
            row.kind,
            row.subject_hash,
            row.trace_id,
            row.attempt,
            row.delta,
            row.mac,
        )
        return bool(added)

    async def put_score(self, subject_hash: str, subject: TrustSubject, blob: bytes, last_updated: str) -> None:
        """Set the component blob of a subject."""
        await self._run(
            "INSERT OR REPLACE INTO scores VALUES (?, ?, ?, ?, ?)", subject_hash, *subject, blob, last_updated
        )

    async def put_threshold(
        self, effect_class: str, risk_band: str, min_score: float, min_samples: int, cap_autonomy: str
    ) -> None:
        """Set one row of the table `thresholds`."""
        await self._run(
            "INSERT OR REPLACE INTO thresholds VALUES (?, ?, ?, ?, ?)",
            effect_class,
            risk_band,
            min_score,
            min_samples,
            cap_autonomy,
        )

    async def put_meta(self, key: str, value: bytes) -> None:
        """Set a small value."""
        await self._run("INSERT OR REPLACE INTO marks VALUES (?, ?)", key, value)


class TrustStoreDb:
    """The trust store in one SQLite file (`TrustBackend`).

    Args:
        path: The file; its folder must exist.
    """

    def __init__(self, path: Path) -> None:
        self._database = Database(path, _SCHEMA, _VERSION)

    async def open(self) -> None:
        """Open the file or create it.

        Raises:
            StoreError: It cannot be used; the text names the file and what to do.
        """
        await self._database.open()

    async def close(self) -> None:
        """Close the file; may be called twice."""
        await self._database.close()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[TrustDbTransaction]:
        """Hold the write lock from the start and commit durably at the end; an exception rolls back."""
        async with self._database.transaction() as transaction:
            yield TrustDbTransaction(transaction)

    async def rows(self, after: int = 0, limit: int = 10_000) -> Sequence[TrustRow]:
        """Return committed event rows with `seq > after` in order."""
        return _rows(await self._database.read(f"{_ROW} WHERE seq > ? ORDER BY seq LIMIT ?", after, limit))

    async def rows_of(self, subject_hashes: Sequence[str]) -> Sequence[TrustRow]:
        """Return the committed event rows of these subjects by seq."""
        return _rows(await self._database.read(f"{_ROW} {_OF_SUBJECTS}", json.dumps(list(subject_hashes))))

    async def rows_of_trace(self, trace_id: str) -> Sequence[TrustRow]:
        """Return the committed event rows that came from this trace by seq."""
        if not trace_id:
            return ()
        return _rows(await self._database.read(f"{_ROW} WHERE trace_id = ? AND trace_id <> '' ORDER BY seq", trace_id))

    async def macs(self, seqs: Sequence[int]) -> Mapping[int, bytes]:
        """Return the macs of the committed event rows with these numbers."""
        return dict(await self._database.read(_MACS, json.dumps(list(seqs))))

    async def scores(self) -> Sequence[tuple[TrustSubject, bytes]]:
        """Return every subject with its component blob; a row whose subject is no text any more is none."""
        rows = await self._database.read("SELECT tool_name, effect_class, component_blob FROM scores")
        return [
            ((tool_name, effect_class), blob)
            for tool_name, effect_class, blob in rows
            if isinstance(tool_name, str) and isinstance(effect_class, str)
        ]

    async def get_meta(self, key: str) -> bytes | None:
        """Return a small value."""
        rows = await self._database.read("SELECT value FROM marks WHERE key = ?", key)
        value = rows[0][0] if rows else None
        return value if isinstance(value, bytes) else None


def _rows(rows: Iterable[Row]) -> list[TrustRow]:
    return [
        TrustRow(
            seq=seq,
            ts=ts,
            kind=kind,
            subject_hash=subject_hash,
            trace_id=trace_id,
            attempt=attempt,
            delta=delta,
            mac=mac,
        )
        for seq, ts, kind, subject_hash, trace_id, attempt, delta, mac in rows
    ]
