"""What goes into the synthesizer and what comes out of it (seed 001 §4, §11)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from attrs import define, field, frozen

from myclaw_core.types.text import Text

__all__ = [
    "InternalProposal",
    "Making",
    "NeuronSpec",
    "Revision",
    "RewardBreakdown",
    "Stage",
    "Synthesis",
    "SynthesisOutcome",
    "SynthesisRequest",
    "SynthesisResult",
]

SynthesisOutcome = Literal["born", "abandoned", "rejected_direction"]
Stage = Literal["direction", "spec", "draft", "analysis", "tests", "approval", "ended"]
"""Where a synthesis stands: what is to be done next. `direction` waits for the word that it may begin at all."""


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
        judged: Whether a judge had a say; where none had, `judge_score` is 0.5.
        judge: Who judged, with the model; why nobody did where `judged` is false.
        laws: The laws that the judge found it near to.
        nearest: The neuron whose purpose is most alike; empty where there is none.
        weights: What each part weighs in the total, with its sign.
        feedback: One sentence for each part that is under its mark.
    """

    det_pass_rate: float
    judge_score: float
    judge_reasoning: str
    cost_ratio: float
    similarity_penalty: float
    coverage_bonus: float
    total: float
    extra: Mapping[str, float] = field(factory=dict)
    judged: bool = False
    judge: Text = field(factory=lambda: Text(""))
    laws: tuple[str, ...] = ()
    nearest: str = ""
    weights: Mapping[str, float] = field(factory=dict)
    feedback: tuple[Text, ...] = ()
    unknown_fields: Mapping[str, Any] = field(factory=dict)

    @property
    def parts(self) -> Mapping[str, float]:
        """Return each part by its name, those of plugins last."""
        own = ("det_pass_rate", "judge_score", "cost_ratio", "similarity_penalty", "coverage_bonus")
        return {name: getattr(self, name) for name in own} | dict(self.extra)


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


@frozen(kw_only=True)
class Revision:
    """What a person wants to be otherwise about a draft.

    Attributes:
        stage: What is done anew.
        text: What is wrong with it, in their words.
    """

    stage: Literal["spec", "draft"]
    text: str
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class Synthesis:
    """How one request stands: with it a pipeline that was interrupted goes on where it was.

    Attributes:
        id: Of the request.
        sender: For whom it runs.
        stage: What is to be done next.
        proposal: The pattern it comes from; `None` for one that a failed turn or a person asked for.
        spec: The last one that passed its checks.
        files: The last draft by name of the file, in its normal form.
        patches: The neuron of which this makes a new version; empty where it is a new one.
        feedback: What the next attempt is told, one sentence each; why it was not made, where it ended so.
        retries: How many refusals and revisions cost an attempt so far, 0 to 3.
        vetoes: How many specs asked for what is forbidden; they cost no attempt.
        cost_eur: EUR spent so far.
        models: The models that wrote the spec and the draft.
        reward: R of the last draft that was tested.
        digest: The draft that is asked about; empty before.
        asked_in: The turn that left the question which is waited for; `None` where none is.
        result: How it ended; set at the stage `ended`.
    """

    id: UUID
    request: SynthesisRequest
    sender: str
    stage: Stage
    at: datetime
    proposal: InternalProposal | None = None
    spec: NeuronSpec | None = None
    files: Mapping[str, str] = field(factory=dict)
    patches: str = ""
    feedback: tuple[Text, ...] = ()
    retries: int = 0
    vetoes: int = 0
    cost_eur: float = 0.0
    models: tuple[str, ...] = ()
    reward: RewardBreakdown | None = None
    digest: str = ""
    asked_in: UUID | None = None
    result: SynthesisResult | None = None
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class Making:
    """How a draft came about, for whoever is asked about it.

    Attributes:
        story: The trace that failed, one line a step; empty where there is none.
        rationale: Why it is needed, in the words of its spec.
        cost_eur: EUR spent on it so far.
        attempt: Which attempt it is, from 1.
        models: The models that wrote it.
    """

    request_id: UUID
    goal: str
    trace_id: UUID
    story: tuple[str, ...]
    rationale: str
    cost_eur: float
    attempt: int
    models: tuple[str, ...]
    unknown_fields: Mapping[str, Any] = field(factory=dict)
