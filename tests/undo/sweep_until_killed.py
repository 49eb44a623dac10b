"""Sweeps a store in a process that kills itself at a chosen point: `FOLDER TIME POINT`; sweeps without end at -1.

Points are before and after each commit of the log and each removal of a file.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from myclaw_sqlite.event_store import SqliteEventStore

from myclaw_core.events.log import EventLog
from myclaw_core.testing import FakeClock
from myclaw_core.undo.sweep import UndoSweeper


class Points:
    """Counts the points of a run and dies at one of them."""

    def __init__(self, fatal: int) -> None:
        self._left = fatal

    def reach(self) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def put_around(store: SqliteEventStore, points: Points) -> None:
    plain_transaction, plain_unlink = store.transaction, Path.unlink

    @asynccontextmanager
    async def transaction() -> AsyncIterator[Any]:
        async with plain_transaction() as tx:
            yield tx
            points.reach()
        points.reach()

    def unlink(path: Path, **options: Any) -> None:
        points.reach()
        plain_unlink(path, **options)
        points.reach()

    store.transaction = transaction  # type: ignore[method-assign]
    Path.unlink = unlink  # type: ignore[method-assign]


async def run(folder: Path, clock: FakeClock, fatal: int) -> None:
    store = SqliteEventStore(folder / "events.db")
    log = EventLog(store, bytes(32), clock)
    await log.open()
    sweeper = UndoSweeper(log=log, root=folder / "undo", clock=clock, keep_days=30)
    if fatal < 0:
        await sweeper.sweep()
        os.write(int(os.environ["FD"]), b"!")
        while True:
            await sweeper.sweep()
    put_around(store, Points(fatal))
    await sweeper.sweep()
    await log.close()


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1]), FakeClock(datetime.fromisoformat(sys.argv[2])), int(sys.argv[3])))
