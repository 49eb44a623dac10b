"""The budget ledger: what costs is paid for before it is done, so that no limit of the day is ever passed.

State lives in the core database; two processes and a restart share it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta, tzinfo
from fractions import Fraction
from typing import Literal
from uuid import UUID

from attrs import evolve

from myclaw_core.budget.account import ACTION, ACTIVITIES, Account, Activity
from myclaw_core.budget.book import DayBook, Hold, Records, add_hold, holds, load_day, save_day, spend, take_hold
from myclaw_core.budget.days import LocalDays
from myclaw_core.budget.estimate import SAMPLE_DAYS, Estimate, estimated, no_estimate
from myclaw_core.budget.limits import Day, Limits, day_of, micro
from myclaw_core.budget.prices import PriceTable, cost_micro_usd
from myclaw_core.budget.purposes import tier_of
from myclaw_core.budget.types import MICRO, Booked, BudgetRefusedError, Reservation, SoftCapReached, Standing
from myclaw_core.clock import Clock, local_zone
from myclaw_core.config import Price
from myclaw_core.config.sections import BudgetSection
from myclaw_core.errors import CodecError, ConfigError, MyclawError
from myclaw_core.events.log import EventLog, LogTransaction
from myclaw_core.messages import N_
from myclaw_core.process import is_alive, this_process
from myclaw_core.runtime.types import Usage
from myclaw_core.types.effect import Autonomy
from myclaw_core.types.text import Text

__all__ = ["Booked", "BudgetRefusedError", "Ledger", "Reservation", "SoftCapReached", "Standing"]

_NO_AMOUNT = N_("the estimated cost is not an amount of money; correct the tool that gave it")
_NOT_READ = N_("the budget was not read yet")


class Ledger:
    """Books what models and spending actions cost, per local date and account.

    Args:
        log: The core database.
        clock: Says what day it is.
        soft_eur: EUR a day beyond which spending needs a yes.
        hard_eur: EUR a day that are never passed.
        ceilings_eur: EUR a day that heartbeats and nightly work never pass.
        usd_per_eur: Exchange rate.
        prices: What models cost.
        zone: Where midnight is local.

    Raises:
        ConfigError: A limit or the rate is not a number that makes sense.
    """

    def __init__(
        self,
        log: EventLog,
        clock: Clock,
        *,
        soft_eur: float = 2.0,
        hard_eur: float = 5.0,
        ceilings_eur: Mapping[Activity, float] | None = None,
        usd_per_eur: float,
        prices: PriceTable,
        zone: tzinfo,
    ) -> None:
        self._limits = Limits(soft_eur, hard_eur, ceilings_eur or {})
        if not (math.isfinite(usd_per_eur) and usd_per_eur > 0):
            raise ConfigError(N_("[budget] usd_per_eur: give the USD for one EUR, more than 0"))
        self._log = log
        self._caps_eur = soft_eur, hard_eur
        self._usd_per_eur = Fraction(str(usd_per_eur))
        self._prices = prices
        self._days = LocalDays(clock, zone)
        self._seen: Day | None = None

    @classmethod
    def configured(cls, log: EventLog, clock: Clock, budget: BudgetSection) -> Ledger:
        """Return the ledger that the configuration describes, for the time zone of this machine."""
        return cls(
            log,
            clock,
            soft_eur=budget.soft_eur,
            hard_eur=budget.hard_eur,
            ceilings_eur={"heartbeat": budget.heartbeat_eur, "nightly": budget.nightly_eur},
            usd_per_eur=budget.usd_per_eur,
            prices=PriceTable(budget.prices),
            zone=local_zone(),
        )

    async def reserve(
        self,
        *,
        call_id: UUID,
        model: str,
        free: bool,
        purpose: str,
        activity: Activity = "turn",
        level: Autonomy | Literal[""] = "",
        input_tokens_bound: int,
        max_output_tokens: int,
        past_soft_ok: bool,
    ) -> Reservation:
        """Set the worst case of a call aside, or say no; the call may be made only after this returned.

        Args:
            free: Whether the provider costs nothing.
            purpose: Why the call is made; the policy maps it to a tier.
            activity: What sort of work it is made for.
            level: Autonomy level of the turn; empty where there is none.
            input_tokens_bound: Tokens that the prompt surely does not pass; all of them may be fresh.
            past_soft_ok: Whether this turn was allowed to pass the soft cap.

        Raises:
            BudgetRefusedError: The worst case would pass the hard cap or a ceiling, or the model has no price.
            PurposeUnknownError: The policy knows no such purpose.
            SoftCapReached: The day's spending reached the soft cap and `past_soft_ok` is false.
            StoreError: It could not be recorded; the call must not be made.
        """
        tier = tier_of(purpose)
        price = None if free else self._prices.price_of(model)
        micro_usd = _worst_case(price, Usage(input_tokens=input_tokens_bound, output_tokens=max_output_tokens))
        reservation = Reservation(
            call_id=call_id,
            account=Account(tier=tier, purpose=purpose, activity=_known(activity), level=level, model=model),
            price=price,
            day=self._days.today,
            worst_micro_usd=math.ceil(micro_usd),
            worst_micro_eur=self._eur(micro_usd),
        )
        if price is not None:
            async with self._log.transaction() as tx:
                day = await self._hold(tx, _hold_of(reservation), past_soft_ok=past_soft_ok)
            self._seen = day
        return reservation

    async def release(self, call_id: UUID) -> None:
        """Give back what was set aside for a call that is not made, if anything was."""
        async with self._log.transaction() as tx:
            if await take_hold(tx, call_id) is not None:
                self._seen = await self._read(tx, self._days.today)

    async def settle(
        self,
        tx: LogTransaction,
        reservation: Reservation,
        usage: Usage | None,
        *,
        may_have_spent: bool = True,
    ) -> Booked:
        """Book what a call cost and release the rest, in the caller's transaction.

        It is booked on the day it was reserved on. A call that was settled already is not booked again. A free call is
        only counted: nothing was set aside for it, and a day that cannot be read does not spoil it.

        Args:
            usage: What the provider counted; `None` where the call failed and nobody knows.
            may_have_spent: Whether a call without `usage` may have spent tokens; then its worst case counts.

        Returns:
            The cost, and the notices that are due now.
        """
        micro_usd, micro_eur = self._cost(reservation, usage, may_have_spent)
        cost = Booked(cost_usd=float(micro_usd / MICRO), cost_eur=micro_eur / MICRO)
        if reservation.price is None:
            with suppress(CodecError):
                await spend(tx, reservation.day, reservation.account, _counted(usage), 0)
            return cost
        if await take_hold(tx, reservation.call_id) is None:
            return cost
        book = await spend(tx, reservation.day, reservation.account, _counted(usage), micro_eur)
        notices = self._limits.due(book)
        if notices:
            await save_day(tx, evolve(book, told=(*book.told, *notices)))
        self._seen = await self._read(tx, self._days.today)
        return evolve(cost, notices=tuple(notices.values()))

    async def hold(
        self,
        tx: LogTransaction,
        action_id: UUID,
        est_cost_eur: float,
        *,
        activity: Activity = "turn",
        level: Autonomy | Literal[""] = "",
    ) -> None:
        """Set aside what an action would spend, in the transaction that records its intent.

        Args:
            action_id: What `settle_action` will name it by.
            activity: What sort of work it is done for.
            level: Autonomy level of the turn; empty where there is none.

        Raises:
            BudgetRefusedError: It would pass a limit, or is no amount of money; `tx` must be given up.
        """
        if not (math.isfinite(est_cost_eur) and est_cost_eur >= 0):
            raise BudgetRefusedError(_NO_AMOUNT)
        hold = Hold(
            call_id=action_id,
            day=self._days.today,
            amount=math.ceil(micro(est_cost_eur)),
            owner=this_process(),
            account=Account(purpose=ACTION, activity=_known(activity), level=level),
        )
        self._seen = await self._hold(tx, hold, past_soft_ok=True)

    async def settle_action(self, tx: LogTransaction, action_id: UUID, *, spent: bool) -> Booked:
        """Book what was set aside for an action, or release it; a second time changes nothing.

        The notices that a booking makes due are given with the next model call.
        """
        hold = await take_hold(tx, action_id)
        amount = hold.amount if hold is not None and spent else 0
        if hold is not None and spent:
            await spend(tx, hold.day, hold.account, Usage(), amount)
        self._seen = await self._read(tx, self._days.today)
        return Booked(cost_usd=float(amount * self._usd_per_eur / MICRO), cost_eur=amount / MICRO)

    async def standing(self) -> Standing:
        """Return how today's budget stands."""
        self._seen = day = await self._read(self._log, self._days.today)
        soft_eur, hard_eur = self._caps_eur
        return Standing(
            day=day.day,
            spent_eur=day.spent / MICRO,
            reserved_eur=day.reserved / MICRO,
            soft_eur=soft_eur,
            hard_eur=hard_eur,
            limits=tuple(self._limits.standings(day)),
            resets_at=self._days.resets_at,
        )

    async def books(self, days: int) -> Sequence[DayBook]:
        """Return the books of the last `days` local dates, today's first; a date on which nothing was done is empty."""
        return [await load_day(self._log, day) for day in self._days.last(days)]

    async def estimate(self, level: Autonomy, lasts: timedelta | None = None) -> Estimate:
        """Return what work at an autonomy level will probably cost, from what it cost so far.

        Args:
            lasts: For how long; a day where it is not said.
        """
        hard_eur = self._caps_eur[1]
        try:
            return estimated(await self.books(1 + SAMPLE_DAYS), level, lasts, hard_eur)
        except MyclawError as error:
            return no_estimate(error, hard_eur)

    async def recover(self) -> int:
        """Book the worst case of every call and action whose process is gone, and return how many there were."""
        async with self._log.transaction() as tx:
            left = [hold for hold in await holds(tx) if not is_alive(hold.owner)]
            for hold in left:
                await take_hold(tx, hold.call_id)
                await spend(tx, hold.day, hold.account, Usage(), hold.amount)
            day = await self._read(tx, self._days.today)
        self._seen = day
        return len(left)

    def objection(self, est_cost_eur: float, now: datetime) -> tuple[Literal["approve_required", "deny"], Text] | None:
        """Return what stands against an action that would itself spend `est_cost_eur`, or `None`.

        It reads the day as this process last saw it; before the first look the answer is a question.
        """
        if est_cost_eur == 0:
            return None
        if not (math.isfinite(est_cost_eur) and est_cost_eur > 0):
            return "deny", _NO_AMOUNT
        if self._seen is None:
            return "approve_required", _NOT_READ
        today = self._days.day_of(now)
        day = self._seen if today <= self._seen.day else Day(day=today)
        return self._limits.objection(day, math.ceil(micro(est_cost_eur)), self._days.reset_words)

    async def _hold(self, tx: LogTransaction, hold: Hold, *, past_soft_ok: bool) -> Day:
        """Set a worst case aside inside `tx` and return how the day stands then."""
        others = await holds(tx)
        book = await load_day(tx, hold.day)
        activity = _known(hold.account.activity)
        self._limits.refuse(
            day_of(book, others), hold.amount, activity, self._days.reset_words, past_soft_ok=past_soft_ok
        )
        await add_hold(tx, hold)
        return day_of(book, [*others, hold])

    def _cost(self, reservation: Reservation, usage: Usage | None, may_have_spent: bool) -> tuple[Fraction, int]:
        worst = Fraction(reservation.worst_micro_usd), reservation.worst_micro_eur
        if reservation.price is None:
            return Fraction(0), 0
        if usage is None:
            return worst if may_have_spent else (Fraction(0), 0)
        if not _makes_sense(usage):
            return worst
        micro_usd = cost_micro_usd(reservation.price, usage)
        return micro_usd, self._eur(micro_usd)

    async def _read(self, records: Records, day: str) -> Day:
        # In this order a call that is settled in between counts twice rather than not at all.
        reserved = await holds(records)
        return day_of(await load_day(records, day), reserved)

    def _eur(self, micro_usd: Fraction) -> int:
        """Return millionths of a euro, rounded up: a cost is never booked as less than it is."""
        return math.ceil(micro_usd / self._usd_per_eur)


