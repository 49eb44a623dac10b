"""The budget ledger: what costs is paid for before it is done, so that the day's hard cap is never passed.

State lives in the core database; two processes and a restart share it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from fractions import Fraction
from typing import Literal
from uuid import UUID

from attrs import evolve, frozen

from myclaw_core.budget.book import DayBook, Hold, Records, add_hold, holds, load_day, save_day, spend, take_hold
from myclaw_core.budget.prices import PriceTable, cost_micro_usd
from myclaw_core.budget.types import MICRO, Booked, BudgetRefusedError, Reservation, SoftCapReached, Standing
from myclaw_core.clock import Clock
from myclaw_core.config import Price
from myclaw_core.errors import ConfigError
from myclaw_core.events.log import EventLog, LogTransaction
from myclaw_core.messages import N_
from myclaw_core.process import is_alive, this_process
from myclaw_core.runtime.types import Usage
from myclaw_core.types.text import Text, TextValue

__all__ = ["Booked", "BudgetRefusedError", "Ledger", "Reservation", "SoftCapReached", "Standing"]

_NOTICE_SHARE = Fraction(4, 5)
_PASSES_HARD = N_(
    "this could cost up to {cost} € and pass the hard cap of {cap} € a day ([budget] hard_eur):"
    " {spent} € spent, {reserved} € reserved; the budget resets at {resets_at}"
)
_PASSES_SOFT = N_(
    "this could cost up to {cost} € and pass the soft cap of {cap} € a day ([budget] soft_eur):"
    " {spent} € spent; the budget resets at {resets_at}"
)
_SOFT_REACHED = N_(
    "the soft cap of {cap} € a day ([budget] soft_eur) is reached: {spent} € spent; the budget resets at {resets_at}"
)

_NO_AMOUNT = N_("the estimated cost is not an amount of money; correct the tool that gave it")


@frozen(kw_only=True)
class _View:
    """The day as last read, in millionths of a euro."""

    day: str
    spent: int
    reserved: int


class Ledger:
    """Books what models and spending actions cost, per local date.

    Args:
        log: The core database.
        clock: Says what day it is.
        soft_eur: EUR a day beyond which spending needs a yes.
        hard_eur: EUR a day that are never passed.
        usd_per_eur: Exchange rate.
        prices: What models cost.
        zone: Where midnight is local.

    Raises:
        ConfigError: A cap or the rate is not a number that makes sense.
    """

    def __init__(
        self,
        log: EventLog,
        clock: Clock,
        *,
        soft_eur: float = 2.0,
        hard_eur: float = 5.0,
        usd_per_eur: float,
        prices: PriceTable,
        zone: tzinfo,
    ) -> None:
        if not (math.isfinite(soft_eur) and math.isfinite(hard_eur) and 0 <= soft_eur <= hard_eur):
            raise ConfigError(
                N_("[budget] soft_eur and hard_eur: give 0 or more, and a hard cap not below the soft one")
            )
        if not (math.isfinite(usd_per_eur) and usd_per_eur > 0):
            raise ConfigError(N_("[budget] usd_per_eur: give the USD for one EUR, more than 0"))
        self._log = log
        self._clock = clock
        self._soft = math.floor(_micro(soft_eur))
        self._hard = math.floor(_micro(hard_eur))
        self._usd_per_eur = Fraction(str(usd_per_eur))
        self._prices = prices
        self._zone = zone
        self._view: _View | None = None

    async def reserve(
        self,
        *,
        call_id: UUID,
        model: str,
        free: bool,
        purpose: str,
        input_tokens_bound: int,
        max_output_tokens: int,
        past_soft_ok: bool,
    ) -> Reservation:
        """Set the worst case of a call aside, or say no; the call may be made only after this returned.

        Args:
            free: Whether the provider costs nothing.
            input_tokens_bound: Tokens that the prompt surely does not pass; all of them may be fresh.
            past_soft_ok: Whether this turn was allowed to pass the soft cap.

        Raises:
            BudgetRefusedError: The worst case would pass the hard cap, or the model has no price.
            SoftCapReached: The day's spending reached the soft cap and `past_soft_ok` is false.
            StoreError: It could not be recorded; the call must not be made.
        """
        price = None if free else self._prices.price_of(model)
        bound = Usage(input_tokens=input_tokens_bound, output_tokens=max_output_tokens)
        micro_usd = self._worst_case(price, bound)
        reservation = Reservation(
            call_id=call_id,
            model=model,
            price=price,
            purpose=purpose,
            day=self._today(),
            worst_micro_usd=math.ceil(micro_usd),
            worst_micro_eur=self._eur(micro_usd),
        )
        if price is not None:
            await self._hold(reservation, past_soft_ok)
        return reservation

    async def settle(
        self,
        tx: LogTransaction,
        reservation: Reservation,
        usage: Usage | None,
        *,
        may_have_spent: bool = True,
    ) -> Booked:
        """Book what a call cost and release the rest, in the caller's transaction.

        It is booked on the day it was reserved on. A call that was settled already is not booked again.

        Args:
            usage: What the provider counted; `None` where the call failed and nobody knows.
            may_have_spent: Whether a call without `usage` may have spent tokens; then its worst case counts.

        Returns:
            The cost, and the notices that are due now.
        """
        micro_usd, micro_eur = self._cost(reservation, usage, may_have_spent)
        cost = Booked(cost_usd=float(micro_usd / MICRO), cost_eur=micro_eur / MICRO)
        if reservation.price is None or await take_hold(tx, reservation.call_id) is None:
            return cost
        book = await spend(tx, reservation.day, micro_eur)
        notices = self._due(book)
        if notices:
            await save_day(tx, evolve(book, told=(*book.told, *notices)))
        self._view = await self._read(tx, self._today())
        return evolve(cost, notices=tuple(notices.values()))

    async def hold(self, tx: LogTransaction, action_id: UUID, est_cost_eur: float) -> None:
        """Set aside what an action would spend, in the transaction that records its intent.

        Args:
            action_id: What `settle_action` will name it by.

        Raises:
            BudgetRefusedError: It would pass the hard cap, or is no amount of money; `tx` must be given up.
        """
        if not (math.isfinite(est_cost_eur) and est_cost_eur >= 0):
            raise BudgetRefusedError(_NO_AMOUNT)
        amount = math.ceil(_micro(est_cost_eur))
        view = await self._read(tx, self._today())
        self._refuse(view, amount, past_soft_ok=True)
        await add_hold(tx, Hold(call_id=action_id, day=view.day, amount=amount, owner=this_process()))
        self._view = evolve(view, reserved=view.reserved + amount)

    async def settle_action(self, tx: LogTransaction, action_id: UUID, *, spent: bool) -> Booked:
        """Book what was set aside for an action, or release it; a second time changes nothing.

        The notices that a booking makes due are given with the next model call.
        """
        hold = await take_hold(tx, action_id)
        amount = hold.amount if hold is not None and spent else 0
        if hold is not None and spent:
            await spend(tx, hold.day, amount)
        self._view = await self._read(tx, self._today())
        return Booked(cost_usd=float(amount * self._usd_per_eur / MICRO), cost_eur=amount / MICRO)

    async def standing(self) -> Standing:
        """Return how today's budget stands."""
        self._view = view = await self._read(self._log, self._today())
        return Standing(
            spent_eur=view.spent / MICRO,
            reserved_eur=view.reserved / MICRO,
            soft_eur=self._soft / MICRO,
            hard_eur=self._hard / MICRO,
            resets_at=self._resets_at(),
        )

    async def recover(self) -> int:
        """Book the worst case of every call and action whose process is gone, and return how many there were."""
        async with self._log.transaction() as tx:
            left = [hold for hold in await holds(tx) if not is_alive(hold.owner)]
            for hold in left:
                await take_hold(tx, hold.call_id)
                await spend(tx, hold.day, hold.amount)
            view = await self._read(tx, self._today())
        self._view = view
        return len(left)

    def objection(self, est_cost_eur: float, now: datetime) -> tuple[Literal["approve_required", "deny"], Text] | None:
        """Return what stands against an action that would itself spend `est_cost_eur`, or `None`.

        It reads the day as this process last saw it; before the first look the answer is a question.
        """
        if est_cost_eur == 0:
            return None
        if not (math.isfinite(est_cost_eur) and est_cost_eur > 0):
            return "deny", _NO_AMOUNT
        view = self._view
        if view is None:
            return "approve_required", N_("the budget was not read yet")
        if view.day < self._day_of(now).isoformat():
            view = _View(day=self._day_of(now).isoformat(), spent=0, reserved=0)
        cost = math.ceil(_micro(est_cost_eur))
        if view.spent + view.reserved + cost > self._hard:
            return "deny", self._text(_PASSES_HARD, view, self._hard, cost)
        if view.spent + cost > self._soft:
            return "approve_required", self._text(_PASSES_SOFT, view, self._soft, cost)
        return None

    def _worst_case(self, price: Price | None, bound: Usage) -> Fraction:
        """Return millionths of a dollar; all of the input may turn out fresh, or cached where that is dearer."""
        if min(bound.input_tokens, bound.output_tokens) < 0:
            raise ValueError("a bound of tokens cannot be negative")
        if price is None:
            return Fraction(0)
        return cost_micro_usd(evolve(price, input=max(price.input, price.cached)), bound)

    def _cost(self, reservation: Reservation, usage: Usage | None, may_have_spent: bool) -> tuple[Fraction, int]:
        worst = Fraction(reservation.worst_micro_usd), reservation.worst_micro_eur
        if reservation.price is None:
            return Fraction(0), 0
        if usage is None:
            return worst if may_have_spent else (Fraction(0), 0)
        if min(usage.input_tokens, usage.cached_tokens, usage.output_tokens) < 0:
            return worst
        micro_usd = cost_micro_usd(reservation.price, usage)
        return micro_usd, self._eur(micro_usd)

    async def _hold(self, reservation: Reservation, past_soft_ok: bool) -> None:
        amount = reservation.worst_micro_eur
        async with self._log.transaction() as tx:
            view = await self._read(tx, reservation.day)
            self._refuse(view, amount, past_soft_ok)
            await add_hold(tx, Hold(call_id=reservation.call_id, day=view.day, amount=amount, owner=this_process()))
        self._view = evolve(view, reserved=view.reserved + amount)

    def _refuse(self, view: _View, cost: int, past_soft_ok: bool) -> None:
        if cost == 0:
            return
        if view.spent + view.reserved + cost > self._hard:
            raise BudgetRefusedError(self._text(_PASSES_HARD, view, self._hard, cost))
        if view.spent >= self._soft and not past_soft_ok:
            raise SoftCapReached(self._text(_SOFT_REACHED, view, self._soft, cost))

    def _text(self, sentence: Text, view: _View, cap: int, cost: int) -> Text:
        resets_at = self._resets_at().astimezone(self._zone)
        places: dict[str, TextValue] = {
            "cost": _four(cost),
            "cap": _two(cap),
            "spent": _four(view.spent),
            "reserved": _four(view.reserved),
            "resets_at": f"{resets_at:%Y-%m-%d %H:%M}",
        }
        return Text(sentence.msgid, places)

    def _due(self, book: DayBook) -> Mapping[str, Text]:
        """Return the notices that are due for a day and were not given yet, by their cap."""
        caps = {
            "soft": (N_("{spent} € of the soft cap of {cap} € a day are spent"), self._soft),
            "hard": (N_("{spent} € of the hard cap of {cap} € a day are spent"), self._hard),
        }
        return {
            name: N_(sentence.msgid, spent=_two(book.spent), cap=_two(cap))
            for name, (sentence, cap) in caps.items()
            if name not in book.told and 0 < cap * _NOTICE_SHARE <= book.spent
        }

    async def _read(self, records: Records, day: str) -> _View:
        # In this order a call that is settled in between counts twice rather than not at all.
        reserved = sum(hold.amount for hold in await holds(records) if hold.day == day)
        book = await load_day(records, day)
        return _View(day=day, spent=book.spent, reserved=reserved)

    def _eur(self, micro_usd: Fraction) -> int:
        """Return millionths of a euro, rounded up: a cost is never booked as less than it is."""
        return math.ceil(micro_usd / self._usd_per_eur)

    def _today(self) -> str:
        return self._day_of(self._clock.now()).isoformat()

    def _day_of(self, at: datetime) -> date:
        return at.astimezone(self._zone).date()

    def _resets_at(self) -> datetime:
        tomorrow = self._day_of(self._clock.now()) + timedelta(days=1)
        return datetime.combine(tomorrow, time.min, tzinfo=self._zone).astimezone(UTC)


def _micro(eur: float) -> Fraction:
    return Fraction(str(eur)) * MICRO


def _two(micro_eur: int) -> str:
    return f"{micro_eur / MICRO:.2f}"


def _four(micro_eur: int) -> str:
    return f"{micro_eur / MICRO:.4f}"
