"""Lets a thread that finds the undo store full wait until what nobody needs any more is dropped."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError

from myclaw_core.clock import Clock
from myclaw_core.errors import MyclawError

__all__ = ["RoomMaker"]

_EVERY_S = 600.0
_log = logging.getLogger("myclaw.undo")


class RoomMaker:
    """Sweeps on demand, at most every 10 minutes; make it where the event loop runs.

    Args:
        sweep: Drops what nobody needs.
        clock: Time.
    """

    def __init__(self, sweep: Callable[[], Awaitable[object]], clock: Clock) -> None:
        self._sweep = sweep
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._loop_thread = threading.get_ident()
        self._next_s = clock.monotonic()
        self._lock = threading.Lock()

    def __call__(self) -> None:
        """Sweep once and wait for it; nothing happens on the event loop's own thread, which must not wait.

        Nor does it where another thread waits: if all of a pool did, none would be left for the sweep itself.
        """
        if threading.get_ident() == self._loop_thread or not self._lock.acquire(blocking=False):
            return
        try:
            if self._clock.monotonic() >= self._next_s:
                asyncio.run_coroutine_threadsafe(self._run(), self._loop).result()
                self._next_s = self._clock.monotonic() + _EVERY_S
        except CancelledError:
            return
        finally:
            self._lock.release()

    async def _run(self) -> None:
        try:
            await self._sweep()
        except MyclawError as error:
            _log.warning("the undo store is full and could not be swept: %s", error)
