"""After a restart: people are told which of their turns the end of the program cut off, and what can be done."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from myclaw_core.messages import N_
from myclaw_core.plugins.contain import one_line
from myclaw_core.runtime.channel import Channel
from myclaw_core.runtime.types import ExecutionTrace
from myclaw_core.runtime.undoing import first_words
from myclaw_core.sessions.kept import KeptSessions, SessionRecord

__all__ = ["tell_interrupted"]

FindChannel = Callable[[str, str, str], Awaitable[Channel | None]]
_log = logging.getLogger("myclaw.sessions")


async def tell_interrupted(kept: KeptSessions, find: FindChannel) -> None:
    """Tell each sender of the turn that ran when the program ended, once.

    Args:
        kept: The sessions; recovery has closed their turns.
        find: Returns the channel of messenger, sender and place.
    """
    for record in await kept.all():
        if record.running is None:
            continue
        try:
            trace = await kept.trace(record.running)
            await _tell(record, trace, find)
            await kept.ended(record, trace)
        except Exception as error:
            _log.error("%s could not be told of a turn: %s", record.session.sender, one_line(error))


async def _tell(record: SessionRecord, trace: ExecutionTrace | None, find: FindChannel) -> None:
    """Tell of one turn; of one that never began there is nothing to tell: its message waits still."""
    session = record.session
    channel = await find(session.channel, session.sender, record.place) if trace is not None else None
    if trace is None or channel is None:
        return
    words, short = first_words(trace), str(trace.id)[:13]
    if trace.outcome == "interrupted":
        channel.notice(
            N_(
                "the program ended while it worked on '{words}' (trace {trace}). It is not run again by itself: "
                "/undo {trace} takes back what was done, send it again to have it done",
                words=words,
                trace=short,
            )
        )
        return
    if trace.outcome != "success":
        channel.notice(
            N_(
                "the program ended just after '{words}' (trace {trace}), which was not done to its end; "
                "/why {trace} says why, /undo {trace} takes back what was done",
                words=words,
                trace=short,
            )
        )
        return
    channel.notice(N_("the program ended just after '{words}' (trace {trace}); it was done", words=words, trace=short))
    if answer := next((message.text for message in reversed(trace.messages) if message.role == "assistant"), ""):
        channel.show(answer)
