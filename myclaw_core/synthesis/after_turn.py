"""What follows from a turn that failed for want of a skill: the question whether a neuron may be designed."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from myclaw_core.errors import MyclawError
from myclaw_core.messages import N_
from myclaw_core.runtime.channel import Channel
from myclaw_core.runtime.quiet import QuietChannel
from myclaw_core.runtime.types import ExecutionTrace, Turn
from myclaw_core.synthesis.pipeline import Synthesizer
from myclaw_core.synthesis.triggers import trigger_of
from myclaw_core.synthesis.wanted import request_after

if TYPE_CHECKING:
    from myclaw_core.agent import Agent

__all__ = ["AfterFailure"]

_log = logging.getLogger("myclaw.synthesis")


class AfterFailure:
    """Given each turn of a session that ended.

    Args:
        agent: The opened agent.
        channel: That of the session.
        here: Whether a design goes on in the session itself, as at a terminal; else its question is left, and whoever
            serves designs after a yes.
    """

    def __init__(self, agent: Agent, channel: Channel, *, here: bool) -> None:
        self._agent = agent
        self._channel = channel
        self._here = here

    async def __call__(self, trace: ExecutionTrace, turn: Turn) -> None:
        """Ask whether a neuron may be designed, where the turn is a reason for that; it breaks no session.

        Raises:
            asyncio.CancelledError: It was stopped; what was begun goes on later.
        """
        try:
            synthesis = await request_after(self._agent, trace, turn)
            why = trigger_of(trace, turn)
            if synthesis is not None and why is not None:
                self._channel.notice(N_("{why} – you are asked whether a neuron may be designed for it", why=why))
                channel = self._channel if self._here else None
                tell = self._channel.notice if self._here else lambda _line: None
                await Synthesizer(self._agent, QuietChannel(), channel, tell).go_on(synthesis)
        except MyclawError as error:
            _log.warning("no neuron is designed after the turn %s: %s", trace.id, error)
