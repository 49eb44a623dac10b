"""What appending to the chained log costs, beside a plain insert of the same bytes.

Both run in memory, where making a commit durable costs nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Coroutine, Sequence
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks.timing import Comparison, Effort, compare
from benchmarks.world import memory_folder, opened_agent
from myclaw_core.codec import dumps_event
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import ConfigChanged

__all__ = ["run"]


async def run(effort: Effort) -> list[Comparison]:
    """Time transactions of one event and of many."""
    rows = []
    for number in (1, effort.steps):
        events = [
            ConfigChanged(
                sender="test:me", key="approval.expires_s", before="1800", after=str(index), config_digest="0" * 64
            )
            for index in range(number)
        ]
        with memory_folder() as root:
            async with opened_agent(root / "home") as agent:
                with closing(_database(root / "plain.db")) as plain:
                    rows.append(
                        await compare(
                            "log_append",
                            f"an event, {number} in a transaction",
                            _appends(agent.log, events),
                            "a plain SQLite insert of the same bytes",
                            _inserts(plain, [dumps_event(event) for event in events]),
                            rounds=effort.slow_rounds * 10,
                            calls=number,
                        )
                    )
    return rows


def _appends(log: EventLog, events: Sequence[ConfigChanged]) -> Callable[[], Coroutine[Any, Any, None]]:
    async def append() -> None:
        async with log.transaction() as transaction:
            for event in events:
                await transaction.append(event)

    return append


def _database(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE heads (seq INTEGER PRIMARY KEY, at TEXT, type TEXT, digest BLOB, mac BLOB)")
    connection.execute("CREATE TABLE bodies (seq INTEGER PRIMARY KEY, body BLOB)")
    return connection


def _inserts(connection: sqlite3.Connection, bodies: Sequence[bytes]) -> Callable[[], None]:
    numbers = count(1)
    digest = bytes(32)

    def insert() -> None:
        connection.execute("BEGIN IMMEDIATE")
        for body in bodies:
            seq = next(numbers)
            head = (seq, "2026-01-05T09:00:00.000000Z", "config_changed", digest, digest)
            connection.execute("INSERT INTO heads VALUES (?, ?, ?, ?, ?)", head)
            connection.execute("INSERT INTO bodies VALUES (?, ?)", (seq, body))
        connection.execute("COMMIT")

    return insert
