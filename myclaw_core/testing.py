"""Fakes and builders for tests of the core and of plugins; nothing here discovers real plugins."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

__all__ = ["FakeClock"]


class FakeClock:
    """A clock that moves only when it is told to, with identifiers that count.

    `sleep` returns at once and moves the clock; `timeout` never fires.
    """

    def __init__(self, start: datetime = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)) -> None:
        self._now = start
        self._monotonic_s = 0.0
        self._ids = 0

    def now(self) -> datetime:
        """Return the fake wall clock."""
        return self._now

    def monotonic(self) -> float:
        """Return the seconds that this clock was advanced in all."""
        return self._monotonic_s

    def advance(self, **delta: float) -> None:
        """Move the clock forward, for example `advance(days=1)`."""
        step = timedelta(**delta)
        self._now += step
        self._monotonic_s += step.total_seconds()

    def set(self, now: datetime) -> None:
        """Set the wall clock, also backwards; the monotonic clock stays."""
        self._now = now

    async def sleep(self, seconds: float) -> None:
        """Advance the clock by `seconds` and let other tasks run."""
        import asyncio

        self.advance(seconds=seconds)
        await asyncio.sleep(0)

    def timeout(self, seconds: float) -> AbstractAsyncContextManager[Any]:
        """Return a context that never times out."""
        return _no_timeout()

    def new_id(self) -> UUID:
        """Return the next of a fixed row of UUIDs."""
        self._ids += 1
        return UUID(int=(0x4000 << 64) | (0x8 << 60) | self._ids)

    def token(self) -> str:
        """Return the next of a fixed row of tokens."""
        self._ids += 1
        return f"token-{self._ids:016d}"


@asynccontextmanager
async def _no_timeout() -> AsyncIterator[None]:
    yield
