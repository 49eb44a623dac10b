"""Work that is done to its end whatever happens: a turn may be stopped twice, and what was done is recorded still."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

__all__ = ["ended_soon", "finished", "to_its_end"]

P = ParamSpec("P")
T = TypeVar("T")

PATIENCE_S = 0.5
"""Seconds that code of a plugin is waited for once it was told to stop."""


async def finished(work: Coroutine[Any, Any, T]) -> T:
    """Return what `work` gives; it is not cancelled with the calling task.

    Raises:
        asyncio.CancelledError: The calling task was cancelled meanwhile, and the work is done; its own error comes
            first.
    """
    doing = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not doing.done():
        try:
            await asyncio.wait({doing})
        except asyncio.CancelledError as error:
            cancelled = error
    result = doing.result()
    if cancelled is not None:
        raise cancelled
    return result


def to_its_end(work: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Return `work` as something that is never left half done: each call of it is `finished`."""

    @wraps(work)
    async def whole(*args: P.args, **kwargs: P.kwargs) -> T:
        return await finished(work(*args, **kwargs))

    return whole


async def ended_soon(work: asyncio.Future[Any]) -> bool:
    """Wait a moment and return whether `work` has ended; if not, it is cancelled and nobody waits for it any more."""
    # Real time, not the injected clock's: what a plugin really does is waited for.
    await asyncio.wait({work}, timeout=PATIENCE_S)
    has_ended = work.done()
    work.cancel()
    work.add_done_callback(_forget)
    return has_ended


def _forget(work: asyncio.Future[Any]) -> None:
    """Take the error of work, which asyncio would report otherwise."""
    if not work.cancelled():
        work.exception()
