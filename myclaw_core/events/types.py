"""Everything that is written to the event log: one class an event, one tag a class."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from attrs import field, frozen

from myclaw_core.approval.types import Approval, ApprovalRequest, DeferralEnding, Grant, GrantEnding
from myclaw_core.judging.types import Calibration
from myclaw_core.outbox.types import OutboxState
from myclaw_core.runtime.types import ActionStep, ExecutionTrace, Message, ModelCall, PluginVersion, Turn
from myclaw_core.synthesis.types import InternalProposal, Stage, SynthesisRequest, SynthesisResult
from myclaw_core.trust.types import TraceSignals
from myclaw_core.types.effect import Autonomy
from myclaw_core.types.text import Text
from myclaw_core.types.trust import TrustSubject
from myclaw_core.undo.types import UndoRecord

__all__ = [
    "ApprovalAnswered",
    "ApprovalAsked",
    "ConfigChanged",
    "CostMediansSet",
    "DeferralEnded",
    "Event",
    "GrantEnded",
    "GrantGiven",
    "JudgeCalibrated",
    "LevelChanged",
    "ModelCalled",
    "NeuronBorn",
    "NeuronChange",
    "NeuronChanged",
    "NeverChanged",
    "NightlyDone",
    "OutboxChanged",
    "PairingChanged",
    "PluginConsent",
    "PluginFault",
    "SlotEnded",
    "StepDecided",
    "StepEnded",
    "StepIntended",
    "SynapseRefusal",
    "SynapseRefused",
    "SynthesisAdvanced",
    "SynthesisEnded",
    "SynthesisRequested",
    "TraceClosed",
    "TrustChange",
    "TrustChanged",
    "TurnStarted",
    "UndoApplied",
    "UndoExpired",
    "UnknownEvent",
]


TrustChange = Literal["revoke", "hold", "restore", "rollback", "birth"]
NeuronChange = Literal["strike", "recovered", "quarantined", "disabled", "rehabilitated", "removed", "signed again"]
SynapseRefusal = Literal["undeclared", "too deep"]


@frozen(kw_only=True)
class TurnStarted:
    """A turn began."""

    trace_id: UUID
    turn: Turn
    plugins: tuple[PluginVersion, ...]
    config_digest: str
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class ModelCalled:
    """A model call ended; its reservation was settled in the same transaction."""

    trace_id: UUID
    call: ModelCall
    message: Message | None = None
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class StepDecided:
    """The policy judged one call (`state` is `decided`)."""

    trace_id: UUID
    step: ActionStep
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class ApprovalAsked:
    """A question was put to the person."""

    trace_id: UUID
    step_index: int
    request: ApprovalRequest
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class ApprovalAnswered:
    """A question ended."""

    trace_id: UUID
    approval: Approval
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class QuestionDeferred:
    """A run that had nobody to ask left a question for later.

    Attributes:
        trace_id: That run.
        seal: SHA-256 of the record that holds the call.
    """

    trace_id: UUID
    request_id: UUID
    seal: str
    expires_at: datetime
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class DeferralEnded:
    """A question that was left for later is not asked any more.

    Attributes:
        trace_id: The run that left it.
        ending: `run` is written together with the intent of the action.
        by: The trace in which it was answered.
    """

    trace_id: UUID
    request_id: UUID
    ending: DeferralEnding
    by: UUID | None = None
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class GrantGiven:
    """An answer holds for later questions too."""

    trace_id: UUID
    grant: Grant
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class GrantEnded:
    """A grant covers nothing any more."""

    grant_id: UUID
    number: int
    ending: GrantEnding
    trace_id: UUID | None = None
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class NeverChanged:
    """A sender put something on their never-list, or took it off.

    Attributes:
        at: When the entry was made.
    """

    sender: str
    actor: str
    effect_class: str
    at: datetime
    change: Literal["added", "removed"]
    trace_id: UUID | None = None
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class StepIntended:
    """A step is about to run: what allows it is used up and the undo record is written.

    Attributes:
        grant_ids: Grants that answered its questions.
    """

    trace_id: UUID
    step_index: int
    approval_id: UUID | None = None
    undo: UndoRecord | None = None
    grant_ids: tuple[UUID, ...] = ()
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class StepEnded:
    """A step ended (`state` is `done` or `failed`)."""

    trace_id: UUID
    step: ActionStep
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class TraceClosed:
    """A trace is closed: this record is what makes it so.

    Attributes:
        signals: What it says about its subjects, one entry each.
        ingested: Whether it was taken in from a file, and happened elsewhere or earlier.
    """

    trace_id: UUID
    trace: ExecutionTrace
    signals: tuple[TraceSignals, ...]
    ingested: bool = False
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class UndoApplied:
    """One step of an earlier trace was reverted, or could not be.

    Attributes:
        trace_id: The child trace that did it.
        original_trace_id: The trace whose step was reverted.
        reverted: Whether the step is now undone.
        within_window: Whether it counts for trust (10 minutes after the original closed).
        details: One line on each path that was restored or is in the way.
    """

    trace_id: UUID
    original_trace_id: UUID
    step_index: int
    undo_id: UUID
    reverted: bool
    within_window: bool
    details: tuple[Text, ...] = ()
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class UndoExpired:
    """The time of undo records was over: those steps can no longer be taken back."""

    undo_ids: tuple[UUID, ...]
    trace_id: UUID | None = None
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class OutboxChanged:
    """A message in the outbox came to its next state; what is in it is not told here.

    Attributes:
        state: The new state: `held` in the transaction of its step's intent, `sending` before its delivery begins.
        targets: To whom, as its effects name them.
        due_at: When its hold is over.
        reason: Why it was not sent, or what its delivery told.
    """

    trace_id: UUID
    step_index: int
    message_id: UUID
    state: OutboxState
    tool: str
    targets: tuple[str, ...]
    due_at: datetime
    reason: Text | None = None
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class PluginFault:
    """A plugin raised, hung or broke a rule; it was contained.

    Attributes:
        hook: The hook that was called, or `load`.
        detail: One line: what and what to do.
    """

    plugin: str
    hook: str
    detail: str
    trace_id: UUID | None = None
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class PluginConsent:
    """The person switched a plugin on or off.

    Attributes:
        digest: Fingerprint of the files they agreed to; empty for the plugins of this repository.
    """

    plugin: str
    distribution: str
    version: str
    change: Literal["enabled", "disabled"]
    digest: str = ""
    trace_id: UUID | None = None
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class ConfigChanged:
    """The person changed one setting in the configuration file.

    Attributes:
        key: The setting, as TOML spells a dotted key.
        before: Its value in the file as JSON, secrets masked; empty where the default was in force.
        after: The same after the change.
        config_digest: Digest of the whole configuration after the change.
    """

    sender: str
    key: str
    before: str
    after: str
    config_digest: str
    trace_id: UUID | None = None
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class LevelChanged:
    """The person set the autonomy level of their sessions for a time, or ended that.

    Attributes:
        level: What stands from now on.
        until: When it ends by itself; `None` where the configured level stands again.
        estimate_eur: The cost that was stated before; `None` where there was nothing to go by, or nothing to state.
    """

    sender: str
    level: Autonomy
    until: datetime | None = None
    estimate_eur: float | None = None
    trace_id: UUID | None = None
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class PairingChanged:
    """Somebody is served on a messenger from now on, or is not any more.

    Attributes:
        change: `offered`: a code was made; `void`: it was tried in vain too often; `paired`: it was used; `ended`: the
            person is not served any more.
        sender: Who did it; for `ended`, whom the person at this machine took out.
        name: What the sender is called on the messenger; empty where that is not known.
    """

    messenger: str
    change: Literal["offered", "void", "paired", "ended"]
    sender: str
    name: str = ""
    trace_id: UUID | None = None
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class TrustChanged:
    """A person ordered something about trust, or a neuron was born.

    Attributes:
        trace_id: Id of the order.
        sender: Who ordered it.
        change: `revoke` takes away what was earned, `hold` asks whatever is earned, `restore` takes both back,
            `rollback` goes back to a moment, `birth` begins a neuron's record.
        subjects: What it is about.
        to: The moment of a rollback.
        reward: R of a birth, in [0, 1].
        body: Hash of the body that is born.
    """

    trace_id: UUID
    sender: str
    change: TrustChange
    subjects: tuple[TrustSubject, ...]
    to: datetime | None = None
    reward: float | None = None
    body: str = ""
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class CostMediansSet:
    """What traces of each effect class usually cost: in force for the signals of traces that close from now on.

    Attributes:
        median_cost_usd: Median cost of a trace by effect class.
        since: When the days that counted began.
        traces: How many traces counted.
    """

    median_cost_usd: Mapping[str, float]
    since: datetime
    traces: int
    trace_id: UUID | None = None
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class NeuronBorn:
    """The person approved the files of a neuron, which may run from now on; an earlier version of it no more.

    Attributes:
        trace_id: The turn in which it was admitted.
        body_hash: SHA-256 of its body.
        digest: SHA-256 of its three files.
        reward: R in [0, 1] with which its trust begins.
        seal: SHA-256 of the record that says so.
    """

    name: str
    version: str
    body_hash: str
    digest: str
    reward: float
    origin: str
    seal: str
    trace_id: UUID | None = None
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class NeuronChanged:
    """How a neuron stands has changed.

    Attributes:
        change: `strike`: its body or its sandbox failed; `recovered`: it did well after that; `quarantined`: put aside
            by the program; `disabled`, `rehabilitated`, `removed`: by the person; `signed again`: under another key.
        digest: SHA-256 of the files that were approved last.
        reason: Why, one line.
        sender: The person who did it; empty where the program did.
        seal: SHA-256 of the record as it stands now.
        trace_id: The turn in which it happened.
    """

    name: str
    change: NeuronChange
    version: str
    digest: str
    seal: str
    reason: Text = field(factory=lambda: Text(""))
    sender: str = ""
    trace_id: UUID | None = None
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class SynapseRefused:
    """A neuron called what it may not call at all, whatever the person says; nothing was called.

    Attributes:
        caller: The neuron, as `neuron:<name>`.
        version: SHA-256 of its body.
        callee: The tool or neuron that it named.
        step_index: The step of the trace in which it ran.
        why: `undeclared`: its manifest does not name it; `too deep`: so many neurons were under way already.
    """

    trace_id: UUID
    caller: str
    version: str
    callee: str
    step_index: int
    why: SynapseRefusal = "undeclared"
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class NightlyDone:
    """The work of a night is done.

    Attributes:
        night: Date of its morning, ISO-8601.
        lines: What it has to tell, for the digest.
    """

    night: str
    lines: tuple[Text, ...] = ()
    trace_id: UUID | None = None
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class SlotEnded:
    """A time at which something was due has passed: it was done, or was not.

    Attributes:
        job: What was due.
        due_at: When.
        reason: Why it failed or was skipped.
        slots: How many times that followed each other ended alike; `due_at` is the last of them.
    """

    job: str
    due_at: datetime
    outcome: Literal["done", "failed", "skipped"]
    reason: Text = field(factory=lambda: Text(""))
    slots: int = 1
    trace_id: UUID | None = None
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class SynthesisRequested:
    """A neuron is wanted.

    Attributes:
        sender: For whom it is designed.
        proposal: The pattern it comes from, where nobody asked for it.
        trace_id: The run in which it was asked for.
    """

    request_id: UUID
    request: SynthesisRequest
    sender: str
    proposal: InternalProposal | None = None
    trace_id: UUID | None = None
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class SynthesisAdvanced:
    """A synthesis came to another stage.

    Attributes:
        stage: What is to be done next.
        note: What became of the stage before.
        cost_eur: EUR spent so far.
        digest: The draft that is asked about; empty before.
        trace_id: The run in which it came there.
    """

    request_id: UUID
    stage: Stage
    note: Text
    retries: int
    cost_eur: float
    digest: str = ""
    trace_id: UUID | None = None
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class SynthesisEnded:
    """A synthesis is over."""

    result: SynthesisResult
    trace_id: UUID | None = None
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class JudgeCalibrated:
    """A judge or a critic was measured."""

    calibration: Calibration
    trace_id: UUID | None = None
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class UnknownEvent:
    """An event of a later minor version; kept as it is."""

    type: str
    data: Mapping[str, Any]
    trace_id: UUID | None = None


Event = (
    TurnStarted
    | ModelCalled
    | StepDecided
    | ApprovalAsked
    | ApprovalAnswered
    | QuestionDeferred
    | DeferralEnded
    | GrantGiven
    | GrantEnded
    | NeverChanged
    | StepIntended
    | StepEnded
    | TraceClosed
    | UndoApplied
    | UndoExpired
    | OutboxChanged
    | PluginFault
    | PluginConsent
    | ConfigChanged
    | LevelChanged
    | PairingChanged
    | TrustChanged
    | CostMediansSet
    | NeuronBorn
    | NeuronChanged
    | SynapseRefused
    | NightlyDone
    | SlotEnded
    | SynthesisRequested
    | SynthesisAdvanced
    | SynthesisEnded
    | JudgeCalibrated
    | UnknownEvent
)
