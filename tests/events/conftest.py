"""A real log on a real database, and ways to tamper with it behind its back."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from myclaw_sqlite.event_store import SqliteEventStore
from pseudo import quoted

from myclaw_core.events.log import EventLog
from myclaw_core.events.types import PluginFault
from myclaw_core.testing import FakeClock

KEY = bytes(range(32))


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """Return where the database lies."""
    return tmp_path / "events.db"


@pytest.fixture
def anchor(tmp_path: Path) -> Path:
    """Return where the anchor lies."""
    return tmp_path / "events.anchor"


@pytest.fixture
def new_log(db: Path, anchor: Path) -> Callable[..., EventLog]:
    """Return a maker of logs over the one database, as another process or a restart would have."""

    def make(key: bytes = KEY) -> EventLog:
        return EventLog(SqliteEventStore(db), key, FakeClock(), anchor=anchor)

    return make


@pytest.fixture
async def log(new_log: Callable[..., EventLog]) -> AsyncIterator[EventLog]:
    """Return an open, empty log."""
    log = new_log()
    await log.open()
    yield log
    await log.close()


@pytest.fixture
def fault() -> Callable[[int], PluginFault]:
    """Return a maker of small events."""
    return lambda number: PluginFault(plugin="demo", hook="load", detail=f"number {number}")


@pytest.fixture
def tamper(db: Path) -> Callable[..., None]:
    """Return a way to run SQL on the database with its guards taken off."""

    def run(*statements: str) -> None:
        with closing(sqlite3.connect(db, isolation_level=None)) as connection:
            for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
                connection.execute(f"DROP TRIGGER {name}")
            for statement in statements:
                connection.execute(statement)

    return run


@pytest.fixture
def in_quotes(tmp_path: Path) -> Iterator[None]:
    """Speak a language that puts every message in angle quotes."""
    with quoted(tmp_path / "locale"):
        yield
