"""Brings what runs without anybody there left to the people who are elsewhere, once, as soon as it is found."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from myclaw_core.plugins.contain import one_line
from myclaw_core.runtime.channel import Channel
from myclaw_core.runtime.deferred import can_be_put, offer

if TYPE_CHECKING:
    from myclaw_core.agent import Agent

__all__ = ["LOOK_S", "keep_offering"]

LOOK_S = 60.0
"""How often it is looked for something new; another process may have left it."""

_log = logging.getLogger("myclaw.approval")


async def keep_offering(agent: Agent, channels: Callable[[], Awaitable[Sequence[tuple[str, Channel]]]]) -> None:
    """Put what was left to everybody who is told news, until the call is cancelled; the cards are withdrawn then.

    A question is brought once in a run of the program; after that `/pending` shows it.

    Args:
        channels: Returns every sender that is served, with the channel on which they are told news.
    """
    brought: set[UUID] = set()
    async with asyncio.TaskGroup() as group:
        while True:
            try:
                ready = {left.request.id for left in await can_be_put(agent.services)}
                found = await channels() if ready - brought else ()
            except Exception as error:
                _log.warning("what was left cannot be brought now: %s", one_line(error))
            else:
                for sender, channel in found:
                    group.create_task(_offer(agent, channel, sender))
                brought = ready if found else ready & brought
            await agent.clock.sleep(LOOK_S)


async def _offer(agent: Agent, channel: Channel, sender: str) -> None:
    try:
        await offer(agent, channel, sender)
    except Exception as error:
        _log.warning("%s could not be asked what was left: %s", sender, one_line(error))
