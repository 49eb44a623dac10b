"""Ledgers over one real database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest
from myclaw_sqlite.event_store import SqliteEventStore

from myclaw_core.budget.ledger import Booked, Ledger, Reservation
from myclaw_core.budget.prices import PriceTable
from myclaw_core.config import Price
from myclaw_core.events.log import EventLog
from myclaw_core.runtime.types import Usage
from myclaw_core.testing import FakeClock

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.fixture
def clock() -> FakeClock:
    """Return a clock that shows noon in Berlin."""
    return FakeClock(datetime(2026, 1, 5, 11, 0, tzinfo=UTC))


@pytest.fixture
async def log(tmp_path: Path, clock: FakeClock) -> AsyncIterator[EventLog]:
    """Return an open log."""
    log = EventLog(SqliteEventStore(tmp_path / "events.db"), bytes(32), clock)
    await log.open()
    yield log
    await log.close()


@pytest.fixture
def new_ledger(log: EventLog, clock: FakeClock) -> Callable[..., Ledger]:
    """Return a maker of ledgers; a token of model `euro` costs a cent, cached a tenth of it."""
    prices = PriceTable({"euro": Price(input=10_000.0, cached=1_000.0, output=10_000.0)})

    def make(**changes: Any) -> Ledger:
        options = {"soft_eur": 2.0, "hard_eur": 5.0, "usd_per_eur": 1.0, "prices": prices, "zone": BERLIN, **changes}
        return Ledger(log, clock, **options)

    return make


@pytest.fixture
def ledger(new_ledger: Callable[..., Ledger]) -> Ledger:
    """Return a ledger with the usual caps."""
    return new_ledger()


class Till:
    """Makes calls that cost whole cents."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    async def reserve(self, ledger: Ledger, cents: int, *, past_soft_ok: bool = True, **changes: Any) -> Reservation:
        options = {
            "call_id": uuid4(),
            "model": "euro",
            "free": False,
            "purpose": "answer",
            "input_tokens_bound": cents,
            "max_output_tokens": 0,
            "past_soft_ok": past_soft_ok,
            **changes,
        }
        return await ledger.reserve(**options)

    async def settle(
        self, ledger: Ledger, reservation: Reservation, cents: int | None, *, may_have_spent: bool = True
    ) -> Booked:
        usage = None if cents is None else Usage(output_tokens=cents)
        async with self._log.transaction() as tx:
            return await ledger.settle(tx, reservation, usage, may_have_spent=may_have_spent)

    async def pay(self, ledger: Ledger, cents: int) -> Booked:
        return await self.settle(ledger, await self.reserve(ledger, cents), cents)


@pytest.fixture
def till(log: EventLog) -> Till:
    """Return what makes calls."""
    return Till(log)
