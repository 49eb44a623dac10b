"""The graph of neurons: nodes, edges and what a search in it gives (seed 003 §8)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from attrs import define, field

__all__ = ["GraphEdge", "GraphNode", "NeuronState", "RetrievalResult"]


class NeuronState(StrEnum):
    """The life of a neuron; stored as the seed writes it."""

    NEWBORN = "neonato"
    ACTIVE = "attivo"
    DORMANT = "dormiente"
    QUARANTINED = "quarantena"
    EXTINCT = "estinto"


@define(kw_only=True)
class GraphNode:
    """One neuron.

    Attributes:
        fitness: Faded sum of how far each call came nearer to its goal.
        strikes: Failures in a row.
    """

    name: str
    state: NeuronState
    fitness: float
    invocations: int
    last_invoked_at: datetime | None
    strikes: int
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@define(kw_only=True)
class GraphEdge:
    """One neuron calling another.

    Attributes:
        declared: Whether the manifest of `src` allows it.
        co_activations: How often it was seen.
        weight: Recomputed each night from use.
        bandit: What self-play added, kept apart from the weight.
    """

    src: str
    dst: str
    declared: bool
    co_activations: int
    weight: float
    last_co_at: datetime | None
    bandit: float = 0.0
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@define(kw_only=True)
class RetrievalResult:
    """Candidates for a goal, best first.

    Attributes:
        picked_by: Whether the first place went by score or to one that is tried out.
    """

    candidates: list[GraphNode]
    picked_by: Literal["score", "exploration"]
    unknown_fields: Mapping[str, Any] = field(factory=dict)
