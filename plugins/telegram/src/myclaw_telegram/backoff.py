"""How long to wait before the next try, and when what went wrong earlier is forgotten."""

from __future__ import annotations

from collections.abc import Callable
from secrets import SystemRandom

from myclaw_core.clock import Clock

__all__ = ["STEADY_S", "Backoff"]

STEADY_S = 60.0
"""So long every try must succeed before failures are forgotten: where another program reads the same bot, every second
try succeeds and none of it lasts."""

_FIRST_WAIT_S = 1.0
_LONGEST_WAIT_S = 60.0
_RANDOM = SystemRandom()


class Backoff:
    """The waits of one loop: 1 s, doubled with each failure up to 60 s, each shortened by up to half at random.

    Attributes:
        failures: How many are not forgotten.

    Args:
        clock: Measures how long it went well.
        jitter: Gives numbers in [0, 1).
    """

    def __init__(self, clock: Clock, jitter: Callable[[], float] = _RANDOM.random) -> None:
        self._clock = clock
        self._jitter = jitter
        self._well_since_s: float | None = None
        self.failures = 0

    def failed(self) -> float:
        """Take in a failure and return how many seconds to wait."""
        self._well_since_s = None
        self.failures += 1
        wait_s = min(_FIRST_WAIT_S * 2.0 ** min(self.failures - 1, 10), _LONGEST_WAIT_S)
        return wait_s * (1 + self._jitter()) / 2

    def succeeded(self) -> None:
        """Take in a success; failures are forgotten once it went well for a minute."""
        now_s = self._clock.monotonic()
        if self._well_since_s is None:
            self._well_since_s = now_s
        if now_s - self._well_since_s >= STEADY_S:
            self.failures = 0
