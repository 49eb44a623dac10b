"""Lets processes reach for one held message at the same moment, again and again: `FOLDER ROUNDS`.

A line a round tells what each of them got.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from uuid import UUID

from attrs import evolve
from myclaw_sqlite.event_store import SqliteEventStore

from myclaw_core.clock import SystemClock
from myclaw_core.events.log import EventLog
from myclaw_core.outbox import records
from myclaw_core.outbox.outbox import Outbox
from myclaw_core.outbox.types import OutboxMessage
from myclaw_core.process import this_process

SENDERS = 2
RECALLERS = 2


def opened(folder: Path) -> EventLog:
    return EventLog(SqliteEventStore(folder / "events.db"), b"k" * 32, SystemClock())


async def hold(folder: Path, number: int) -> None:
    log, clock = opened(folder), SystemClock()
    await log.open()
    message = OutboxMessage(
        id=UUID(int=number),
        key=UUID(int=number),
        tool="send",
        args={},
        targets=("post:anna",),
        sender="test:me",
        channel="test",
        trace_id=UUID(int=1),
        step_index=0,
        held_at=clock.now(),
        due_at=clock.now(),
        owner=this_process(),
    )
    async with log.transaction() as tx:
        await records.put(tx, message)
    await log.close()


async def reach(folder: Path, number: int, start: int, *, sends: bool) -> str:
    """Wait for the sign, then send or recall; return what came of it."""
    log, log_clock = opened(folder), SystemClock()
    await log.open()
    outbox = Outbox(log, log_clock, {}, hold_s=10, max_held=10)
    os.read(start, 1)
    if sends:
        async with log.transaction() as tx:
            found = await records.open_message(tx, UUID(int=number))
            put = found and evolve(found, state="held")  # as the process that holds it remembers it
            got = "sending" if put and await records.begin(tx, put, log_clock.now()) else "nothing"
    else:
        got = "recalled" if (await outbox.take_back(UUID(int=number))).back else "nothing"
    await log.close()
    return got


def main(folder: Path, rounds: int) -> None:
    for number in range(1, rounds + 1):
        asyncio.run(hold(folder, number))
        start, go = os.pipe()
        told, tell = os.pipe()
        children = []
        for place in range(SENDERS + RECALLERS):
            child = os.fork()
            if child == 0:
                os.close(go)
                os.write(tell, f"{asyncio.run(reach(folder, number, start, sends=place < SENDERS))} ".encode())
                os._exit(0)
            children.append(child)
        os.close(go)  # all that wait read the end at once
        for child in children:
            os.waitpid(child, 0)
        os.close(tell)
        print(os.read(told, 1000).decode(), flush=True)
        os.close(start)
        os.close(told)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
