"""A fake clock whose sleepers really wait until the test lets time pass."""

from __future__ import annotations

import asyncio
import heapq
from datetime import timedelta
from itertools import count

from myclaw_core.testing import FakeClock

__all__ = ["WaitingClock"]

_ROUNDING_S = 1e-6


class WaitingClock(FakeClock):
    """A clock on which `sleep` ends when `pass_time` has brought it to that moment."""

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = count()
        self._came = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        """Wait until the test has let `seconds` pass."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        future = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.monotonic() + seconds, next(self._order), future))
        self._came.set()
        await future

    def advance(self, **delta: float) -> None:
        """Move the clock forward and wake whose time has come."""
        super().advance(**delta)
        while self._sleepers and self._sleepers[0][0] <= self.monotonic() + _ROUNDING_S:
            *_, future = heapq.heappop(self._sleepers)
            if not future.done():
                future.set_result(None)

    async def asleep(self, number: int = 1) -> None:
        """Wait until so many tasks sleep."""
        while sum(not future.done() for *_, future in self._sleepers) < number:
            self._came.clear()
            await self._came.wait()

    async def pass_time(self, *, sleepers: int = 1, **delta: float) -> None:
        """Let time pass; each sleeper wakes at its moment, and so many must sleep again before it goes on."""
        until_s = self.monotonic() + timedelta(**delta).total_seconds()
        await self.asleep(sleepers)
        while self._sleepers and self._sleepers[0][0] <= until_s:
            self.advance(seconds=max(0.0, self._sleepers[0][0] - self.monotonic()))
            await asyncio.sleep(0)
            await self.asleep(sleepers)
        self.advance(seconds=max(0.0, until_s - self.monotonic()))
