"""Runs one turn in a process that kills itself at a chosen point: `HOME_DIR POINT`.

Points are counted over the whole turn: before and after each commit of the core database and of the trust store, and
before and after the tool's own change of the file. The number of points is printed by a run that is not killed.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from myclaw_core.agent import Agent
from myclaw_core.desk import SessionDesk
from myclaw_core.files.access import PinnedFiles
from myclaw_core.paths import Home
from myclaw_core.testing import FakeClock, RecordingChannel


class Points:
    """Counts the points of a run and dies at one of them."""

    def __init__(self, fatal: int) -> None:
        self.fatal = fatal
        self.names: list[str] = []

    def reach(self, name: str) -> None:
        self.names.append(name)
        if len(self.names) == self.fatal:
            sys.stdout.write(f"killed at {name}\n")
            sys.stdout.flush()
            os.kill(os.getpid(), signal.SIGKILL)


def instrument(agent: Agent, points: Points) -> None:
    """Put points around every commit and around the change of a file."""
    put_around_commits(agent.log._store, points, "the log")
    put_around_commits(agent.book._backend, points, "trust")
    plain_apply = PinnedFiles.apply

    def apply(self: PinnedFiles, change: Any) -> None:
        points.reach("before the file changes")
        plain_apply(self, change)
        points.reach("after the file changed")

    PinnedFiles.apply = apply  # type: ignore[method-assign]


def put_around_commits(store: Any, points: Points, what: str) -> None:
    plain_transaction = store.transaction

    @asynccontextmanager
    async def transaction() -> AsyncIterator[Any]:
        async with plain_transaction() as tx:
            yield tx
            points.reach(f"before a commit of {what}")
        points.reach(f"after a commit of {what}")

    store.transaction = transaction


async def run(folder: Path, fatal: int) -> None:
    clock = FakeClock()
    points = Points(fatal)
    async with Agent.open(Home.at(folder), clock=clock) as agent:
        instrument(agent, points)
        desk = SessionDesk(
            agent,
            RecordingChannel(clock),
            sender="test:me",
            roots=agent.standing_roots,
            cwd=str(agent.home.workspace),
            level="supervised",
        )
        await desk.handle("Add a line to log.md")
        sys.stdout.write(f"{len(points.names)}\n")


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1]), int(sys.argv[2])))
