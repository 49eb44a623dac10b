"""Appends to the store named on the command line, prints each kept seq, then the error that ended it."""

import asyncio
import sys
from pathlib import Path

from myclaw_sqlite.event_store import SqliteEventStore

from myclaw_core.errors import StoreError
from myclaw_core.events.store import Head


async def main() -> None:
    store = SqliteEventStore(Path(sys.argv[1]))
    await store.open()
    seq = 0
    try:
        while True:
            seq += 1
            head = Head(seq=seq, at="2026-01-05T09:00:00Z", type="t", trace_id="", body_sha256=b"", mac=b"")
            async with store.transaction() as tx:
                await tx.append(head, b"x" * 20_000)
            print(seq)
    except StoreError as error:
        print(error)
    await store.close()


asyncio.run(main())
