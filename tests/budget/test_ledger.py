"""The budget of one day: reserved before a call, booked after it, never passed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from spoken import untranslatable

from myclaw_core import codec
from myclaw_core.budget.book import Hold, add_hold
from myclaw_core.budget.ledger import BudgetRefusedError, Ledger, SoftCapReached
from myclaw_core.budget.prices import PriceTable
from myclaw_core.config import Price
from myclaw_core.errors import ConfigError
from myclaw_core.events.log import EventLog
from myclaw_core.runtime.types import Usage
from myclaw_core.testing import FakeClock

NewLedger = Callable[..., Ledger]


async def test_a_call_reserves_its_worst_case_and_books_what_it_cost(ledger: Ledger, till: Any) -> None:
    reservation = await till.reserve(ledger, 100, max_output_tokens=20)
    standing = await ledger.standing()
    assert (standing.spent_eur, standing.reserved_eur) == (0.0, 1.2)
    booked = await till.settle(ledger, reservation, 30)
    assert (booked.cost_usd, booked.cost_eur, booked.notices) == (0.3, 0.3, ())
    standing = await ledger.standing()
    assert (standing.spent_eur, standing.reserved_eur) == (0.3, 0.0)
    assert (standing.soft_eur, standing.hard_eur) == (2.0, 5.0)
    assert standing.resets_at == datetime(2026, 1, 5, 23, 0, tzinfo=UTC)


async def test_an_action_is_set_aside_with_its_intent_and_booked_or_released_with_its_end(
    new_ledger: NewLedger, log: EventLog
) -> None:
    ledger = new_ledger(usd_per_eur=1.25)
    done, failed = UUID(int=1), UUID(int=2)
    async with log.transaction() as tx:
        await ledger.hold(tx, done, 1.5)
        await ledger.hold(tx, failed, 0.25)
    standing = await ledger.standing()
    assert (standing.spent_eur, standing.reserved_eur) == (0.0, 1.75)
    async with log.transaction() as tx:
        booked = await ledger.settle_action(tx, done, spent=True)
        released = await ledger.settle_action(tx, failed, spent=False)
        again = await ledger.settle_action(tx, done, spent=True)
    assert [(item.cost_eur, item.cost_usd) for item in (booked, released, again)] == [(1.5, 1.875), (0, 0), (0, 0)]
    standing = await ledger.standing()
    assert (standing.spent_eur, standing.reserved_eur) == (1.5, 0.0)


async def test_an_action_that_would_pass_the_hard_cap_by_now_keeps_nothing_of_its_transaction(
    new_ledger: NewLedger, log: EventLog
) -> None:
    """Both were judged while there was room; the second finds it gone when its intent is recorded."""
    one, two = new_ledger(), new_ledger()
    await two.standing()
    async with log.transaction() as tx:
        await one.hold(tx, UUID(int=1), 3.0)
    assert two.objection(1.5, datetime(2026, 1, 5, 11, 0, tzinfo=UTC)) is None

    async def intend() -> None:
        async with log.transaction() as tx:
            await tx.put("approval", "x", b"consumed")
            await two.hold(tx, UUID(int=2), 2.5)

    with pytest.raises(BudgetRefusedError, match="hard cap"):
        await intend()
    assert await log.get("approval", "x") is None
    assert (await two.standing()).reserved_eur == 3.0


@pytest.mark.parametrize("amount", [float("inf"), float("nan"), -1.0])
async def test_what_is_no_amount_is_never_set_aside(ledger: Ledger, log: EventLog, amount: float) -> None:
    with pytest.raises(BudgetRefusedError, match="not an amount of money"):
        async with log.transaction() as tx:
            await ledger.hold(tx, UUID(int=1), amount)


async def test_what_an_action_of_a_dead_process_set_aside_is_booked(ledger: Ledger, log: EventLog) -> None:
    async with log.transaction() as tx:
        await ledger.hold(tx, UUID(int=1), 0.75)
        ((key, kept),) = await tx.scan("budget", "hold:")
        await tx.put("budget", key, codec.dumps(evolve(codec.loads(Hold, kept, key), owner="another-boot:1:1")))
    assert await ledger.recover() == 1
    standing = await ledger.standing()
    assert (standing.spent_eur, standing.reserved_eur) == (0.75, 0.0)


async def test_cached_tokens_have_their_own_price(ledger: Ledger, log: EventLog, till: Any) -> None:
    reservation = await till.reserve(ledger, 200)
    async with log.transaction() as tx:
        booked = await ledger.settle(tx, reservation, Usage(input_tokens=10, cached_tokens=50, output_tokens=7))
    assert booked.cost_eur == pytest.approx(0.1 + 0.05 + 0.07)


async def test_the_exchange_rate_and_rounding_never_book_too_little(new_ledger: NewLedger, till: Any) -> None:
    ledger = new_ledger(usd_per_eur=1.16, prices=PriceTable())
    reservation = await till.reserve(ledger, 1000, model="claude-haiku-5-5")
    booked = await till.settle(ledger, reservation, 1)
    assert (booked.cost_usd, booked.cost_eur) == (0.5e-6, 1e-6)
    reservation = await till.reserve(ledger, 10**6, model="claude-sonnet-5-5")
    assert reservation.worst_micro_eur == 1_724_138
    assert reservation.worst_micro_usd == 2_000_000


async def test_a_worst_case_may_reach_the_hard_cap_and_not_pass_it(ledger: Ledger, till: Any) -> None:
    await till.pay(ledger, 499)
    with pytest.raises(BudgetRefusedError) as refused:
        await till.reserve(ledger, 2)
    assert str(refused.value) == (
        "this could cost up to 0.0200 € and pass the hard cap of 5.00 € a day ([budget] hard_eur):"
        " 4.9900 € spent, 0.0000 € reserved; the budget resets at 2026-01-06 00:00"
    )
    assert untranslatable(refused.value.text) == []
    await till.pay(ledger, 1)
    assert (await ledger.standing()).spent_eur == 5.0
    with pytest.raises(BudgetRefusedError):
        await till.reserve(ledger, 1)


async def test_what_is_reserved_counts_against_the_hard_cap(ledger: Ledger, till: Any) -> None:
    reservation = await till.reserve(ledger, 400)
    with pytest.raises(BudgetRefusedError, match=r"0\.0000 € spent, 4\.0000 € reserved"):
        await till.reserve(ledger, 101)
    await till.settle(ledger, reservation, 10)
    await till.reserve(ledger, 490)


async def test_many_calls_at_once_never_pass_the_hard_cap(ledger: Ledger, till: Any) -> None:
    await till.pay(ledger, 499)
    results = await asyncio.gather(*(till.reserve(ledger, 1) for _ in range(20)), return_exceptions=True)
    refused = [result for result in results if isinstance(result, BudgetRefusedError)]
    assert len(refused) == 19
    standing = await ledger.standing()
    assert standing.spent_eur + standing.reserved_eur == 5.0


async def test_past_the_soft_cap_a_turn_must_be_allowed(ledger: Ledger, till: Any) -> None:
    await till.pay(ledger, 199)
    await till.pay(ledger, 1)
    with pytest.raises(SoftCapReached) as reached:
        await till.reserve(ledger, 1, past_soft_ok=False)
    assert str(reached.value) == (
        "the soft cap of 2.00 € a day ([budget] soft_eur) is reached: 2.0000 € spent;"
        " the budget resets at 2026-01-06 00:00"
    )
    assert reached.value.text.params["cap"] == "2.00"
    assert untranslatable(reached.value.text) == []
    await till.reserve(ledger, 1, past_soft_ok=True)


async def test_the_hard_cap_is_told_before_the_soft_one(ledger: Ledger, till: Any) -> None:
    await till.pay(ledger, 300)
    with pytest.raises(BudgetRefusedError):
        await till.reserve(ledger, 201, past_soft_ok=False)


async def test_a_free_provider_costs_nothing_whatever_its_model(ledger: Ledger, till: Any) -> None:
    await till.pay(ledger, 500)
    reservation = await till.reserve(ledger, 10**9, model="never heard of", free=True, past_soft_ok=False)
    booked = await till.settle(ledger, reservation, 10**9)
    assert (booked.cost_usd, booked.cost_eur) == (0.0, 0.0)
    assert (await till.settle(ledger, reservation, None)).cost_eur == 0.0
    assert (await ledger.standing()).spent_eur == 5.0


async def test_an_unknown_model_is_refused_and_reserves_nothing(ledger: Ledger, till: Any) -> None:
    with pytest.raises(BudgetRefusedError, match="no price is known for the model mystery"):
        await till.reserve(ledger, 1, model="mystery")
    assert (await ledger.standing()).reserved_eur == 0.0


async def test_a_call_that_failed_books_its_worst_case_if_it_may_have_spent(ledger: Ledger, till: Any) -> None:
    worst = await till.settle(ledger, await till.reserve(ledger, 100), None)
    assert (worst.cost_usd, worst.cost_eur) == (1.0, 1.0)
    nothing = await till.settle(ledger, await till.reserve(ledger, 100), None, may_have_spent=False)
    assert (nothing.cost_usd, nothing.cost_eur) == (0.0, 0.0)
    senseless = await till.settle(ledger, await till.reserve(ledger, 100), -5)
    assert senseless.cost_eur == 1.0
    standing = await ledger.standing()
    assert (standing.spent_eur, standing.reserved_eur) == (2.0, 0.0)


async def test_a_call_that_cost_more_than_its_bound_is_booked_as_it_was(ledger: Ledger, till: Any) -> None:
    assert (await till.settle(ledger, await till.reserve(ledger, 10), 600)).cost_eur == 6.0
    with pytest.raises(BudgetRefusedError):
        await till.reserve(ledger, 1)


async def test_a_call_without_any_bound_is_booked_all_the_same(ledger: Ledger, till: Any) -> None:
    assert (await till.settle(ledger, await till.reserve(ledger, 0), 30)).cost_eur == 0.3
    assert (await ledger.standing()).spent_eur == 0.3


async def test_a_model_that_the_user_prices_at_nothing_needs_no_leave(new_ledger: NewLedger, till: Any) -> None:
    free = Price(input=0.0, cached=0.0, output=0.0)
    ledger = new_ledger(soft_eur=0.0, hard_eur=0.0, prices=PriceTable({"own": free}))
    reservation = await till.reserve(ledger, 10**6, model="own", past_soft_ok=False)
    assert (await till.settle(ledger, reservation, 10**6)).cost_eur == 0.0


async def test_a_call_is_booked_once_however_often_it_is_settled(ledger: Ledger, till: Any) -> None:
    reservation = await till.reserve(ledger, 100)
    for _ in range(2):
        assert (await till.settle(ledger, reservation, 40)).cost_eur == 0.4
    assert (await ledger.standing()).spent_eur == 0.4


async def test_a_settlement_that_is_rolled_back_stays_reserved(ledger: Ledger, log: EventLog, till: Any) -> None:
    reservation = await till.reserve(ledger, 100)

    async def fail() -> None:
        async with log.transaction() as tx:
            await ledger.settle(tx, reservation, Usage(output_tokens=40))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    standing = await ledger.standing()
    assert (standing.spent_eur, standing.reserved_eur) == (0.0, 1.0)


async def test_each_notice_is_given_once_a_day(
    ledger: Ledger, new_ledger: NewLedger, clock: FakeClock, till: Any
) -> None:
    assert (await till.pay(ledger, 159)).notices == ()
    (soft,) = (await till.pay(ledger, 1)).notices
    assert str(soft) == "1.60 € of the soft cap of 2.00 € a day are spent"
    other = new_ledger()
    assert (await till.pay(other, 50)).notices == ()
    (hard,) = (await till.pay(other, 200)).notices
    assert str(hard) == "4.10 € of the hard cap of 5.00 € a day are spent"
    assert [*untranslatable(soft), *untranslatable(hard)] == []
    assert (await till.pay(ledger, 10)).notices == ()
    clock.advance(days=1)
    assert len((await till.pay(ledger, 450)).notices) == 2


async def test_a_restart_keeps_what_was_spent_and_reserved(new_ledger: NewLedger, till: Any) -> None:
    await till.pay(new_ledger(), 150)
    reservation = await till.reserve(new_ledger(), 100)
    again = new_ledger()
    assert await again.recover() == 0
    standing = await again.standing()
    assert (standing.spent_eur, standing.reserved_eur) == (1.5, 1.0)
    await till.settle(again, reservation, 20)
    assert (await again.standing()).spent_eur == 1.7


@pytest.mark.parametrize("owner", ["", "elsewhere:1:1", "junk", "other-boot:1:0"])
async def test_what_a_dead_process_reserved_is_booked_at_its_worst_case(
    ledger: Ledger, log: EventLog, till: Any, owner: str
) -> None:
    mine = await till.reserve(ledger, 50)
    async with log.transaction() as tx:
        await add_hold(tx, Hold(call_id=UUID(int=1), day="2026-01-05", amount=300_000, owner=owner))
        await add_hold(tx, Hold(call_id=UUID(int=2), day="2026-01-04", amount=700_000, owner=owner))
    assert await ledger.recover() == 2
    standing = await ledger.standing()
    assert (standing.spent_eur, standing.reserved_eur) == (0.3, 0.5)
    assert await ledger.recover() == 0
    await till.settle(ledger, mine, 50)
    assert (await ledger.standing()).spent_eur == 0.8


async def test_the_day_turns_at_local_midnight(ledger: Ledger, clock: FakeClock, till: Any) -> None:
    clock.set(datetime(2026, 1, 5, 22, 59, 59, tzinfo=UTC))
    await till.pay(ledger, 500)
    with pytest.raises(BudgetRefusedError):
        await till.reserve(ledger, 1)
    clock.set(datetime(2026, 1, 5, 23, 0, tzinfo=UTC))
    assert (await ledger.standing()).spent_eur == 0.0
    await till.pay(ledger, 500)
    clock.set(datetime(2026, 1, 6, 0, 30, tzinfo=UTC))  # midnight in Greenwich is none here
    with pytest.raises(BudgetRefusedError):
        await till.reserve(ledger, 1)


async def test_a_call_over_midnight_is_booked_on_the_day_it_began(ledger: Ledger, clock: FakeClock, till: Any) -> None:
    clock.set(datetime(2026, 1, 5, 22, 59, tzinfo=UTC))
    reservation = await till.reserve(ledger, 500)
    clock.advance(minutes=2)
    assert (await ledger.standing()).reserved_eur == 0.0
    await till.settle(ledger, reservation, 500)
    assert (await ledger.standing()).spent_eur == 0.0
    await till.pay(ledger, 500)


async def test_a_clock_set_back_over_midnight_gives_no_second_budget(
    ledger: Ledger, clock: FakeClock, till: Any
) -> None:
    await till.pay(ledger, 500)
    for _ in range(2):
        clock.set(datetime(2026, 1, 5, 23, 30, tzinfo=UTC))
        spent = (await ledger.standing()).spent_eur
        if spent == 0.0:
            await till.pay(ledger, 500)
        with pytest.raises(BudgetRefusedError):
            await till.reserve(ledger, 1)
        clock.set(datetime(2026, 1, 5, 22, 30, tzinfo=UTC))
        assert (await ledger.standing()).spent_eur == 5.0
        with pytest.raises(BudgetRefusedError):
            await till.reserve(ledger, 1)


async def test_a_clock_far_ahead_and_back_leaves_the_days_as_they_were(
    ledger: Ledger, clock: FakeClock, till: Any
) -> None:
    await till.pay(ledger, 100)
    clock.advance(days=3652)
    await till.pay(ledger, 500)
    clock.set(datetime(2026, 1, 5, 12, 0, tzinfo=UTC))
    assert (await ledger.standing()).spent_eur == 1.0
    clock.advance(days=1)
    assert (await ledger.standing()).spent_eur == 0.0


@pytest.mark.parametrize(
    ("zone", "now", "resets_at"),
    [
        ("Europe/Berlin", "2026-03-28T23:30Z", "2026-03-29T22:00Z"),  # 23 hours
        ("Europe/Berlin", "2026-10-24T22:30Z", "2026-10-25T23:00Z"),  # 25 hours
        ("Asia/Beirut", "2026-03-28T20:00Z", "2026-03-28T22:00Z"),  # midnight is skipped
        ("America/Havana", "2026-11-01T03:30Z", "2026-11-01T04:00Z"),  # midnight comes twice
        ("Pacific/Kiritimati", "2026-01-05T09:00Z", "2026-01-05T10:00Z"),
    ],
)
async def test_a_day_has_23_to_25_hours_and_one_reset(
    new_ledger: NewLedger, clock: FakeClock, till: Any, zone: str, now: str, resets_at: str
) -> None:
    ledger = new_ledger(zone=ZoneInfo(zone))
    clock.set(datetime.fromisoformat(now))
    await till.pay(ledger, 100)
    standing = await ledger.standing()
    assert standing.resets_at == datetime.fromisoformat(resets_at)
    clock.set(standing.resets_at)
    clock.advance(microseconds=-1)
    assert (await ledger.standing()).spent_eur == 1.0
    resets = 0
    for _ in range(8):
        clock.advance(minutes=15)
        spent = (await ledger.standing()).spent_eur
        if spent == 0.0:
            resets += 1
            await till.pay(ledger, 100)
    assert resets == 1


@pytest.mark.parametrize(
    "options",
    [
        {"soft_eur": -1.0},
        {"soft_eur": 6.0},
        {"hard_eur": float("nan")},
        {"hard_eur": float("inf")},
        {"soft_eur": float("nan")},
        {"usd_per_eur": 0.0},
        {"usd_per_eur": -1.0},
        {"usd_per_eur": float("nan")},
        {"usd_per_eur": float("inf")},
    ],
)
def test_caps_and_rates_that_make_no_sense_are_refused(new_ledger: NewLedger, options: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=r"\[budget\]") as refused:
        new_ledger(**options)
    assert untranslatable(refused.value.text) == []


async def test_a_cap_of_nothing_lets_nothing_through(new_ledger: NewLedger, till: Any) -> None:
    with pytest.raises(BudgetRefusedError):
        await till.reserve(new_ledger(soft_eur=0.0, hard_eur=0.0), 1)
    with pytest.raises(SoftCapReached):
        await till.reserve(new_ledger(soft_eur=0.0), 1, past_soft_ok=False)


async def test_negative_bounds_are_a_mistake_of_the_caller(ledger: Ledger, till: Any) -> None:
    with pytest.raises(ValueError, match="cannot be negative"):
        await till.reserve(ledger, -1)


async def test_an_action_that_spends_is_judged_against_the_day(ledger: Ledger, clock: FakeClock, till: Any) -> None:
    now = clock.now()
    assert ledger.objection(0.0, now) is None
    unread = ledger.objection(0.01, now)
    assert unread is not None
    assert unread[0] == "approve_required"
    await ledger.recover()
    assert ledger.objection(2.0, now) is None
    await till.pay(ledger, 150)
    assert ledger.objection(0.5, now) is None
    soft = ledger.objection(0.51, now)
    assert soft is not None
    assert soft[0] == "approve_required"
    assert "soft cap" in str(soft[1])
    reservation = await till.reserve(ledger, 200)
    hard = ledger.objection(1.51, now)
    assert hard is not None
    assert hard[0] == "deny"
    assert "2.0000 € reserved" in str(hard[1])
    assert [one for _, text in (unread, soft, hard) for one in untranslatable(text)] == []
    await till.settle(ledger, reservation, 0)
    clock.advance(days=1)
    assert ledger.objection(2.0, clock.now()) is None
    assert ledger.objection(0.0, clock.now()) is None


@pytest.mark.parametrize("cost", [float("nan"), float("inf"), -0.01])
async def test_a_cost_that_is_no_amount_is_denied(ledger: Ledger, clock: FakeClock, cost: float) -> None:
    await ledger.recover()
    objection = ledger.objection(cost, clock.now())
    assert objection is not None
    assert objection[0] == "deny"
    assert untranslatable(objection[1]) == []


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(calls=st.lists(st.tuples(st.integers(1, 200), st.integers(0, 100)), max_size=12))
async def test_spent_and_reserved_never_pass_the_hard_cap(
    ledger: Ledger, clock: FakeClock, till: Any, calls: list[tuple[int, int]]
) -> None:
    clock.advance(days=1)
    model = 0
    for bound, used_percent in calls:
        if model + bound > 500:
            with pytest.raises(BudgetRefusedError):
                await till.reserve(ledger, bound)
            continue
        await till.settle(ledger, await till.reserve(ledger, bound), bound * used_percent // 100)
        model += bound * used_percent // 100
    assert (await ledger.standing()).spent_eur == model / 100
