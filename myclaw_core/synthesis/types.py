"""What goes into the synthesizer and what comes out of it (seed 001 §4, §11)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from attrs import define, field, frozen

__all__ = [
    "InternalProposal",
    "NeuronSpec",
    "RewardBreakdown",
    "SynthesisOutcome",
    "SynthesisRequest",
    "SynthesisResult",
]

SynthesisOutcome = Literal["born", "abandoned", "rejected_direction"]


@frozen(kw_only=True)
class NeuronSpec:
    """What the neuron shall be, before any of its code exists.

    Attributes:
        purpose: 1 to 4 sentences.
        input_schema: JSON Schema of its arguments.
        output_schema: JSON Schema of its output.
        rationale: Why it is needed and what was not enough.
        may_call: Tools and neurons it is expected to call.
        estimated_cpu_s: CPU seconds its birth tests should take; one a test where `None`.
    """

    proposed_name: str
    purpose: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any]
    capabilities_requested: tuple[str, ...]
    rationale: str
    may_call: tuple[str, ...]
    estimated_cpu_s: float | None = None
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@define(kw_only=True)
class SynthesisRequest:
    """A failure that a new neuron may mend.

    Attributes:
        goal: The goal in plain words.
        trace_id: The trace that failed.
        mode: `external` after a failed turn, `internal` from a pattern seen over weeks.
        capability_hint: First guesses at what it will need.
        budget_cents: Most EUR cents that may be spent on frontier calls.
    """

    goal: str
    trace_id: UUID
    mode: Literal["external", "internal"]
    capability_hint: list[str]
    budget_cents: float
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@define(kw_only=True)
class RewardBreakdown:
    """The composite reward R of stage 5 and its parts, each in [0, 1] (seed 000, experiment B).

    Attributes:
        det_pass_rate: Share of deterministic tests that passed.
        judge_reasoning: The judge's two or three lines.
        cost_ratio: 1 − actual / estimated cost, clipped.
        similarity_penalty: Enters R with a minus sign.
        coverage_bonus: 1 if it covers an effect class that no active neuron covers.
        total: R.
        extra: Named parts of plugins.
    """

    det_pass_rate: float
    judge_score: float
    judge_reasoning: str
    cost_ratio: float
    similarity_penalty: float
    coverage_bonus: float
    total: float
    extra: Mapping[str, float] = field(factory=dict)
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@define(kw_only=True)
class SynthesisResult:
    """How a request ended.

    Attributes:
        neuron_path: Folder of the neuron that was born.
        retries_used: 0 to 3.
        cost_cents: EUR cents spent.
        rejection_reason: Why it was not born.
        final_reward: Set once stage 5 was reached.
    """

    request_id: UUID
    outcome: SynthesisOutcome
    neuron_name: str | None
    neuron_path: str | None
    retries_used: int
    cost_cents: float
    rejection_reason: str | None
    final_reward: RewardBreakdown | None = None
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class InternalProposal:
    """A direction worth a new neuron, put to the person before anything is designed.

    Attributes:
        pattern: What fails again and again; a refused one rests for 30 days.
        goal: What a neuron would do about it.
        trace_ids: The traces that show the pattern.
        capability_hint: What it would probably need.
    """

    pattern: str
    goal: str
    trace_ids: tuple[UUID, ...]
    capability_hint: tuple[str, ...]
    proposed_at: datetime
    unknown_fields: Mapping[str, Any] = field(factory=dict)
