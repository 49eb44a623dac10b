"""Local dates: a day's budget begins and ends at local midnight."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from attrs import frozen

from myclaw_core.clock import Clock

__all__ = ["LocalDays"]


@frozen
class LocalDays:
    """The dates of one place."""

    clock: Clock
    zone: tzinfo

    @property
    def today(self) -> str:
        """Return the present date, ISO-8601."""
        return self.day_of(self.clock.now())

    @property
    def resets_at(self) -> datetime:
        """Return the next local midnight, aware UTC."""
        tomorrow = self._date(self.clock.now()) + timedelta(days=1)
        return datetime.combine(tomorrow, time.min, tzinfo=self.zone).astimezone(UTC)

    @property
    def reset_words(self) -> str:
        """Return the next local midnight as people read it there."""
        return f"{self.resets_at.astimezone(self.zone):%Y-%m-%d %H:%M}"

    def day_of(self, at: datetime) -> str:
        """Return the date of a moment, ISO-8601."""
        return self._date(at).isoformat()

    def last(self, count: int) -> Sequence[str]:
        """Return the last `count` dates, today first."""
        today = self._date(self.clock.now())
        return [(today - timedelta(days=back)).isoformat() for back in range(count)]

    def _date(self, at: datetime) -> date:
        return at.astimezone(self.zone).date()
