"""The journals of neurons: one small SQLite file each, open only while it is used."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from myclaw_core import codec
from myclaw_core.errors import CodecError
from myclaw_core.messages import N_
from myclaw_core.neurons.journals import UnfitJournalError
from myclaw_core.neurons.types import Invocation
from myclaw_sqlite.faults import is_damaged, told_plainly

__all__ = ["MAX_BYTES", "SqliteJournals"]

MAX_BYTES = 64 << 20
"""A journal that has grown beyond this is begun anew."""

_SCHEMA = """CREATE TABLE invocations (
    id INTEGER PRIMARY KEY,
    trace_id TEXT NOT NULL,
    at TEXT NOT NULL,
    caller TEXT NOT NULL,
    outcome TEXT NOT NULL,
    wall_ms INTEGER NOT NULL,
    cost_eur REAL NOT NULL,
    gap_pre REAL,
    gap_post REAL
) STRICT"""
_FIELDS = ("trace_id", "at", "caller", "outcome", "wall_ms", "cost_eur", "gap_pre", "gap_post")
_INSERT = "INSERT INTO invocations VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)"
_NEWEST = """SELECT trace_id, at, caller, outcome, wall_ms, cost_eur, gap_pre, gap_post
    FROM invocations ORDER BY id DESC LIMIT ?"""
_BUSY_TIMEOUT_S = 10.0
_PAGE_BYTES = 4096
_PRAGMAS = (
    f"PRAGMA page_size = {_PAGE_BYTES}",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
    "PRAGMA mmap_size = 0",
    "PRAGMA synchronous = NORMAL",
)
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")


class SqliteJournals:
    """Journals in SQLite files (`JournalStore`)."""

    async def append(self, file: Path, invocation: Invocation) -> None:
        """Add a run, durably; the file is made where there is none.

        Raises:
            UnfitJournalError: The file is no journal of this kind, or damaged; nothing in it was executed.
            StoreError: It cannot be written.
        """
        value = codec.unstructure(invocation)
        await asyncio.to_thread(_append, file, [value[name] for name in _FIELDS])

    async def newest(self, file: Path, limit: int) -> Sequence[Invocation]:
        """Return the last runs, the newest first; none where there is no file.

        Raises:
            UnfitJournalError: Like `append`.
            StoreError: It cannot be read.
        """
        rows = await asyncio.to_thread(_newest, file, limit)
        return [run for run in map(_invocation, rows) if run is not None]


def _append(file: Path, values: Sequence[Any]) -> None:
    with told_plainly(file), suppress(FileExistsError):
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_NOFOLLOW, 0o600))
    with _opened(file) as database:
        database.execute("BEGIN IMMEDIATE")
        _require_schema(file, database, make=True)
        database.execute(_INSERT, values)
        database.execute("COMMIT")


def _newest(file: Path, limit: int) -> Sequence[tuple[Any, ...]]:
    if not os.path.lexists(file):
        return ()
    with _opened(file) as database:
        return database.execute(_NEWEST, (limit,)).fetchall() if _require_schema(file, database) else ()


@contextmanager
def _opened(file: Path) -> Iterator[sqlite3.Connection]:
    """Open a journal for a moment; one that SQLite finds damaged is unfit."""
    _require_harmless(file)
    database: sqlite3.Connection | None = None
    try:
        with told_plainly(file):
            database = sqlite3.connect(file, timeout=_BUSY_TIMEOUT_S, isolation_level=None)
            for pragma in _PRAGMAS:
                database.execute(pragma)
            yield database
    except Exception as error:
        if is_damaged(error.__cause__):
            raise UnfitJournalError(N_("{file} is damaged", file=file.name)) from error
        raise
    finally:
        if database is not None:
            database.close()


def _require_schema(file: Path, database: sqlite3.Connection, *, make: bool = False) -> bool:
    """Return whether the table is there; a file with anything else in it, such as a trigger, is unfit."""
    found = [sql for (sql,) in database.execute("SELECT sql FROM sqlite_schema LIMIT 2")]
    if not found and make:
        database.execute(_SCHEMA)
    elif found not in ([], [_SCHEMA]):
        raise UnfitJournalError(N_("{file} is no journal of this program", file=file.name))
    return bool(found) or make


def _require_harmless(file: Path) -> None:
    """Refuse a file that is too big, and a rollback journal that names another one, which SQLite would then delete."""
    with told_plainly(file), suppress(FileNotFoundError):
        size = file.stat().st_size
        if size > MAX_BYTES:
            raise UnfitJournalError(N_("{file} has more than {n} bytes", file=file.name, n=MAX_BYTES))
        if size % _PAGE_BYTES:
            raise UnfitJournalError(N_("{file} is damaged", file=file.name))
    rollback = file.with_name(f"{file.name}-journal")
    with told_plainly(rollback), suppress(FileNotFoundError), rollback.open("rb") as opened:
        size = opened.seek(0, os.SEEK_END)
        opened.seek(max(0, size - len(_JOURNAL_MAGIC)))
        if opened.read() == _JOURNAL_MAGIC and size > len(_JOURNAL_MAGIC):
            raise UnfitJournalError(N_("{file} would be played back into another file", file=rollback.name))


def _invocation(row: Sequence[Any]) -> Invocation | None:
    """Return one run; `None` for a row that says nothing that can be read."""
    try:
        return codec.structure(Invocation, dict(zip(_FIELDS, row, strict=True)), N_("journal"))
    except CodecError:
        return None
