"""The end of a run that sent something: it waits until the holds are over, and Ctrl-C recalls what is held."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from myclaw_core.messages import n_, render

if TYPE_CHECKING:
    from myclaw_core.clock import Clock
    from myclaw_core.outbox.outbox import Outbox

__all__ = ["STOPPED", "see_off"]

STOPPED = 130
"""Exit code of what the person stopped."""
_TICK_S = 1.0


async def see_off(outbox: Outbox, clock: Clock, code: int) -> int:
    """Wait until this process holds nothing more, and return the exit code.

    Args:
        code: That of the run; one that was stopped recalls what it had sent.

    Returns:
        130 where what was held was recalled here, 1 where something was not sent or may not have been, else `code`.
    """
    held = {each.id for each in outbox.waiting}
    if not held:
        return code
    stopped = code == STOPPED or not await _waited(outbox, clock)
    if stopped:
        for told in await outbox.recall_all():
            print(f"myclaw: {render(told)}", file=sys.stderr)
        await outbox.wait()
        return STOPPED
    ended = [message.state for message in await outbox.messages() if message.id in held]
    return code or int(any(state in {"failed", "unknown", "held", "sending"} for state in ended))


async def _waited(outbox: Outbox, clock: Clock) -> bool:
    """Wait, showing the time that is left; return whether nobody stopped it."""
    gone = asyncio.ensure_future(outbox.wait())
    with _interrupts() as stopped:
        stop = asyncio.ensure_future(stopped.wait())
        for line in _lines(outbox, clock):
            print(line, end="" if sys.stderr.isatty() else "\n", file=sys.stderr, flush=True)
            tick = asyncio.ensure_future(clock.sleep(_TICK_S))
            waits = {gone, stop, tick} if sys.stderr.isatty() else {gone, stop}
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            tick.cancel()
            if gone.done() or stop.done():
                break
        stop.cancel()
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return gone.done() or not gone.cancel()


def _lines(outbox: Outbox, clock: Clock) -> Iterator[str]:
    """Yield the line that is shown, again and again; on a terminal each takes the place of the one before."""
    while True:
        waiting = outbox.waiting
        left_s = max((each.due_s - clock.monotonic() for each in waiting), default=0.0)
        line = n_(
            "{n} message is held and sent in {s} s; Ctrl-C recalls it",
            "{n} messages are held, the last one is sent in {s} s; Ctrl-C recalls them",
            len(waiting),
            s=max(0, round(left_s)),
        )
        yield f"\r{line}   " if sys.stderr.isatty() else f"myclaw: {line}"


@contextmanager
def _interrupts() -> Iterator[asyncio.Event]:
    """Turn Ctrl-C into an event."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, stopped.set)
    try:
        yield stopped
    finally:
        loop.remove_signal_handler(signal.SIGINT)
