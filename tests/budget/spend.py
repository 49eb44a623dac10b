"""Makes 20 calls of one cent each at once from the ledger in FOLDER, each reserved and, with `pays`, booked.

Prints as JSON how many there were and which notices came; then it waits for a line, or dies by SIGKILL where `dies`.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from myclaw_sqlite.event_store import SqliteEventStore

from myclaw_core.budget.account import ACTIVITIES
from myclaw_core.budget.ledger import BudgetRefusedError, Ledger
from myclaw_core.budget.prices import PriceTable
from myclaw_core.config import Price
from myclaw_core.events.log import EventLog
from myclaw_core.runtime.types import Usage
from myclaw_core.testing import FakeClock


async def main(folder: Path, words: Collection[str]) -> None:
    clock = FakeClock(datetime(2026, 1, 5, 11, 0, tzinfo=UTC))
    log = EventLog(SqliteEventStore(folder / "events.db"), bytes(32), clock)
    await log.open()
    prices = PriceTable({"euro": Price(input=10_000.0, cached=1_000.0, output=10_000.0)})
    ledger = Ledger(log, clock, ceilings_eur={"heartbeat": 0.25}, usd_per_eur=1.0, prices=prices, zone=UTC)
    activity = next((each for each in ACTIVITIES if each in words), "turn")
    notices: list[str] = []

    async def call() -> None:
        reservation = await ledger.reserve(
            call_id=uuid4(),
            model="euro",
            free=False,
            purpose="answer",
            activity=activity,
            level="full",
            input_tokens_bound=1,
            max_output_tokens=0,
            past_soft_ok=True,
        )
        if "pays" in words:
            async with log.transaction() as tx:
                booked = await ledger.settle(tx, reservation, Usage(input_tokens=1))
            notices.extend(map(str, booked.notices))

    results = await asyncio.gather(*(call() for _ in range(20)), return_exceptions=True)
    assert all(result is None or isinstance(result, BudgetRefusedError) for result in results), results
    print(json.dumps({"made": results.count(None), "notices": notices}), flush=True)
    if "dies" in words:
        os.kill(os.getpid(), signal.SIGKILL)
    sys.stdin.readline()
    await log.close()


asyncio.run(main(Path(sys.argv[1]), sys.argv[2:]))
