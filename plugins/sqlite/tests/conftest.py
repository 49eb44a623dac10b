"""A fresh event store a test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from myclaw_sqlite.event_store import SqliteEventStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where the database lies."""
    return tmp_path / "events.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteEventStore]:
    """Return an open, empty store."""
    store = SqliteEventStore(path)
    await store.open()
    yield store
    await store.close()
