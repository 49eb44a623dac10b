"""What the ledger hands out: reservations, bookings, the day's standing, and its two ways to say no."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from attrs import frozen

from myclaw_core.budget.account import Account
from myclaw_core.config import Price
from myclaw_core.errors import MyclawError
from myclaw_core.types.text import Text

__all__ = [
    "MICRO",
    "Booked",
    "BudgetRefusedError",
    "LimitStanding",
    "PriceUnknownError",
    "Reservation",
    "SoftCapReached",
    "Standing",
]

MICRO = 1_000_000
"""Amounts are kept as whole millionths of a euro, so that sums are exact."""


@frozen(kw_only=True)
class Reservation:
    """The worst case of one model call, set aside before the call is made.

    Attributes:
        account: Where it is booked.
        price: Price of the model, in USD per million tokens; `None` for a provider that costs nothing.
        day: The local date it is booked on, ISO-8601; a call that ends after midnight stays on its day.
        worst_micro_usd: The most it can cost, in millionths of a dollar.
        worst_micro_eur: The same in millionths of a euro.
    """

    call_id: UUID
    account: Account
    price: Price | None
    day: str
    worst_micro_usd: int
    worst_micro_eur: int


@frozen(kw_only=True)
class Booked:
    """What one call cost.

    Attributes:
        notices: What the person should now be told about the caps; each is given once a day.
    """

    cost_usd: float
    cost_eur: float
    notices: tuple[Text, ...] = ()


@frozen(kw_only=True)
class LimitStanding:
    """How a day stands against one limit.

    Attributes:
        name: `soft`, `hard`, or the activity that has a ceiling.
        source: The setting that it comes from.
        limit_eur: EUR a day.
        spent_eur: Booked against it; `reserved_eur` is the worst case of what is under way.
        left_eur: What can still be reserved; never below 0.
    """

    name: str
    source: str
    limit_eur: float
    spent_eur: float
    reserved_eur: float
    left_eur: float


@frozen(kw_only=True)
class Standing:
    """How the day's budget stands.

    Attributes:
        day: The local date, ISO-8601.
        spent_eur: Booked today.
        reserved_eur: Worst case of the calls that are under way.
        soft_eur: Beyond it spending needs a yes.
        hard_eur: Never passed.
        limits: Both caps, and the ceilings.
        resets_at: Next local midnight, aware UTC.
    """

    day: str
    spent_eur: float
    reserved_eur: float
    soft_eur: float
    hard_eur: float
    limits: tuple[LimitStanding, ...]
    resets_at: datetime


class _BudgetError(MyclawError):
    """Raised when a call may not be made."""


class BudgetRefusedError(_BudgetError):
    """Raised when a call could pass the hard cap or a ceiling, or when nobody knows what it would cost."""


class PriceUnknownError(BudgetRefusedError):
    """Raised when a model has no price: a matter of the configuration, whatever is left of the budget."""


class SoftCapReached(_BudgetError):  # noqa: N818 - a question, not a fault
    """Raised when the day's spending reached the soft cap and this turn may not yet pass it."""
