"""What a day may cost: two caps, a ceiling for each sort of work that nobody watches, and the words of a refusal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Literal

from attrs import field, frozen

from myclaw_core.budget.account import Activity
from myclaw_core.budget.book import DayBook, Hold
from myclaw_core.budget.types import MICRO, BudgetRefusedError, LimitStanding, SoftCapReached
from myclaw_core.errors import ConfigError
from myclaw_core.messages import N_
from myclaw_core.types.text import Text, TextValue

__all__ = ["Day", "Limits", "day_of", "micro"]

_NOTICE_SHARE = Fraction(4, 5)
_PASSES_HARD = N_(
    "this could cost up to {cost} € and pass the hard cap of {cap} € a day ([budget] hard_eur):"
    " {spent} € spent, {reserved} € reserved; the budget resets at {resets_at}"
)
_PASSES_CEILING: Mapping[Activity, Text] = {
    "heartbeat": N_(
        "this could cost up to {cost} € and pass the ceiling of heartbeats, {cap} € a day ([budget] heartbeat_eur):"
        " {spent} € spent, {reserved} € reserved; the budget resets at {resets_at}"
    ),
    "nightly": N_(
        "this could cost up to {cost} € and pass the ceiling of nightly work, {cap} € a day ([budget] nightly_eur):"
        " {spent} € spent, {reserved} € reserved; the budget resets at {resets_at}"
    ),
}
_PASSES_SOFT = N_(
    "this could cost up to {cost} € and pass the soft cap of {cap} € a day ([budget] soft_eur):"
    " {spent} € spent; the budget resets at {resets_at}"
)
_SOFT_REACHED = N_(
    "the soft cap of {cap} € a day ([budget] soft_eur) is reached: {spent} € spent; the budget resets at {resets_at}"
)
_NOTICES: Mapping[str, Text] = {
    "soft": N_("{spent} € of the soft cap of {cap} € a day are spent"),
    "hard": N_("{spent} € of the hard cap of {cap} € a day are spent"),
}


@frozen(kw_only=True)
class Day:
    """A date as it stands, in millionths of a euro.

    Attributes:
        spent: Booked.
        reserved: Worst cases of what is under way.
        spent_on: What was booked by activity; `reserved_on` likewise.
    """

    day: str
    spent: int = 0
    reserved: int = 0
    spent_on: Mapping[str, int] = field(factory=dict)
    reserved_on: Mapping[str, int] = field(factory=dict)


def day_of(book: DayBook, holds: Sequence[Hold]) -> Day:
    """Return how a date stands.

    Args:
        holds: What is set aside, on whatever date.
    """
    spent_on: dict[str, int] = {}
    reserved_on: dict[str, int] = {}
    for entry in book.entries:
        activity = entry.account.activity
        spent_on[activity] = spent_on.get(activity, 0) + entry.spent
    for hold in (hold for hold in holds if hold.day == book.day):
        activity = hold.account.activity
        reserved_on[activity] = reserved_on.get(activity, 0) + hold.amount
    return Day(
        day=book.day,
        spent=book.spent,
        reserved=sum(reserved_on.values()),
        spent_on=spent_on,
        reserved_on=reserved_on,
    )


class Limits:
    """The limits of every day.

    Args:
        soft_eur: EUR a day beyond which spending needs a yes.
        hard_eur: EUR a day that are never passed.
        ceilings_eur: EUR a day that heartbeats and nightly work never pass; what is not named has no ceiling.

    Raises:
        ConfigError: One is not an amount that makes sense.
    """

    def __init__(self, soft_eur: float, hard_eur: float, ceilings_eur: Mapping[Activity, float]) -> None:
        if not (math.isfinite(soft_eur) and math.isfinite(hard_eur) and 0 <= soft_eur <= hard_eur):
            raise ConfigError(
                N_("[budget] soft_eur and hard_eur: give 0 or more, and a hard cap not below the soft one")
            )
        if not all(math.isfinite(eur) and eur >= 0 for eur in ceilings_eur.values()):
            raise ConfigError(N_("[budget] heartbeat_eur and nightly_eur: give 0 or more"))
        self._soft = math.floor(micro(soft_eur))
        self._hard = math.floor(micro(hard_eur))
        self._ceilings = {activity: math.floor(micro(eur)) for activity, eur in ceilings_eur.items()}

    def refuse(self, day: Day, cost: int, activity: Activity, resets_at: str, *, past_soft_ok: bool) -> None:
        """Say no to what would pass a limit; what costs nothing passes none.

        Raises:
            BudgetRefusedError: It would pass the hard cap, or the ceiling of its activity.
            SoftCapReached: The soft cap is reached and may not be passed yet.
        """
        if cost == 0:
            return
        if day.spent + day.reserved + cost > self._hard:
            raise BudgetRefusedError(_told(_PASSES_HARD, day.spent, day.reserved, self._hard, cost, resets_at))
        if activity in self._ceilings:
            spent, reserved = day.spent_on.get(activity, 0), day.reserved_on.get(activity, 0)
            ceiling = self._ceilings[activity]
            if spent + reserved + cost > ceiling:
                raise BudgetRefusedError(_told(_PASSES_CEILING[activity], spent, reserved, ceiling, cost, resets_at))
        if day.spent >= self._soft and not past_soft_ok:
            raise SoftCapReached(_told(_SOFT_REACHED, day.spent, day.reserved, self._soft, cost, resets_at))

    def objection(self, day: Day, cost: int, resets_at: str) -> tuple[Literal["approve_required", "deny"], Text] | None:
        """Return what stands against an action that would spend `cost`, or `None`."""
        if day.spent + day.reserved + cost > self._hard:
            return "deny", _told(_PASSES_HARD, day.spent, day.reserved, self._hard, cost, resets_at)
        if day.spent + cost > self._soft:
            return "approve_required", _told(_PASSES_SOFT, day.spent, day.reserved, self._soft, cost, resets_at)
        return None

    def due(self, book: DayBook) -> Mapping[str, Text]:
        """Return the notices that are due for a day and were not given yet, by their cap."""
        caps = {"soft": self._soft, "hard": self._hard}
        return {
            name: Text(_NOTICES[name].msgid, {"spent": _two(book.spent), "cap": _limit(cap)})
            for name, cap in caps.items()
            if name not in book.told and 0 < cap * _NOTICE_SHARE <= book.spent
        }

    def standings(self, day: Day) -> Iterator[LimitStanding]:
        """Yield how a day stands against each limit, the caps first."""
        for name, cap in (("soft", self._soft), ("hard", self._hard)):
            yield _standing(name, cap, day.spent, day.reserved)
        for activity, ceiling in self._ceilings.items():
            yield _standing(activity, ceiling, day.spent_on.get(activity, 0), day.reserved_on.get(activity, 0))


def micro(eur: float) -> Fraction:
    """Return EUR in millionths, exactly."""
    return Fraction(str(eur)) * MICRO


def _standing(name: str, limit: int, spent: int, reserved: int) -> LimitStanding:
    return LimitStanding(
        name=name,
        source=f"[budget] {name}_eur",
        limit_eur=limit / MICRO,
        spent_eur=spent / MICRO,
        reserved_eur=reserved / MICRO,
        left_eur=max(0, limit - spent - reserved) / MICRO,
    )


def _told(sentence: Text, spent: int, reserved: int, limit: int, cost: int, resets_at: str) -> Text:
    places: dict[str, TextValue] = {
        "cost": _four(cost),
        "cap": _limit(limit),
        "spent": _four(spent),
        "reserved": _four(reserved),
        "resets_at": resets_at,
    }
    return Text(sentence.msgid, places)


def _limit(micro_eur: int) -> str:
    return _four(micro_eur) if micro_eur % (MICRO // 100) else _two(micro_eur)


def _two(micro_eur: int) -> str:
    return f"{micro_eur / MICRO:.2f}"


def _four(micro_eur: int) -> str:
    return f"{micro_eur / MICRO:.4f}"
