"""What taking a closed trace into the trust store costs, beside plain SQLite inserting the same rows.

Both wait for the disk at each commit, as what earns rights must.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Coroutine
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any, cast
from uuid import UUID

from benchmarks.timing import Comparison, Effort, compare
from benchmarks.world import closed_trace, folder, opened_agent, signals_of
from myclaw_core.agent import Agent
from myclaw_core.testing import FakeClock

__all__ = ["run"]

_DELTA = b"x" * 420
"""About what the row of one sample says."""


async def run(effort: Effort) -> list[Comparison]:
    """Time traces with one subject and with as many as a turn has steps."""
    rows = []
    for subjects in (1, effort.steps):
        with folder() as root:
            async with opened_agent(root / "home") as agent:
                with closing(_database(root / "plain.db")) as plain:
                    rows.append(
                        await compare(
                            "trust_write",
                            f"a closed trace of {subjects} subjects, durable",
                            _updates(agent, subjects),
                            "plain SQLite inserts of the same rows, durable",
                            _inserts(plain, subjects),
                            rounds=effort.slow_rounds * 10,
                        )
                    )
    return rows


def _updates(agent: Agent, subjects: int) -> Callable[[], Coroutine[Any, Any, None]]:
    numbers = count(1)
    signals = signals_of(subjects)
    clock = cast("FakeClock", agent.clock)

    async def update() -> None:
        clock.advance(seconds=60)  # traces of one moment are replayed, so that their order never counts
        trace = closed_trace(agent, UUID(int=next(numbers)))
        await agent.book.bulk_update_from_trace(trace, signals, agent.book.applied_seq + 1)

    return update


def _database(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(
        "CREATE TABLE events"
        " (seq INTEGER PRIMARY KEY, ts TEXT, subject_hash TEXT, trace_id TEXT, delta_blob BLOB, mac BLOB)"
    )
    connection.execute("CREATE TABLE scores (subject_hash TEXT PRIMARY KEY, component_blob BLOB, last_updated TEXT)")
    return connection


def _inserts(connection: sqlite3.Connection, subjects: int) -> Callable[[], None]:
    numbers = count(1)
    at = "2026-01-05T09:00:00.000000Z"

    def insert() -> None:
        connection.execute("BEGIN IMMEDIATE")
        for index in range(subjects):
            row = (next(numbers), at, f"{index:064}", "trace", _DELTA, bytes(32))
            connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", row)
        for index in range(subjects + 1):
            connection.execute("INSERT OR REPLACE INTO scores VALUES (?, ?, ?)", (f"{index:064}", _DELTA, at))
        connection.execute("COMMIT")

    return insert
