"""One SQLite file for asyncio: a connection that writes in whole transactions and one that reads what is committed."""

from __future__ import annotations

import asyncio
import fcntl
import os
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from typing import Any, TypeVar

import aiosqlite

from myclaw_core.errors import StoreError
from myclaw_core.messages import N_
from myclaw_sqlite.faults import is_damaged, keep_aside, told_plainly

__all__ = ["Database", "Row", "Transaction"]

Row = tuple[Any, ...]
_T = TypeVar("_T")
_BUSY_TIMEOUT_S = 30.0
_PRAGMAS = (
    "PRAGMA synchronous = FULL",
    "PRAGMA secure_delete = ON",
    "PRAGMA foreign_keys = ON",
    "PRAGMA trusted_schema = OFF",
)


class Transaction:
    """An open write transaction; a statement that fails or is cancelled gives the whole of it up."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.usable = True

    async def run(self, sql: str, *parameters: Any) -> Sequence[Row]:
        """Run one statement and return its rows.

        Raises:
            StoreError: It failed; nothing of the transaction will be kept.
        """
        if not self.usable:
            raise StoreError(N_("{path}: this transaction has ended; begin another one", path=self._path))
        try:
            return await self._database.execute(sql, *parameters)
        except BaseException:
            self.usable = False
            raise

    async def commit(self) -> None:
        """Make the change durable, or raise `StoreError` where a part of it failed."""
        if not self.usable:
            raise StoreError(
                N_("{path}: nothing was kept because a part of the change failed; try again", path=self._path)
            )
        await _to_the_end(self._database.execute("COMMIT"))

    @property
    def _path(self) -> str:
        return str(self._database.path)


class Database:
    """A SQLite file with a fixed schema.

    Args:
        path: The file; its folder must exist.
        schema: Statements that make an empty file into this database, apart from its `meta` table.
        version: Version of `schema`; any other version found is refused.
    """

    def __init__(self, path: Path, schema: Sequence[str], version: int) -> None:
        self.path = path
        self._schema = schema
        self._version = version
        self._writer: aiosqlite.Connection | None = None
        self._reader: aiosqlite.Connection | None = None
        self._lock = asyncio.Lock()
        self._holder: asyncio.Task[Any] | None = None

    async def open(self) -> None:
        """Open the file or create it, readable by its owner only; nothing happens where it is open already.

        Raises:
            StoreError: It cannot be used. A file that is no sound database is kept aside under another name.
        """
        if self._writer is not None:
            return
        try:
            await self._open()
        except BaseException as error:
            await self.close()
            if isinstance(error, StoreError) and is_damaged(error.__cause__):
                with told_plainly(self.path):
                    aside = keep_aside(self.path)
                raise StoreError(
                    N_(
                        "{path} is damaged and was kept as {name}; put a backup in its place,"
                        " or start again with an empty one",
                        path=str(self.path),
                        name=aside.name,
                    )
                ) from error
            raise

    async def close(self) -> None:
        """Close the file after the transaction that is running; may be called twice."""
        async with self._lock:
            for name in ("_reader", "_writer"):
                connection: aiosqlite.Connection | None = getattr(self, name)
                setattr(self, name, None)
                if connection is not None:
                    with told_plainly(self.path):
                        await _to_the_end(connection.close())

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        """Hold the write lock from the start and commit durably at the end; an exception rolls back.

        A cancellation during the commit is raised once the commit has ended.
        """
        if self._holder is asyncio.current_task():
            raise RuntimeError(f"{self.path}: a transaction inside a transaction of the same task")
        async with self._lock:
            self._holder = asyncio.current_task()
            transaction = Transaction(self)
            try:
                await transaction.run("BEGIN IMMEDIATE")
                yield transaction
                await transaction.commit()
            except BaseException:
                await self._roll_back()
                raise
            finally:
                transaction.usable = False
                self._holder = None

    async def read(self, sql: str, *parameters: Any) -> Sequence[Row]:
        """Return the rows of one query over what is committed."""
        with told_plainly(self.path):
            return await _rows(self._open_one(self._reader), sql, parameters)

    async def execute(self, sql: str, *parameters: Any) -> Sequence[Row]:
        """Run one statement on the writing connection; only a transaction and `scrub` may."""
        with told_plainly(self.path):
            return await _rows(self._open_one(self._writer), sql, parameters)

    async def scrub(self) -> None:
        """Take what was deleted out of the write-ahead log too.

        Raises:
            StoreError: Another process is reading; what was deleted may still lie in the write-ahead log.
        """
        async with self._lock:
            ((busy, _, _),) = await self.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        if busy:
            raise StoreError(
                N_("{path}: erased, but another process still reads old pages; erase again later", path=str(self.path))
            )

    async def _open(self) -> None:
        with told_plainly(self.path):
            # The first connection would create the file with the permissions of the umask.
            with suppress(FileExistsError):
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            await asyncio.to_thread(_switch_to_wal, self.path)
            self._writer = await _connect(self.path)
            for pragma in _PRAGMAS:
                await _rows(self._writer, pragma, ())
            self._reader = await _connect(self.path)
            await _rows(self._reader, "PRAGMA query_only = ON", ())
        async with self.transaction() as transaction:
            await self._settle_schema(transaction)

    async def _settle_schema(self, transaction: Transaction) -> None:
        tables = {name for (name,) in await transaction.run("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        if not tables:
            for statement in ("CREATE TABLE meta (schema_version INTEGER NOT NULL) STRICT", *self._schema):
                await transaction.run(statement)
            await transaction.run("INSERT INTO meta VALUES (?)", self._version)
            return
        if "meta" not in tables:
            raise StoreError(N_("{path} belongs to another program; move it away", path=str(self.path)))
        found = [version for (version,) in await transaction.run("SELECT schema_version FROM meta")]
        if found != [self._version]:
            raise StoreError(
                N_(
                    "{path} has schema {found} and this version of myclaw reads schema {known};"
                    " install the myclaw that wrote it",
                    path=str(self.path),
                    found=", ".join(map(str, found)) or N_("none"),
                    known=self._version,
                )
            )

    async def _roll_back(self) -> None:
        if self._writer is not None:
            with told_plainly(self.path):
                await _to_the_end(self._writer.rollback())

    def _open_one(self, connection: aiosqlite.Connection | None) -> aiosqlite.Connection:
        if connection is None:
            raise StoreError(N_("{path} is closed; open it first", path=str(self.path)))
        return connection


def _switch_to_wal(path: Path) -> None:
    """Switch the file to a write-ahead log; SQLite does not wait for other processes that do so too, hence the lock."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        with closing(sqlite3.connect(path, timeout=_BUSY_TIMEOUT_S)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
    finally:
        os.close(folder)


async def _connect(path: Path) -> aiosqlite.Connection:
    async def connect() -> aiosqlite.Connection:
        return await aiosqlite.connect(path, timeout=_BUSY_TIMEOUT_S, isolation_level=None)

    return await _to_the_end(connect())


async def _rows(connection: aiosqlite.Connection, sql: str, parameters: Sequence[Any]) -> Sequence[Row]:
    return [tuple(row) for row in await connection.execute_fetchall(sql, parameters)]


async def _to_the_end(work: Awaitable[_T]) -> _T:
    """Await `work` to its end even when cancelled; its error is raised first, else the cancellation."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    result = task.result()
    if cancelled is not None:
        raise cancelled
    return result
