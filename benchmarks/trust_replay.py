"""What it costs to replay every event of the trust store, and to start with that many, beside reading the rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Coroutine
from contextlib import closing
from pathlib import Path
from time import perf_counter
from typing import Any, cast
from uuid import UUID

from benchmarks.timing import Comparison, Effort, compare
from benchmarks.world import closed_trace, folder, opened_agent, signals_of
from myclaw_core.agent import Agent
from myclaw_core.testing import FakeClock

__all__ = ["run"]

_A_TRACE = 1000


async def run(effort: Effort) -> list[Comparison]:
    """Time an opening of the store, one without a checkpoint, and a whole replay: the chain, every score made again."""
    with folder() as root:
        async with opened_agent(root / "home") as agent:
            await _filled(agent, effort.events)
            read = _reads(agent.home.state / "trust.db")
            floor = "reading the rows with plain SQLite"
            events = f"{effort.events:,} events"
            return [
                await compare("trust_replay", what, thing, floor, read, rounds=1)
                for what, thing in (
                    (f"open the store with {events}", _open(agent)),
                    (f"open the store with {events}, no checkpoint", _open(agent, _uncheckpointed)),
                    (f"replay of {events}", _replay(agent)),
                )
            ]


async def _filled(agent: Agent, events: int) -> None:
    clock = cast("FakeClock", agent.clock)
    subjects = min(events, _A_TRACE)
    signals = signals_of(subjects)
    for number in range(max(events // subjects, 1)):
        trace = closed_trace(agent, UUID(int=number + 1))
        await agent.book.bulk_update_from_trace(trace, signals, agent.book.applied_seq + 1)
        clock.advance(seconds=60)


def _replay(agent: Agent) -> Callable[[], Coroutine[Any, Any, None]]:
    async def replay() -> None:
        report = await agent.book.verify()
        if report.problems:
            raise RuntimeError(f"the store that was replayed is not whole: {report.problems[0]}")

    return replay


def _open(agent: Agent, before: Callable[[Path], None] | None = None) -> Callable[[], Coroutine[Any, Any, float]]:
    """Return what opens the store again and returns the seconds; the check in the background is not waited for."""

    async def open_again() -> float:
        await agent.book.close()
        if before is not None:
            before(agent.home.state / "trust.db")
        begin = perf_counter()
        await agent.book.open()
        return perf_counter() - begin

    return open_again


def _uncheckpointed(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM marks WHERE key = 'checkpoint'")


def _reads(path: Path) -> Callable[[], None]:
    def read() -> None:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            for _row in connection.execute("SELECT * FROM events ORDER BY seq"):
                pass

    return read
