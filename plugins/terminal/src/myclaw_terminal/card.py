"""An approval card as lines of the terminal, short or with everything."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from myclaw_core.approval.types import ApprovalCard
from myclaw_core.messages import _, n_
from myclaw_core.shown.card import VALUE_CHARS, bounds, diff_rows, facts, label_words, summary, under
from myclaw_core.shown.inert import cut
from myclaw_core.shown.offers import Offer, word
from myclaw_core.shown.said import Said
from myclaw_terminal.lines import Line, columns, said
from myclaw_terminal.offers import rows

__all__ = ["card_lines", "detail_lines", "overview_lines"]

_DIFF_LINES = 40
_MARGIN = 2
_DIFF_INDENT = 4


def overview_lines(cards: Iterable[ApprovalCard], first: int = 1) -> list[Line]:
    """Return one numbered line a card, so that all that is asked together is seen together.

    Args:
        first: Number of the first of them; beyond 1 they join others.
    """
    summaries = list(map(summary, cards))
    if first == 1:
        head = n_("{n} action needs an answer:", "{n} actions need an answer:", len(summaries))
    else:
        head = n_("{n} more action needs an answer:", "{n} more actions need an answer:", len(summaries))
    return [
        Line(head, "bold"),
        *(said(f"  {number}.", cut(text, VALUE_CHARS)) for number, text in enumerate(summaries, first)),
    ]


def card_lines(offer: Offer, number: int, total: int) -> list[Line]:
    """Return the card as it is first shown; whatever is cut says so.

    Args:
        number: Place of this card among those asked together, from 1.
        total: How many those are.
    """
    card = offer.card
    place = _("{number} of {total}:", number=number, total=total)
    label = f"? {place}" if total > 1 else "?"
    return [
        Line(""),
        said(label, cut(summary(card), 2 * VALUE_CHARS), "bold"),
        *map(_fact, facts(card, whole=False, details=word("details"))),
        *_diff_lines(card.diff, _DIFF_LINES),
        *map(_fact, under("also", rows(offer))),
    ]


def detail_lines(offer: Offer, now: datetime) -> list[Line]:
    """Return everything the card holds, uncut, with its digest and expiry and what each answer means.

    Args:
        now: Aware UTC, for the minutes that are left.
    """
    card = offer.card
    return [
        Line(""),
        said("?", summary(card), "bold"),
        *map(_fact, facts(card, whole=True, details=word("details"))),
        *map(_fact, bounds(card, now)),
        *_diff_lines(card.diff, None),
        *map(_fact, under("also", offer.meanings())),
    ]


def _diff_lines(diff: str, limit: int | None) -> list[Line]:
    shown = diff_rows(diff, limit, word("details"))
    return [_fact(each) if each.label else Line(each.text, each.tone, indent=_DIFF_INDENT) for each in shown]


def _fact(fact: Said) -> Line:
    """Return a line whose text stands in one column with those of all other labels."""
    indent = _MARGIN + max(map(columns, label_words())) + _MARGIN
    return Line(fact.text, fact.tone, label=" " * _MARGIN + fact.label, indent=indent)
