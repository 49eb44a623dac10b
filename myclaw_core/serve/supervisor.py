"""Keeps one messenger running: whatever ends it, it is started again, and no other one notices."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from myclaw_core.clock import Clock
from myclaw_core.errors import MyclawError
from myclaw_core.messages import N_
from myclaw_core.plugins.contain import one_line
from myclaw_core.runtime.received import received_error
from myclaw_core.serve.watch import Watch
from myclaw_core.types.text import Text

__all__ = ["supervise"]

_log = logging.getLogger("myclaw.serve")


async def supervise(serve: Callable[[], Awaitable[None]], watch: Watch, clock: Clock) -> None:
    """Run `serve` again and again, with pauses that `watch` gives, until the call is cancelled."""
    while True:
        why = await _why_ended(serve)
        wait_s = watch.failed(why)
        _log.warning("%s: %s; it is started again in %.0f s", watch.state.name, why, wait_s)
        await clock.sleep(wait_s)


async def _why_ended(serve: Callable[[], Awaitable[None]]) -> Text:
    """Run `serve` once, in a task of its own, and return why it ended.

    Raises:
        CancelledError: The calling task was cancelled, and not only what `serve` runs in.
    """
    ran = asyncio.create_task(_run(serve))
    try:
        return await ran
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return N_("it broke: {error}", error=one_line(error))


async def _run(serve: Callable[[], Awaitable[None]]) -> Text:
    try:
        await serve()
    except MyclawError as error:
        return received_error(error)
    except (KeyboardInterrupt, GeneratorExit, asyncio.CancelledError):
        raise
    except BaseException as error:
        return N_("it broke: {error}", error=one_line(error))
    return N_("it ended by itself")
