"""The budget as people and programs read it: today against the limits, the last days, and what it was spent on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import asdict, frozen

from myclaw_core.budget.book import DayBook
from myclaw_core.budget.types import MICRO, LimitStanding, Standing
from myclaw_core.clock import local_zone
from myclaw_core.columns import columns
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_, _, render
from myclaw_core.types.text import Text

__all__ = ["WEEK_DAYS", "budget_json", "budget_text"]

WEEK_DAYS = 7

_OTHER = "other"
_LIMITS: Mapping[str, Text] = {
    "soft": N_("asks at"),
    "hard": N_("stops at"),
    "heartbeat": N_("heartbeats, at most"),
    "nightly": N_("nightly work, at most"),
}
_ASPECTS: Mapping[str, Text] = {
    "tier": N_("tier"),
    "purpose": N_("purpose"),
    "activity": N_("activity"),
    "level": N_("level"),
    "model": N_("model"),
}


@frozen(kw_only=True)
class _Sums:
    """What was booked, in millionths of a euro and tokens."""

    spent: int = 0
    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: _Sums) -> _Sums:
        return _Sums(**{name: value + getattr(other, name) for name, value in asdict(self).items()})

    @property
    def as_json(self) -> dict[str, Any]:
        """Return the sums for programs."""
        values = asdict(self)
        return {"spent_eur": values.pop("spent") / MICRO, **values}


def budget_text(standing: Standing, books: Sequence[DayBook]) -> str:
    """Return today, the last days and what they were spent on, as tables in the language of the person.

    Args:
        books: Today's book first, then those of the days before.
    """
    resets_at = f"{standing.resets_at.astimezone(local_zone()):%Y-%m-%d %H:%M}"
    aspects = list(_aspect_rows(books))
    tables = (
        columns([_limit_head(standing.day), *map(_limit_row, standing.limits)], right=range(1, 5)),
        [_("The budget resets at {at}.", at=resets_at)],
        columns(list(_day_rows(books)), right={1, 2}),
        columns([_aspect_head(len(books)), *aspects], right=range(2, 8)) if aspects else [],
    )
    return "\n\n".join("\n".join(table) for table in tables if table)


def budget_json(standing: Standing, books: Sequence[DayBook]) -> dict[str, Any]:
    """Return the same for programs; what an earlier version did not write down is under `other`."""
    return {
        "day": standing.day,
        "resets_at": standing.resets_at.isoformat().replace("+00:00", "Z"),
        "spent_eur": standing.spent_eur,
        "reserved_eur": standing.reserved_eur,
        "limits": [asdict(limit) for limit in standing.limits],
        "days": [{"day": book.day, **_total([book]).as_json} for book in books],
        "total": _total(books).as_json,
        **{
            f"by_{aspect}": {
                name: {"today": _sums(books[:1], aspect).get(name, _Sums()).as_json, "total": sums.as_json}
                for name, sums in _sums(books, aspect).items()
            }
            for aspect in _ASPECTS
        },
    }


def _limit_head(day: str) -> tuple[str, ...]:
    return _("today, {day}", day=day), "EUR", _("spent"), _("under way"), _("left"), _("setting")


def _limit_row(limit: LimitStanding) -> tuple[str, ...]:
    amounts = (limit.spent_eur, limit.reserved_eur, limit.left_eur)
    return render(_LIMITS[limit.name]), f"{limit.limit_eur:.2f}", *(f"{eur:.4f}" for eur in amounts), limit.source


def _day_rows(books: Sequence[DayBook]) -> Iterator[tuple[str, ...]]:
    yield _("last {n} days", n=len(books)), "EUR", _("calls")
    for name, sums in [*((book.day, _total([book])) for book in books), (_("in all"), _total(books))]:
        yield name, _eur(sums.spent), str(sums.calls)


def _aspect_head(days: int) -> tuple[str, ...]:
    within = _("last {n} days", n=days)
    return "", "", _("today"), within, _("calls"), _("tokens in"), _("from cache"), _("tokens out")


def _aspect_rows(books: Sequence[DayBook]) -> Iterator[tuple[str, ...]]:
    for aspect, label in _ASPECTS.items():
        today = _sums(books[:1], aspect)
        first = render(label)
        for name, sums in _sums(books, aspect).items():
            tokens = sums.input_tokens + sums.cached_tokens, sums.cached_tokens, sums.output_tokens
            spent = _eur(today.get(name, _Sums()).spent), _eur(sums.spent)
            shown = _("other") if name == _OTHER else visible(name)
            yield first, shown, *spent, *map(str, (sums.calls, *tokens))
            first = ""


def _sums(books: Sequence[DayBook], aspect: str) -> dict[str, _Sums]:
    """Return what was booked by one aspect of the accounts, the dearest first."""
    found: dict[str, _Sums] = {}
    for book in books:
        unaccounted = book.spent
        for entry in book.entries:
            name = getattr(entry.account, aspect) or _OTHER
            tokens = {key: getattr(entry, key) for key in ("calls", "input_tokens", "cached_tokens", "output_tokens")}
            found[name] = found.get(name, _Sums()) + _Sums(spent=entry.spent, **tokens)
            unaccounted -= entry.spent
        if unaccounted:
            found[_OTHER] = found.get(_OTHER, _Sums()) + _Sums(spent=unaccounted)
    return dict(sorted(found.items(), key=lambda item: (-item[1].spent, item[0])))


def _total(books: Sequence[DayBook]) -> _Sums:
    return sum(_sums(books, "tier").values(), _Sums())


def _eur(micro_eur: int) -> str:
    return f"{micro_eur / MICRO:.4f}"
