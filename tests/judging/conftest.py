"""An event log of the test's own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from myclaw_sqlite.event_store import SqliteEventStore

from myclaw_core.events.log import EventLog
from myclaw_core.testing import FakeClock


@pytest.fixture
async def log(tmp_path: Path, clock: FakeClock) -> AsyncIterator[EventLog]:
    """An event log in real SQLite."""
    opened = EventLog(SqliteEventStore(tmp_path / "events.db"), bytes(32), clock)
    await opened.open()
    yield opened
    await opened.close()
