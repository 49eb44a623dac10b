"""The parts of R and what they are made from: the contract of the hook `myclaw_reward` (synthesis.md, stage 5)."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from myclaw_core.judging.types import Judgement
from myclaw_core.neurons.types import NeuronManifest
from myclaw_core.types.text import Text

__all__ = ["RewardContext", "RewardDraft", "RewardPart", "likeness"]


@frozen(kw_only=True)
class RewardDraft:
    """A draft whose tests have run.

    Attributes:
        files: Its bytes by name of the file; read only.
    """

    manifest: NeuronManifest
    files: Mapping[str, bytes]


@frozen(kw_only=True)
class RewardContext:
    """What a part of R may be made from besides the draft and its tests; gathered beforehand, so that a part is pure.

    Attributes:
        judgement: What a judge that may have a say says; `None` where there is none.
        estimated_cpu_s: CPU seconds that the tests should take.
        similarity: How alike its purpose is to that of the nearest other neuron, in [-1, 1]; -1 where there is none.
        similar_from: From which similarity on two purposes say about the same, for the embedder that compared them.
        nearest: That neuron; empty where there is none.
        covers_new: Whether it has a kind of capability that no active neuron has.
        neurons: The purposes of the active neurons by name.
    """

    judgement: Judgement | None
    estimated_cpu_s: float
    similarity: float
    similar_from: float
    nearest: str
    covers_new: bool
    neurons: Mapping[str, str] = field(factory=dict)


def likeness(similarity: float, similar_from: float) -> float:
    """Return how far two purposes are from "about the same" to "the same", in [0, 1] (synthesis.md, stage 5).

    It is `clip((similarity − similar_from) / (1 − similar_from), 0, 1)`.

    Args:
        similarity: In [-1, 1].
        similar_from: From where on two purposes say about the same.
    """
    room, beyond = 1.0 - similar_from, similarity - similar_from
    return min(1.0, max(0.0, beyond / room)) if room > 0 else float(beyond >= 0)


@frozen(kw_only=True)
class RewardPart:
    """One part of R.

    Attributes:
        name: Such as `det_pass_rate`; a part whose name has no weight in the configuration counts nothing.
        value: In [0, 1].
        feedback: What the next attempt should do otherwise, one sentence; empty where the part is good enough.
    """

    name: str
    value: float
    feedback: Text = field(factory=lambda: Text(""))
