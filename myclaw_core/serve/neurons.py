"""Keeps the neurons of a service in step with their folder, and tells the people it serves of those put aside."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from myclaw_core.neurons.types import NeuronRecord
from myclaw_core.neurons.words import put_aside
from myclaw_core.plugins.contain import one_line
from myclaw_core.runtime.channel import Channel

if TYPE_CHECKING:
    from myclaw_core.agent import Agent

__all__ = ["LOOK_S", "keep_neurons"]

LOOK_S = 1.0
"""How often it is looked whether a folder has changed; another process may have put one aside, too."""

_log = logging.getLogger("myclaw.serve")


async def keep_neurons(agent: Agent, channels: Callable[[], Awaitable[Sequence[tuple[str, Channel]]]]) -> None:
    """Look again and again, until the call is cancelled.

    What was put aside before is not told again; what nobody could be told of stands in the digest.

    Args:
        channels: Returns every sender that is served, with the channel on which they are told news.
    """
    told: set[tuple[str, datetime]] | None = None
    while True:
        try:
            aside = await _aside(agent)
            for key, record in aside.items() if told is not None else ():
                if told is not None and key not in told:
                    await _tell(record, channels)
            told = set(aside)
        except Exception as error:
            _log.warning("the neurons cannot be looked at now: %s", one_line(error))
        await agent.clock.sleep(LOOK_S)


async def _aside(agent: Agent) -> dict[tuple[str, datetime], NeuronRecord]:
    entries = await agent.services.neurons.entries()
    records = [each.record for each in entries if each.record is not None and each.state == "quarantined"]
    return {(record.name, record.at): record for record in records}


async def _tell(record: NeuronRecord, channels: Callable[[], Awaitable[Sequence[tuple[str, Channel]]]]) -> None:
    for sender, channel in await channels():
        try:
            channel.notice(put_aside(record.name, record.reason))
        except Exception as error:
            _log.warning("%s could not be told of a neuron: %s", sender, one_line(error))
