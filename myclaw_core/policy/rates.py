"""How often a class of effects may happen, and how much one sender may have done (policy check 3)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from attrs import define, frozen

from myclaw_core.errors import StoreError
from myclaw_core.types.text import Text

__all__ = ["RATE_KIND", "RateBook", "RateLimits"]

RATE_KIND = "rate"
"""Kind of the records that keep the counters."""

_MINUTE_S = 60
_DAY_S = 86_400


@frozen(kw_only=True)
class RateLimits:
    """Most actions per minute and per day, for each effect class and for each sender."""

    class_per_minute: int = 120
    class_per_day: int = 5_000
    sender_per_minute: int = 240
    sender_per_day: int = 20_000


@define
class _Window:
    """How much was done since `start` (seconds since the epoch), within a window of `length` seconds."""

    length: int
    start: float
    count: int

    def roll(self, now: float) -> None:
        """Open a new window once this one is over.

        A clock set back keeps the count and starts the wait anew: it neither unlocks nor locks for years.
        """
        if now < self.start:
            self.start = now
        elif now >= self.start + self.length:
            self.start, self.count = now, 0


class RateBook:
    """Counters in memory; the runtime keeps their records.

    Args:
        limits: Most actions per window.
    """

    def __init__(self, limits: RateLimits | None = None) -> None:
        self._limits = limits or RateLimits()
        self._windows: dict[str, tuple[_Window, _Window]] = {}

    def load(self, records: Iterable[tuple[str, bytes]]) -> None:
        """Take over stored records.

        Raises:
            StoreError: A record cannot be read; a limit that forgets is none.
        """
        for key, value in records:
            self._windows[key] = _windows_of(key, value)

    def check(self, sender: str, effect_class: str, now: datetime) -> Text | None:
        """Return why one more action is too many and when it may be tried again, or `None`."""
        limits = self._limits
        return self._over(
            f"class/{effect_class}", effect_class, limits.class_per_minute, limits.class_per_day, now
        ) or self._over(f"sender/{sender}", sender, limits.sender_per_minute, limits.sender_per_day, now)

    def count(self, sender: str, effect_classes: Sequence[str], now: datetime) -> tuple[tuple[str, bytes], ...]:
        """Count one action and return the records (key, value) to store with it."""
        keys = [*(f"class/{effect_class}" for effect_class in dict.fromkeys(effect_classes)), f"sender/{sender}"]
        return tuple((key, self._add(key, now.timestamp())) for key in keys)

    def _over(self, key: str, who: str, per_minute: int, per_day: int, now: datetime) -> Text | None:
        windows = self._windows.get(key)
        if windows is None:
            return None if per_minute > 0 and per_day > 0 else Text("{who} is limited to 0 actions", {"who": who})
        for window, limit, unit in zip(windows, (per_minute, per_day), ("minute", "day"), strict=True):
            window.roll(now.timestamp())
            if window.count >= limit:
                return _refusal(who, limit, unit, window)
        return None

    def _add(self, key: str, now: float) -> bytes:
        windows = self._windows.setdefault(key, (_Window(_MINUTE_S, now, 0), _Window(_DAY_S, now, 0)))
        for window in windows:
            window.roll(now)
            window.count += 1
        minute, day = windows
        record = {
            "schema_version": "1.0",
            "minute": [minute.start, minute.count],
            "day": [day.start, day.count],
        }
        return json.dumps(record).encode()


def _refusal(who: str, limit: int, unit: str, window: _Window) -> Text:
    free_at = int(window.start + window.length) + 1
    return Text(
        "{who} reached its limit of {limit} a {unit}; try again at {at}",
        {"who": who, "limit": limit, "unit": unit, "at": f"{datetime.fromtimestamp(free_at, UTC):%Y-%m-%dT%H:%M:%SZ}"},
    )


def _windows_of(key: str, value: bytes) -> tuple[_Window, _Window]:
    try:
        record = json.loads(value)
        (minute_start, minute_count), (day_start, day_count) = record["minute"], record["day"]
        return (
            _Window(_MINUTE_S, float(minute_start), int(minute_count)),
            _Window(_DAY_S, float(day_start), int(day_count)),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(f"rate record {key!r} cannot be read; restore the core database from a backup") from error
