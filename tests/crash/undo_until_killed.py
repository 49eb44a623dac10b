"""Handles one message in a process that kills itself at a chosen point: `HOME_DIR MESSAGE POINT`.

Points are before each change of a file by name that an action or an undo makes, and after each commit of an undo.
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
from myclaw_core.files import handles
from myclaw_core.paths import Home
from myclaw_core.testing import FakeClock, RecordingChannel

CHANGES = ("rename", "unlink", "rmdir")


class Points:
    """Counts the points of a run and dies at one of them."""

    def __init__(self, fatal: int) -> None:
        self._left = fatal

    def reach(self) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


class CountedOs:
    """The module `os` with points before what changes a file by name."""

    def __init__(self, points: Points) -> None:
        self._points = points

    def __getattr__(self, name: str) -> Any:
        plain = getattr(os, name)
        if name not in CHANGES:
            return plain

        def change(*args: Any, **options: Any) -> Any:
            self._points.reach()
            return plain(*args, **options)

        return change


def put_after_commits(store: Any, points: Points) -> None:
    plain_transaction = store.transaction

    @asynccontextmanager
    async def transaction() -> AsyncIterator[Any]:
        async with plain_transaction() as tx:
            yield tx
        points.reach()

    store.transaction = transaction


async def run(folder: Path, message: str, fatal: int) -> None:
    clock = FakeClock()
    points = Points(fatal)
    async with Agent.open(Home.at(folder), clock=clock) as agent:
        handles.os = CountedOs(points)  # type: ignore[attr-defined]
        if message.startswith("/undo"):
            put_after_commits(agent.log._store, points)
        desk = SessionDesk(
            agent,
            RecordingChannel(clock),
            sender="test:me",
            roots=agent.standing_roots,
            cwd=str(agent.home.workspace),
            level="supervised",
        )
        await desk.handle(message)


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
