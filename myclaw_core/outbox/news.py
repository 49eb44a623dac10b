"""After a restart: people on messengers are told what of theirs was not sent, or may not have been."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from myclaw_core.outbox.outbox import Outbox
from myclaw_core.outbox.words import told
from myclaw_core.plugins.contain import one_line
from myclaw_core.runtime.channel import Channel

__all__ = ["tell_unsent"]

_log = logging.getLogger("myclaw.outbox")


async def tell_unsent(outbox: Outbox, find: Callable[[str, str, str], Awaitable[Channel | None]]) -> None:
    """Tell each sender of each message once; rather twice than never, where the program ended just then.

    Args:
        find: Returns the channel of messenger, sender and place; `None` where nobody is served.
    """
    for message in await outbox.owed():
        try:
            channel = await find(message.channel, message.sender, "")
            if channel is not None:
                channel.notice(told(message))
                await outbox.was_told(message)
        except Exception as error:
            _log.error("%s could not be told of a message: %s", message.sender, one_line(error))
