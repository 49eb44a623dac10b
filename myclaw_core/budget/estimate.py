"""What work at an autonomy level will probably cost: stated before every raise, from what the last days cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import timedelta
from fractions import Fraction

from attrs import frozen

from myclaw_core.budget.book import DayBook
from myclaw_core.budget.types import MICRO
from myclaw_core.errors import MyclawError
from myclaw_core.messages import N_
from myclaw_core.types.effect import Autonomy
from myclaw_core.types.text import Text, TextValue

__all__ = ["SAMPLE_DAYS", "Estimate", "estimated", "no_estimate"]

SAMPLE_DAYS = 14
"""Days before today that are looked at; today is not over."""

_ENOUGH_DAYS = 3
_CENT = MICRO // 100
_DAY_S = 24 * 60 * 60


@frozen(kw_only=True)
class Estimate:
    """What something will probably cost.

    Attributes:
        eur: The amount, rounded up to a cent; `None` where there is nothing to go by.
        text: The same as one line that says what it rests on.
    """

    eur: float | None
    text: Text


def estimated(books: Sequence[DayBook], level: Autonomy, lasts: timedelta | None, hard_eur: float) -> Estimate:
    """Return the mean of the days on which work was done at a level, else of all days, for a time to come.

    Args:
        books: Today's book first, then those of the days before.
        lasts: For how long; a day where it is not said.
        hard_eur: EUR a day that are never passed.
    """
    used = [book for book in books[1:] if _was_used(book)] or [book for book in books[:1] if _was_used(book)]
    at_level = [amount for book in used if (amount := _spent_at(book, level)) is not None]
    enough_at_level = len(at_level) >= _ENOUGH_DAYS
    amounts = at_level if enough_at_level else [book.spent for book in used]
    if not amounts:
        return Estimate(
            eur=None,
            text=N_(
                "estimate: none, there was no use in your last {days} days; the hard cap is {cap} € a day",
                days=SAMPLE_DAYS,
                cap=f"{hard_eur:.2f}",
            ),
        )
    cents = math.ceil(Fraction(sum(amounts), len(amounts)) * _share_of_a_day(lasts) / _CENT)
    places: dict[str, TextValue] = {
        "amount": _amount(cents, a_day=lasts is None),
        "days": SAMPLE_DAYS,
        "n": len(amounts),
        "level": level,
        "cap": f"{hard_eur:.2f}",
    }
    return Estimate(eur=cents / 100, text=Text(_sentence(enough_at_level, len(amounts)).msgid, places))


def no_estimate(error: MyclawError, hard_eur: float) -> Estimate:
    """Return what can be said where the last days cannot be read."""
    text = N_(
        "estimate: none, the ledger cannot be read: {problem}; the hard cap is {cap} € a day",
        problem=error.text,
        cap=f"{hard_eur:.2f}",
    )
    return Estimate(eur=None, text=text)


def _sentence(at_level: bool, days: int) -> Text:
    if at_level:
        return N_(
            "estimate: {amount}, from your last {days} days ({n} of them used at level {level});"
            " the hard cap is {cap} € a day"
        )
    if days >= _ENOUGH_DAYS:
        return N_(
            "estimate: {amount}, from your last {days} days ({n} of them used, too few at level {level});"
            " the hard cap is {cap} € a day"
        )
    return N_(
        "estimate: {amount}, from your last {days} days (a rough one, only {n} of them used);"
        " the hard cap is {cap} € a day"
    )


def _share_of_a_day(lasts: timedelta | None) -> Fraction:
    return Fraction(1) if lasts is None else Fraction(lasts // timedelta(seconds=1), _DAY_S)


def _amount(cents: int, *, a_day: bool) -> Text:
    eur = f"{cents / 100:.2f}"
    return N_("{eur} € a day", eur=eur) if a_day else N_("{eur} €", eur=eur)


def _was_used(book: DayBook) -> bool:
    return bool(book.entries or book.spent)


def _spent_at(book: DayBook, level: Autonomy) -> int | None:
    """Return millionths of a euro, or `None` where nothing was done at that level."""
    amounts = [entry.spent for entry in book.entries if entry.account.level == level]
    return sum(amounts) if amounts else None
