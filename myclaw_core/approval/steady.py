"""Wall time that never goes back: a clock that is set back must not give anything that ends a longer life."""

from __future__ import annotations

from datetime import datetime, timedelta

from myclaw_core.clock import Clock

__all__ = ["SteadyTime"]


class SteadyTime:
    """The wall clock as long as it goes forward; else time goes on from the latest moment that was seen.

    Args:
        clock: Time; its monotonic part says how much passed whatever the wall clock shows.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._at = clock.now()
        self._monotonic_s = clock.monotonic()

    def now(self) -> datetime:
        """Return the present moment, aware UTC."""
        monotonic_s = self._clock.monotonic()
        passed = timedelta(seconds=monotonic_s - self._monotonic_s)
        self._at, self._monotonic_s = max(self._clock.now(), self._at + passed), monotonic_s
        return self._at

    def saw(self, at: datetime) -> None:
        """Take over a moment that is known to have been, such as that of the newest event."""
        self._at = max(self.now(), at)

    def in_s(self, seconds: float) -> float:
        """Return the reading of the monotonic clock in so many seconds."""
        return self._clock.monotonic() + seconds

    def is_past(self, monotonic_s: float) -> bool:
        """Return whether the monotonic clock, of one start of the machine, has reached a reading."""
        return self._clock.monotonic() >= monotonic_s
