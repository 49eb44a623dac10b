"""Reserves calls of one cent until the ledger in FOLDER refuses; prints how many; dies by SIGKILL if told to."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from myclaw_sqlite.event_store import SqliteEventStore

from myclaw_core.budget.ledger import BudgetRefusedError, Ledger
from myclaw_core.budget.prices import PriceTable
from myclaw_core.config import Price
from myclaw_core.events.log import EventLog
from myclaw_core.testing import FakeClock


async def main(folder: Path, dies: bool) -> None:
    clock = FakeClock(datetime(2026, 1, 5, 11, 0, tzinfo=UTC))
    log = EventLog(SqliteEventStore(folder / "events.db"), bytes(32), clock)
    await log.open()
    prices = PriceTable({"euro": Price(input=10_000.0, cached=1_000.0, output=10_000.0)})
    ledger = Ledger(log, clock, usd_per_eur=1.0, prices=prices, zone=UTC)

    async def reserve() -> None:
        await ledger.reserve(
            call_id=uuid4(),
            model="euro",
            free=False,
            purpose="answer",
            input_tokens_bound=1,
            max_output_tokens=0,
            past_soft_ok=True,
        )

    results = await asyncio.gather(*(reserve() for _ in range(20)), return_exceptions=True)
    assert all(result is None or isinstance(result, BudgetRefusedError) for result in results), results
    print(results.count(None), flush=True)
    if dies:
        os.kill(os.getpid(), signal.SIGKILL)
    sys.stdin.readline()
    await log.close()


asyncio.run(main(Path(sys.argv[1]), sys.argv[2:] == ["dies"]))
