"""How long a process that keeps ending is left alone."""

from __future__ import annotations

from myclaw_core.clock import Clock

__all__ = ["BackOff"]

_MOST_DOUBLINGS = 16


class BackOff:
    """After each end in a row the wait until the next start doubles, from 2 s on.

    Args:
        longest_s: Longest wait, in seconds.
        forgiven: Number of ends in a row after which it may be started again at once.

    Attributes:
        ends: How often it ended in a row.
    """

    def __init__(self, clock: Clock, *, longest_s: float, forgiven: int = 0) -> None:
        self._clock = clock
        self._longest_s = longest_s
        self._forgiven = forgiven
        self._until_s = 0.0
        self.ends = 0

    def ended(self) -> None:
        """Note that it ended by itself."""
        self.ends += 1
        counted = min(self.ends - self._forgiven, _MOST_DOUBLINGS)
        wait_s = min(self._longest_s, 2.0**counted) if counted > 0 else 0.0
        self._until_s = self._clock.monotonic() + wait_s

    def worked(self) -> None:
        """Note that it answered."""
        self.ends = 0

    @property
    def left_s(self) -> float:
        """Return the seconds until it may be started; 0 where it may be now."""
        return max(0.0, self._until_s - self._clock.monotonic()) if self.ends else 0.0
