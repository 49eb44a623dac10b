"""Time and identifiers, injected everywhere: replay and tests need to own both."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from pathlib import Path
from typing import Any, Protocol
from uuid import UUID

__all__ = ["Clock", "SystemClock", "local_zone"]


class Clock(Protocol):
    """The only source of time and identifiers for the core and its plugins."""

    def now(self) -> datetime:
        """Return the wall clock as an aware UTC time."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never go backwards, for measuring durations."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait `seconds`."""
        ...

    def timeout(self, seconds: float) -> AbstractAsyncContextManager[Any]:
        """Return a context that raises `TimeoutError` when its body runs longer than `seconds`."""
        ...

    def new_id(self) -> UUID:
        """Return a fresh identifier."""
        ...

    def token(self) -> str:
        """Return a fresh unguessable text of at least 128 bits."""
        ...


class SystemClock:
    """The real clock."""

    def now(self) -> datetime:
        """Return the wall clock as an aware UTC time."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return seconds that never go backwards."""
        import time

        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait `seconds`."""
        import asyncio

        await asyncio.sleep(seconds)

    def timeout(self, seconds: float) -> AbstractAsyncContextManager[Any]:
        """Return a context that raises `TimeoutError` after `seconds`."""
        import asyncio

        return asyncio.timeout(seconds)

    def new_id(self) -> UUID:
        """Return a random UUID."""
        from uuid import uuid4

        return uuid4()

    def token(self) -> str:
        """Return 128 random bits as URL-safe text."""
        import secrets

        return secrets.token_urlsafe(16)


def local_zone() -> tzinfo:
    """Return the machine's time zone with its rules, or its present offset where the rules are not known."""
    import os
    import time
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    name = os.environ.get("TZ", "").lstrip(":") or str(Path("/etc/localtime").resolve()).partition("zoneinfo/")[2]
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return timezone(timedelta(seconds=time.localtime().tm_gmtoff))
