"""Moments in the one written form whose text order is the order in time."""

from __future__ import annotations

from datetime import UTC, datetime

__all__ = ["parse_stamp", "stamp"]

_FORM = "%Y-%m-%dT%H:%M:%S.%fZ"


def stamp(at: datetime) -> str:
    """Return `at` as ISO-8601 UTC with microseconds and `Z`.

    Raises:
        ValueError: `at` has no time zone.
    """
    if at.tzinfo is None:
        raise ValueError("a moment needs its time zone")
    return at.astimezone(UTC).strftime(_FORM)


def parse_stamp(text: str) -> datetime:
    """Return the moment that `stamp` wrote.

    Raises:
        ValueError: `text` has another form.
    """
    return datetime.strptime(text, _FORM).replace(tzinfo=UTC)
