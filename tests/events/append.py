"""Appends pairs of events to the log in FOLDER and prints the first seq of each once both are committed."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from myclaw_sqlite.event_store import SqliteEventStore

from myclaw_core.clock import SystemClock
from myclaw_core.events.keys import load_or_create_key
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import PluginFault


async def main(folder: Path, count: int, writer: str) -> None:
    key = load_or_create_key(folder / "log.key")
    log = EventLog(SqliteEventStore(folder / "events.db"), key, SystemClock(), anchor=folder / "events.anchor")
    await log.open()
    for number in range(count):
        async with log.transaction() as tx:
            seq = await tx.append(PluginFault(plugin=writer, hook="load", detail=f"number {number} " * 20))
            await tx.put("test", "last", str(seq).encode())
            await tx.append(PluginFault(plugin=writer, hook="load", detail="second of its transaction"))
        print(seq, flush=True)
        if number % 5 == 4:
            await log.checkpoint()
    await log.close()


asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]))
