"""Threads for code of plugins: what hangs there takes no thread from anybody else and holds up no exit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from threading import Thread
from typing import Any, TypeVar

__all__ = ["in_own_thread"]

T = TypeVar("T")


async def in_own_thread(function: Callable[[], T]) -> T:
    """Return what `function` returns in a thread of its own.

    A pool has few threads, and its end waits for each of them; a function that never returns would keep one for good.
    Where the calling task is cancelled the function goes on, and nobody waits for it any more.

    Raises:
        asyncio.CancelledError: The calling task was cancelled.
    """
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[T] = loop.create_future()

    def run() -> None:
        try:
            tell: Callable[[], None] = partial(_settle, ended, ended.set_result, function())
        except BaseException as error:
            tell = partial(_settle, ended, ended.set_exception, error)
        with suppress(RuntimeError):  # the loop is closed: nobody waits
            loop.call_soon_threadsafe(tell)

    Thread(target=copy_context().run, args=(run,), daemon=True, name="myclaw-plugin").start()
    return await ended


def _settle(ended: asyncio.Future[T], settle: Callable[[Any], None], outcome: Any) -> None:
    if not ended.done():
        settle(outcome)
