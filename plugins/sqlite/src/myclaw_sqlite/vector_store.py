"""Vectors of texts in `vectors.db`: open only while it is used, begun anew where it is no sound file of this kind."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from myclaw_core.embedding.vector import Vector
from myclaw_core.errors import StoreError
from myclaw_sqlite.faults import is_damaged, told_plainly

__all__ = ["KEPT_VECTORS", "SqliteVectors"]

KEPT_VECTORS = 50_000
"""The newest that are kept, so that the file does not grow for ever."""

_SCHEMA = """CREATE TABLE vectors (
    place INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    model TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    data BLOB NOT NULL
) STRICT"""
_INSERT = "INSERT OR REPLACE INTO vectors (key, model, dimension, data) VALUES (?, ?, ?, ?)"
_SELECT = "SELECT data FROM vectors WHERE key = ? AND model = ? AND dimension = ?"
_PRUNE = "DELETE FROM vectors WHERE place <= (SELECT max(place) FROM vectors) - ?"
_PRAGMAS = ("PRAGMA trusted_schema = OFF", "PRAGMA cell_size_check = ON", "PRAGMA mmap_size = 0")
_BUSY_TIMEOUT_S = 10.0

T = TypeVar("T")


class _UnfitError(Exception):
    """Raised when the file holds another table."""


class SqliteVectors:
    """Vectors in one SQLite file (`VectorStore`).

    Args:
        file: Made where there is none.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    async def read(self, keys: Sequence[str], model: str, dimension: int) -> Mapping[str, Vector]:
        """Return the vectors of that model and dimension by key.

        Raises:
            StoreError: The file cannot be read.
        """
        rows = await asyncio.to_thread(self._renewed, lambda database: _read(database, keys, model, dimension))
        return {key: Vector(model, data) for key, data in rows}

    async def write(self, vectors: Mapping[str, Vector]) -> None:
        """Keep vectors by key in the place of older ones.

        Raises:
            StoreError: The file cannot be written.
        """
        rows = [(key, vector.model, vector.dimension, vector.data) for key, vector in vectors.items()]
        await asyncio.to_thread(self._renewed, lambda database: _write(database, rows))

    def _renewed(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Return what `work` returns; where the file is unfit, after it was begun anew."""
        try:
            with self._opened() as database:
                return work(database)
        except (StoreError, _UnfitError) as error:
            if not (isinstance(error, _UnfitError) or is_damaged(error.__cause__)):
                raise
        with told_plainly(self._file):
            for suffix in ("-journal", ""):
                self._file.with_name(self._file.name + suffix).unlink(missing_ok=True)
        with self._opened() as database:
            return work(database)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """Open the file for a moment, for its owner only; another table in it counts as damage."""
        with told_plainly(self._file), suppress(FileExistsError):
            os.close(os.open(self._file, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_NOFOLLOW, 0o600))
        with told_plainly(self._file):
            database = sqlite3.connect(self._file, timeout=_BUSY_TIMEOUT_S, isolation_level=None)
            try:
                for pragma in _PRAGMAS:
                    database.execute(pragma)
                _require_schema(database)
                yield database
            finally:
                database.close()


def _require_schema(database: sqlite3.Connection) -> None:
    found = [sql for (sql,) in database.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL LIMIT 2")]
    if not found:
        database.execute(_SCHEMA.replace("TABLE", "TABLE IF NOT EXISTS"))
    elif found != [_SCHEMA]:
        raise _UnfitError


def _read(database: sqlite3.Connection, keys: Sequence[str], model: str, dimension: int) -> list[tuple[str, bytes]]:
    rows = ((key, database.execute(_SELECT, (key, model, dimension)).fetchone()) for key in keys)
    return [(key, row[0]) for key, row in rows if row is not None]


def _write(database: sqlite3.Connection, rows: Sequence[tuple[str, str, int, bytes]]) -> None:
    database.execute("BEGIN IMMEDIATE")
    database.executemany(_INSERT, rows)
    database.execute(_PRUNE, (KEPT_VECTORS,))
    database.execute("COMMIT")
