"""One wall clock for a neuron and everything it calls; it stands still while the host waits for the person."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from myclaw_core.clock import Clock

__all__ = ["WallClock"]


class WallClock:
    """Counts down the seconds of a whole tree of calls.

    Args:
        clock: What it counts by.
        limit_s: Seconds that all of it may take, from now on.
    """

    def __init__(self, clock: Clock, limit_s: float) -> None:
        import asyncio

        self.clock = clock
        self._left_s = limit_s
        self._running_since_s: float | None = clock.monotonic()
        self._waits = 0
        self._runs = asyncio.Event()
        self._runs.set()

    def left_s(self) -> float:
        """Return how many seconds are left; negative once they are over."""
        if self._running_since_s is None:
            return self._left_s
        return self._left_s - (self.clock.monotonic() - self._running_since_s)

    @property
    def stands(self) -> bool:
        """Return whether it stands still now."""
        return self._running_since_s is None

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Stand still while the block runs; blocks may overlap."""
        if self._waits == 0:
            self._left_s, self._running_since_s = self.left_s(), None
            self._runs.clear()
        self._waits += 1
        try:
            yield
        finally:
            self._waits -= 1
            if self._waits == 0:
                self._running_since_s = self.clock.monotonic()
                self._runs.set()

    async def over(self) -> None:
        """Return once the time is over; time that it stood still is added."""
        import asyncio

        while (left_s := self.left_s()) > 0 or self.stands:
            if self.stands:
                await self._runs.wait()
                continue
            with suppress(TimeoutError):
                async with self.clock.timeout(left_s):
                    await asyncio.get_running_loop().create_future()
