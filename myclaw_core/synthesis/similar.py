"""Which neuron that is there says it does about the same as another purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from myclaw_core.neurons.types import VerifiedNeuron
from myclaw_core.synthesis.reward import likeness

if TYPE_CHECKING:
    from myclaw_core.agent import Agent

__all__ = ["Nearest", "active_neurons", "nearest_purpose"]


@frozen(kw_only=True)
class Nearest:
    """The neuron whose purpose is most alike.

    Attributes:
        similarity: In [-1, 1].
        similar_from: From where on two purposes say about the same, for the embedder that compared them.
    """

    name: str
    similarity: float
    similar_from: float

    @property
    def way(self) -> float:
        """Return how far it is from "about the same" to "the same", in [0, 1] (synthesis.md, similarity_penalty)."""
        return likeness(self.similarity, self.similar_from)


async def active_neurons(agent: Agent) -> dict[str, VerifiedNeuron]:
    """Return the neurons that can be called, by name.

    Raises:
        StoreError: The log cannot be read.
    """
    await agent.services.neurons.refresh()
    entries = await agent.services.neurons.entries()
    return {each.name: each.neuron for each in entries if each.state == "active" and each.neuron is not None}


async def nearest_purpose(agent: Agent, purpose: str, *, but: str) -> Nearest | None:
    """Return the active neuron whose purpose is most alike, `None` where there is none.

    Args:
        but: A neuron that is left out.
    """
    others = {name: each for name, each in (await active_neurons(agent)).items() if name != but}
    if not others:
        return None
    names = sorted(others)
    ranking = await agent.embedding.for_purpose(purpose, [others[name].manifest.purpose for name in names])
    best = ranking.matches[0]
    return Nearest(name=names[best.place], similarity=best.similarity, similar_from=ranking.similar_from)
