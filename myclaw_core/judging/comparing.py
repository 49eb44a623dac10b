"""Which of two answers a critic finds better: asked twice with the order swapped, so that no place wins by itself."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve

from myclaw_core.clock import Clock
from myclaw_core.judging.asking import asked_critic
from myclaw_core.judging.judge import Critic, LocalModel
from myclaw_core.judging.types import Comparison, Preference

__all__ = ["compared"]

_SWAPPED: Mapping[Preference, Preference] = {"left": "right", "right": "left", "tie": "tie"}
_DISAGREED = "asked again with the order swapped, it preferred otherwise"


async def compared(critic: Critic, task: str, one: str, other: str, local: LocalModel, clock: Clock) -> Comparison:
    """Return the better answer: `left` is `one`, `right` is `other`; disagreement with itself is a tie (synapse.md).

    Raises:
        UnavailableError: The critic cannot say.
        asyncio.CancelledError: Whoever asks was cancelled.
    """
    first = await asked_critic(critic, task, one, other, local, clock)
    if first.winner == "tie":
        return first
    second = await asked_critic(critic, task, other, one, local, clock)
    if _SWAPPED[second.winner] == first.winner:
        return first
    return evolve(first, winner="tie", reason=_DISAGREED)
