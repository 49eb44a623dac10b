"""Goes on with designs of neurons whose questions were answered, or that were interrupted; tells how they end."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from myclaw_core.plugins.contain import one_line
from myclaw_core.runtime.channel import Channel
from myclaw_core.runtime.quiet import QuietChannel
from myclaw_core.synthesis.store import standing
from myclaw_core.synthesis.types import Synthesis
from myclaw_core.types.text import Text

if TYPE_CHECKING:
    from myclaw_core.agent import Agent

__all__ = ["LOOK_S", "keep_designing"]

LOOK_S = 5.0
"""How often it is looked what can go on."""
PAUSE = timedelta(minutes=15)
"""So long a design rests that something that passes kept from going on."""
BUSY = timedelta(seconds=30)
"""So long it rests while another process designs."""

_log = logging.getLogger("myclaw.serve")
Channels = Callable[[], Awaitable[Sequence[tuple[str, Channel]]]]


async def keep_designing(agent: Agent, channels: Channels) -> None:
    """Look again and again, until the call is cancelled; a design that is cut off goes on at its stage later.

    Args:
        channels: Returns every sender that is served, with the channel on which they are told news.
    """
    paused: dict[UUID, datetime] = {}
    looked_at = -1
    while True:
        try:
            newest = await agent.log.last()
            seq = newest.seq if newest else 0
            if seq != looked_at or any(until <= agent.clock.now() for until in paused.values()):
                await _look(agent, channels, paused)
            looked_at = seq
        except Exception as error:
            _log.warning("designs of neurons cannot be looked at now: %s", one_line(error))
        await agent.clock.sleep(LOOK_S)


async def _look(agent: Agent, channels: Channels, paused: dict[UUID, datetime]) -> None:
    now, every = agent.clock.now(), await standing(agent.log)
    for over in [each for each, until in paused.items() if until <= now]:
        del paused[over]
    for synthesis in every:
        if synthesis.stage != "ended" and synthesis.id not in paused:
            await _go_on(agent, synthesis, channels, paused)


async def _go_on(agent: Agent, before: Synthesis, channels: Channels, paused: dict[UUID, datetime]) -> None:
    from myclaw_core.synthesis.lock import BusyError
    from myclaw_core.synthesis.pipeline import Synthesizer

    lines: list[Text] = []
    try:
        after = await Synthesizer(agent, QuietChannel(), None, lines.append).go_on(before)
    except BusyError:
        paused[before.id] = agent.clock.now() + BUSY
        return
    except Exception as error:
        _log.warning("the design %s cannot go on now: %s", before.id, one_line(error))
        paused[before.id] = agent.clock.now() + PAUSE
        return
    is_between = after.stage not in ("direction", "approval", "ended")
    if is_between:
        paused[before.id] = agent.clock.now() + PAUSE
    if after.stage == "ended" and lines:
        await _tell(lines[-1], channels)


async def _tell(line: Text, channels: Channels) -> None:
    for sender, channel in await channels():
        try:
            channel.notice(line)
        except Exception as error:
            _log.warning("%s could not be told of a design: %s", sender, one_line(error))
