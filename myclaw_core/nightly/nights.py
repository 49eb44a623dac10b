"""Which night a moment belongs to."""

from __future__ import annotations

from datetime import date, datetime, timedelta, tzinfo

__all__ = ["NIGHT_HOUR", "night_of"]

NIGHT_HOUR = 3
"""The hour at which the work of a night is due, in the person's time zone."""


def night_of(now: datetime, zone: tzinfo) -> date:
    """Return the date of the newest night whose work is due at `now`, the one of its morning.

    It is counted on the wall clock, so that no change to or from summer time makes two nights of one.
    """
    wall = now.astimezone(zone).replace(tzinfo=None)
    return (wall - timedelta(hours=NIGHT_HOUR)).date()
