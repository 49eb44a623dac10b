"""What a day was spent on: each booking on its account, and together exactly what the day spent."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from myclaw_core import codec
from myclaw_core.budget.account import ACTION, ACTIVITIES, Account
from myclaw_core.budget.book import DayBook, Entry, Hold
from myclaw_core.budget.ledger import BudgetRefusedError, Ledger
from myclaw_core.budget.purposes import TIER_OF_PURPOSE, PurposeUnknownError, tier_of
from myclaw_core.events.log import EventLog
from myclaw_core.runtime.types import Usage
from myclaw_core.testing import FakeClock

NewLedger = Callable[..., Ledger]
ANSWER = Account(tier="frontier", purpose="answer", model="euro")


async def today(ledger: Ledger) -> DayBook:
    """Return the book of the day."""
    (book,) = await ledger.books(1)
    return book


async def test_a_call_is_booked_by_tier_purpose_activity_level_and_model(
    ledger: Ledger, log: EventLog, till: Any
) -> None:
    """With its tokens, as the provider counted them."""
    reservation = await till.reserve(ledger, 300, purpose="judge", activity="nightly", level="read_only")
    async with log.transaction() as tx:
        await ledger.settle(tx, reservation, Usage(input_tokens=10, cached_tokens=50, output_tokens=7))
    account = Account(tier="local-fast", purpose="judge", activity="nightly", level="read_only", model="euro")
    assert (await today(ledger)).entries == (
        Entry(account=account, calls=1, input_tokens=10, cached_tokens=50, output_tokens=7, spent=220_000),
    )


async def test_a_call_that_costs_nothing_is_counted_too(ledger: Ledger, log: EventLog, till: Any) -> None:
    """Also where the day is full."""
    await till.pay(ledger, 500)
    reservation = await till.reserve(ledger, 10**9, model="own", free=True, past_soft_ok=False)
    async with log.transaction() as tx:
        await ledger.settle(tx, reservation, Usage(input_tokens=900, output_tokens=70))
    book = await today(ledger)
    assert book.spent == 5_000_000
    assert book.entries[1] == Entry(account=evolve(ANSWER, model="own"), calls=1, input_tokens=900, output_tokens=70)


async def test_a_call_that_costs_nothing_is_not_spoiled_by_a_day_that_cannot_be_read(
    ledger: Ledger, log: EventLog, till: Any
) -> None:
    """The model on this machine goes on working."""
    async with log.transaction() as tx:
        await tx.put("budget", "day:2026-01-05", b"\xff")
    reservation = await till.reserve(ledger, 10, free=True)
    assert (await till.settle(ledger, reservation, 10)).cost_eur == 0.0


async def test_a_failed_call_counts_as_a_call_without_tokens(ledger: Ledger, till: Any) -> None:
    """With its worst case where it may have been charged for."""
    await till.settle(ledger, await till.reserve(ledger, 100), None)
    await till.settle(ledger, await till.reserve(ledger, 100), None, may_have_spent=False)
    await till.settle(ledger, await till.reserve(ledger, 100), -5)
    assert (await today(ledger)).entries == (Entry(account=ANSWER, calls=3, spent=2_000_000),)


async def test_what_an_action_spends_has_an_account_of_its_own(ledger: Ledger, log: EventLog) -> None:
    """Without tier and model."""
    async with log.transaction() as tx:
        await ledger.hold(tx, UUID(int=1), 0.5, activity="schedule", level="full")
        await ledger.hold(tx, UUID(int=2), 0.5, activity="schedule", level="full")
    async with log.transaction() as tx:
        await ledger.settle_action(tx, UUID(int=1), spent=True)
        await ledger.settle_action(tx, UUID(int=2), spent=False)
    account = Account(purpose=ACTION, activity="schedule", level="full")
    assert (await today(ledger)).entries == (Entry(account=account, calls=1, spent=500_000),)


async def test_a_day_that_an_earlier_version_booked_goes_on(ledger: Ledger, log: EventLog, till: Any) -> None:
    """It spent more than its accounts say, and what is set aside has none."""
    day = {"schema_version": "1.0", "day": "2026-01-05", "spent": 1_500_000, "told": ["soft"]}
    hold = {"schema_version": "1.0", "call_id": str(UUID(int=1)), "day": "2026-01-05", "amount": 250_000, "owner": ""}
    async with log.transaction() as tx:
        await tx.put("budget", "day:2026-01-05", json.dumps(day).encode())
        await tx.put("budget", f"hold:{UUID(int=1)}", json.dumps(hold).encode())
    assert (await till.pay(ledger, 25)).notices == ()
    assert await ledger.recover() == 1
    book = await today(ledger)
    assert book.spent == 2_000_000
    assert [(entry.account, entry.spent) for entry in book.entries] == [(ANSWER, 250_000), (Account(), 250_000)]


async def test_accounts_of_a_later_version_are_kept_apart_and_kept(ledger: Ledger, log: EventLog, till: Any) -> None:
    """An activity that is not known here counts against no ceiling and against the caps."""
    entry = Entry(account=evolve(ANSWER, activity="dreaming", unknown_fields={"mood": "calm"}), calls=1, spent=400)
    async with log.transaction() as tx:
        await tx.put("budget", "day:2026-01-05", codec.dumps(DayBook(day="2026-01-05", spent=400, entries=(entry,))))
    await till.pay(ledger, 1)
    book = await today(ledger)
    assert book.entries[0] == entry
    assert book.spent == 10_400


async def test_the_days_are_told_from_today_backwards(ledger: Ledger, clock: FakeClock, till: Any) -> None:
    """A day without any use is an empty book."""
    await till.pay(ledger, 3)
    clock.advance(days=2)
    await till.pay(ledger, 5)
    assert [(book.day, book.spent) for book in await ledger.books(4)] == [
        ("2026-01-07", 50_000),
        ("2026-01-06", 0),
        ("2026-01-05", 30_000),
        ("2026-01-04", 0),
    ]


@pytest.mark.parametrize("purpose", TIER_OF_PURPOSE)
async def test_the_tier_follows_from_the_purpose(ledger: Ledger, till: Any, purpose: str) -> None:
    """Whatever the model."""
    for model, free in (("euro", False), ("claude-opus-5-5", False), ("own", True)):
        reservation = await till.reserve(ledger, 0, purpose=purpose, model=model, free=free)
        assert reservation.account.tier == tier_of(purpose)


async def test_answers_and_synthesis_are_for_the_frontier_and_judging_is_not() -> None:
    """As the specification has it."""
    frontier = {purpose for purpose, tier in TIER_OF_PURPOSE.items() if tier == "frontier"}
    assert frontier == {"answer", "design-neuron-spec", "neuron", "write-neuron-code"}
    assert {"gate", "classify", "judge", "critic", "reflect"} <= set(TIER_OF_PURPOSE) - frontier


@pytest.mark.parametrize("purpose", ["", "Answer", "frontier", "local-fast", ACTION])
async def test_an_unknown_purpose_is_refused_and_reserves_nothing(ledger: Ledger, till: Any, purpose: str) -> None:
    """Also for a model that costs nothing."""
    for free in (True, False):
        with pytest.raises(PurposeUnknownError, match="no tier is set for model calls with the purpose"):
            await till.reserve(ledger, 1, purpose=purpose, free=free)
    assert (await ledger.standing()).reserved_eur == 0.0


async def test_an_unknown_activity_is_a_mistake_of_the_caller(ledger: Ledger, log: EventLog, till: Any) -> None:
    """A misspelt one would evade its ceiling."""
    with pytest.raises(ValueError, match="'Heartbeat' is no activity; known: turn, schedule, heartbeat, nightly"):
        await till.reserve(ledger, 1, activity="Heartbeat")
    with pytest.raises(ValueError, match="is no activity"):
        async with log.transaction() as tx:
            await ledger.hold(tx, UUID(int=1), 0.1, activity="")  # type: ignore[arg-type]


CALLS = st.fixed_dictionaries(
    {
        "ledger": st.integers(0, 1),
        "purpose": st.sampled_from(["answer", "judge", "digest", ACTION]),
        "activity": st.sampled_from(ACTIVITIES),
        "level": st.sampled_from(["", "read_only", "supervised", "full"]),
        "model": st.sampled_from(["euro", "claude-haiku-5-5"]),
        "bound": st.integers(0, 90),
        "end": st.sampled_from(["booked", "failed", "never sent", "free", "twice", "process died"]),
        "used": st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30)),
    }
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(calls=st.lists(CALLS, max_size=15))
async def test_the_accounts_of_a_day_add_up_to_what_it_spent(
    new_ledger: NewLedger, log: EventLog, clock: FakeClock, calls: list[dict[str, Any]]
) -> None:
    """Over two ledgers, restarts, failures and deaths; each account also has as many calls and tokens as were made."""
    clock.advance(days=1)
    ledgers = [new_ledger(ceilings_eur={"heartbeat": 0.5, "nightly": 1.0}) for _ in range(2)]
    made: Counter[tuple[str, str, str, str]] = Counter()
    tokens = 0
    for call in calls:
        try:
            counted = await _made(ledgers[call["ledger"]], log, call)
        except BudgetRefusedError:
            continue
        tokens += counted
        if not (call["purpose"] == ACTION and call["end"] == "never sent"):
            made[_where(call)] += 1
    book = await today(ledgers[0])
    assert sum(entry.spent for entry in book.entries) == book.spent <= 5_000_000
    assert {_place(entry): entry.calls for entry in book.entries} == made
    assert sum(e.input_tokens + e.cached_tokens + e.output_tokens for e in book.entries) == tokens
    spent_on = Counter[str]()
    for entry in book.entries:
        spent_on[entry.account.activity] += entry.spent
    assert spent_on["heartbeat"] <= 500_000
    assert spent_on["nightly"] <= 1_000_000


def _where(call: dict[str, Any]) -> tuple[str, str, str, str]:
    return call["purpose"], call["activity"], call["level"], "" if call["purpose"] == ACTION else call["model"]


def _place(entry: Entry) -> tuple[str, str, str, str]:
    account = entry.account
    return account.purpose, account.activity, account.level, account.model


async def _made(ledger: Ledger, log: EventLog, call: dict[str, Any]) -> int:
    """Run one call or action to its end and return how many of its tokens were counted."""
    account = {"activity": call["activity"], "level": call["level"]}
    call_id, end = uuid4(), call["end"]
    if call["purpose"] == ACTION:
        async with log.transaction() as tx:
            await ledger.hold(tx, call_id, call["bound"] / 100, **account)
        if end == "process died":
            await _dies(ledger, log)
        async with log.transaction() as tx:
            await ledger.settle_action(tx, call_id, spent=end != "never sent")
        return 0
    reservation = await ledger.reserve(
        call_id=call_id,
        model=call["model"],
        free=end == "free",
        purpose=call["purpose"],
        **account,
        input_tokens_bound=call["bound"],
        max_output_tokens=0,
        past_soft_ok=True,
    )
    if end == "process died":
        await _dies(ledger, log)
        return 0
    fresh, cached, out = (min(used, call["bound"] // 3) for used in call["used"])
    usage = (
        None if end in {"failed", "never sent"} else Usage(input_tokens=fresh, cached_tokens=cached, output_tokens=out)
    )
    for _ in range(2 if end == "twice" else 1):
        async with log.transaction() as tx:
            await ledger.settle(tx, reservation, usage, may_have_spent=end != "never sent")
    return fresh + cached + out if usage else 0


async def _dies(ledger: Ledger, log: EventLog) -> None:
    """Let the process that set the only hold aside be gone, and another one recover."""
    async with log.transaction() as tx:
        for key, raw in await tx.scan("budget", "hold:"):
            await tx.put("budget", key, codec.dumps(evolve(codec.loads(Hold, raw, key), owner="gone:1:1")))
    assert await ledger.recover() == 1
