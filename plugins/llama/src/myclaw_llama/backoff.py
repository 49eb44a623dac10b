"""How long a process that keeps ending is left alone."""

from __future__ import annotations

from myclaw_core.clock import Clock

__all__ = ["BackOff"]

_LONGEST_S = 60.0


class BackOff:
    """After the first end it may be started again at once; after each further one in a row the wait doubles from 2 s.

    Attributes:
        ends: How often it ended in a row.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until_s = 0.0
        self.ends = 0

    def ended(self) -> None:
        """Note that it ended by itself."""
        self.ends += 1
        wait_s = min(_LONGEST_S, 2.0 ** (self.ends - 1)) if self.ends > 1 else 0.0
        self._until_s = self._clock.monotonic() + wait_s

    def worked(self) -> None:
        """Note that it answered."""
        self.ends = 0

    @property
    def left_s(self) -> float:
        """Return the seconds until it may be started; 0 where it may be now."""
        return max(0.0, self._until_s - self._clock.monotonic()) if self.ends else 0.0