def _worst_case(price: Price | None, bound: Usage) -> Fraction:
    """Return millionths of a dollar; all of the input may turn out fresh, or cached where that is dearer."""
    if not _makes_sense(bound):
        raise ValueError("a bound of tokens cannot be negative")
    if price is None:
        return Fraction(0)
    return cost_micro_usd(evolve(price, input=max(price.input, price.cached)), bound)


def _makes_sense(usage: Usage) -> bool:
    return min(usage.input_tokens, usage.cached_tokens, usage.output_tokens) >= 0


def _counted(usage: Usage | None) -> Usage:
    """Return the tokens to write down: what was not counted, or counted wrong, is no figure."""
    return usage if usage is not None and _makes_sense(usage) else Usage()


def _hold_of(reservation: Reservation) -> Hold:
    return Hold(
        call_id=reservation.call_id,
        day=reservation.day,
        amount=reservation.worst_micro_eur,
        owner=this_process(),
        account=reservation.account,
    )


def _known(activity: str) -> Activity:
    """Return an activity that has its limits.

    Raises:
        ValueError: It is none; a misspelt one would evade its ceiling.
    """
    for known in ACTIVITIES:
        if activity == known:
            return known
    raise ValueError(f"{activity!r} is no activity; known: {', '.join(ACTIVITIES)}")
