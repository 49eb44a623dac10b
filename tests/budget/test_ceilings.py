"""Heartbeats and nightly work have a daily ceiling of their own, within the caps."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from spoken import untranslatable

from myclaw_core.budget.ledger import BudgetRefusedError, Ledger
from myclaw_core.errors import ConfigError
from myclaw_core.events.log import EventLog
from myclaw_core.testing import FakeClock

NewLedger = Callable[..., Ledger]
CEILINGS = {"heartbeat": 0.25, "nightly": 0.5}


@pytest.fixture
def ledger(new_ledger: NewLedger) -> Ledger:
    """Return a ledger with ceilings."""
    return new_ledger(ceilings_eur=CEILINGS)


async def pay(till: Any, ledger: Ledger, cents: int, activity: str) -> None:
    """Make a call that costs what it may cost."""
    await till.settle(ledger, await till.reserve(ledger, cents, activity=activity), cents)


async def test_a_refusal_names_the_ceiling_its_setting_what_is_spent_and_when_it_resets(
    ledger: Ledger, till: Any
) -> None:
    """Of that activity alone."""
    await pay(till, ledger, 100, "turn")
    await pay(till, ledger, 20, "heartbeat")
    await till.reserve(ledger, 4, activity="heartbeat")
    with pytest.raises(BudgetRefusedError) as refused:
        await till.reserve(ledger, 2, activity="heartbeat")
    assert str(refused.value) == (
        "this could cost up to 0.0200 € and pass the ceiling of heartbeats, 0.25 € a day ([budget] heartbeat_eur):"
        " 0.2000 € spent, 0.0400 € reserved; the budget resets at 2026-01-06 00:00"
    )
    assert untranslatable(refused.value.text) == []
    with pytest.raises(BudgetRefusedError, match=r"ceiling of nightly work, 0\.50 € a day \(\[budget\] nightly_eur\)"):
        await till.reserve(ledger, 51, activity="nightly")


async def test_what_is_spent_otherwise_leaves_a_ceiling_alone(ledger: Ledger, till: Any, clock: FakeClock) -> None:
    """And a full ceiling leaves the person alone; the next day has a new one."""
    for activity in ("turn", "schedule", "nightly"):
        await pay(till, ledger, 50, activity)
    await pay(till, ledger, 25, "heartbeat")
    for activity in ("heartbeat", "nightly"):
        with pytest.raises(BudgetRefusedError):
            await till.reserve(ledger, 1, activity=activity)
    await pay(till, ledger, 200, "turn")
    clock.advance(days=1)
    await pay(till, ledger, 25, "heartbeat")


async def test_the_hard_cap_is_told_before_a_ceiling(ledger: Ledger, till: Any) -> None:
    """It is the one that no setting of the ceiling would lift."""
    await pay(till, ledger, 490, "turn")
    with pytest.raises(BudgetRefusedError, match="hard cap"):
        await till.reserve(ledger, 30, activity="heartbeat")


async def test_an_action_that_spends_counts_against_the_ceiling_too(ledger: Ledger, log: EventLog) -> None:
    """It is refused with its intent, so nothing of that is kept."""
    async with log.transaction() as tx:
        await ledger.hold(tx, UUID(int=1), 0.2, activity="heartbeat")
    with pytest.raises(BudgetRefusedError, match="ceiling of heartbeats"):
        async with log.transaction() as tx:
            await ledger.hold(tx, UUID(int=2), 0.06, activity="heartbeat")
    async with log.transaction() as tx:
        await ledger.hold(tx, UUID(int=3), 0.06)


async def test_a_ceiling_of_nothing_lets_only_free_calls_through(new_ledger: NewLedger, till: Any) -> None:
    """Heartbeats on a model of this machine need no budget."""
    ledger = new_ledger(ceilings_eur={"heartbeat": 0.0})
    with pytest.raises(BudgetRefusedError, match=r"ceiling of heartbeats, 0\.00 €"):
        await till.reserve(ledger, 1, activity="heartbeat")
    await till.settle(ledger, await till.reserve(ledger, 10**6, activity="heartbeat", free=True), 10)


async def test_a_day_of_heartbeats_with_nothing_to_do_stays_below_the_ceiling(
    ledger: Ledger, clock: FakeClock, till: Any
) -> None:
    """One every half hour, each of which costs a cent, over three local days."""
    refused = 0
    for _ in range(96):
        try:
            await pay(till, ledger, 1, "heartbeat")
        except BudgetRefusedError:
            refused += 1
        clock.advance(minutes=30)
    spent = [book.spent for book in await ledger.books(3)]
    assert spent == [240_000, 250_000, 240_000]
    assert refused == 96 - sum(spent) // 10_000


async def test_the_standing_names_each_limit_with_what_is_left(ledger: Ledger, till: Any) -> None:
    """What is under way is not left any more."""
    await pay(till, ledger, 250, "turn")
    await pay(till, ledger, 10, "heartbeat")
    await till.reserve(ledger, 5, activity="heartbeat")
    limits = (await ledger.standing()).limits
    assert [
        (each.name, each.source, each.limit_eur, each.spent_eur, each.reserved_eur, each.left_eur) for each in limits
    ] == [
        ("soft", "[budget] soft_eur", 2.0, 2.6, 0.05, 0.0),
        ("hard", "[budget] hard_eur", 5.0, 2.6, 0.05, 2.35),
        ("heartbeat", "[budget] heartbeat_eur", 0.25, 0.1, 0.05, 0.1),
        ("nightly", "[budget] nightly_eur", 0.5, 0.0, 0.0, 0.5),
    ]


@pytest.mark.parametrize("eur", [-0.01, float("nan"), float("inf")])
def test_a_ceiling_that_is_no_amount_is_refused(new_ledger: NewLedger, eur: float) -> None:
    """With the settings to look at."""
    with pytest.raises(ConfigError, match=r"\[budget\] heartbeat_eur and nightly_eur: give 0 or more") as refused:
        new_ledger(ceilings_eur={"nightly": eur})
    assert untranslatable(refused.value.text) == []


STEPS = st.lists(
    st.tuples(
        st.integers(0, 1), st.sampled_from(["turn", "heartbeat", "nightly"]), st.integers(1, 40), st.integers(0, 100)
    ),
    max_size=14,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
async def test_no_interleaving_passes_a_ceiling_or_a_cap(
    new_ledger: NewLedger, clock: FakeClock, till: Any, steps: list[tuple[int, str, int, int]]
) -> None:
    """All calls are under way at once, over two ledgers that do not know of each other."""
    clock.advance(days=1)
    ledgers = [new_ledger(soft_eur=0.5, hard_eur=1.0, ceilings_eur=CEILINGS) for _ in range(2)]

    async def call(which: int, activity: str, cents: int, used_percent: int) -> None:
        ledger = ledgers[which]
        try:
            reservation = await till.reserve(ledger, cents, activity=activity)
        except BudgetRefusedError:
            return
        await asyncio.sleep(0)
        await till.settle(ledger, reservation, cents * used_percent // 100)

    await asyncio.gather(*(call(*step) for step in steps))
    for each in (await ledgers[0].standing()).limits:
        if each.name != "soft":
            assert each.spent_eur + each.reserved_eur <= each.limit_eur
