"""Which night a moment belongs to."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo

__all__ = ["NIGHT_HOUR", "next_night", "night_of"]

NIGHT_HOUR = 3
"""The hour at which the work of a night is due, in the person's time zone."""


def night_of(now: datetime, zone: tzinfo) -> date:
    """Return the date of the newest night whose work is due at `now`, the one of its morning.

    It is counted on the wall clock, so that no change to or from summer time makes two nights of one.
    """
    wall = now.astimezone(zone).replace(tzinfo=None)
    return (wall - timedelta(hours=NIGHT_HOUR)).date()


def next_night(after: datetime, zone: tzinfo) -> datetime:
    """Return the first moment after `after` at which the work of a night is due, one for each date.

    Where that hour does not exist on a date it is the end of the gap, where it exists twice the first of them.
    """
    today = after.astimezone(zone).date()
    moments = (
        datetime.combine(today + timedelta(days=days), time(NIGHT_HOUR), zone).astimezone(UTC) for days in (0, 1)
    )
    return next(moment for moment in moments if moment > after)
