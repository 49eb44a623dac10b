"""Turns, traces, steps and tools: what the loop works on (seed 004 #1-#3)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from attrs import define, field, frozen

from myclaw_core.approval.types import Approval
from myclaw_core.budget.account import Activity
from myclaw_core.budget.purposes import Tier
from myclaw_core.constitution.types import ViolationReport
from myclaw_core.messages import N_
from myclaw_core.policy.types import PolicyDecision
from myclaw_core.types.action import Caller, acting
from myclaw_core.types.effect import Autonomy, Effect, EffectKind
from myclaw_core.types.text import Text, as_text

__all__ = [
    "CANCELLED",
    "ActionStep",
    "EndedBy",
    "ExecutionTrace",
    "Message",
    "ModelCall",
    "Outcome",
    "PluginVersion",
    "Session",
    "StepState",
    "StopReason",
    "ToolCall",
    "ToolError",
    "ToolErrorKind",
    "ToolResult",
    "Turn",
    "Usage",
]

Outcome = Literal["success", "failed", "abandoned", "denied", "budget", "interrupted"]
EndedBy = Literal["", "answer", "loop", "steps", "wall", "invalid"]
"""What ended a turn: an answer, going in circles, too many steps, too long a time, or calls that fit no tool."""
StepState = Literal["decided", "asked", "intent", "done", "failed"]
ToolErrorKind = Literal["validation", "denied", "timeout", "exception", "sandbox", "unavailable"]
StopReason = Literal[
    "end_turn",
    "max_tokens",
    "stop_sequence",
    "tool_use",
    "pause_turn",
    "refusal",
    "model_context_window_exceeded",
]

CANCELLED = N_("cancelled")
"""What is said of a call that was stopped together with its turn."""


@frozen(kw_only=True)
class ToolCall:
    """One call a model proposed.

    Attributes:
        id: The provider's identifier of the call.
        tool: The tool's name.
        args: The arguments as the model gave them, not yet validated.
    """

    id: str
    tool: str
    args: Mapping[str, Any]
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class ToolError:
    """Why a step has no result.

    Attributes:
        message: One line; the model reads it in English.
        retryable: Whether the same call may succeed later.
    """

    kind: ToolErrorKind
    message: Text = field(converter=as_text)
    retryable: bool = False
    unknown_fields: Mapping[str, Any] = field(factory=dict)

    @property
    def is_passing(self) -> bool:
        """Return whether it may pass by itself: the network, a time-out, a rate limit, something that is not there."""
        return self.kind in {"timeout", "unavailable"} or (self.kind == "exception" and self.retryable)


@frozen(kw_only=True)
class ToolResult:
    """What a tool gives back.

    Attributes:
        text: What the model reads.
        data: The same for programs; JSON types only.
        truncated: Whether `text` was cut.
        full_output_path: Where the whole text lies, where it was cut; empty otherwise.
    """

    text: str
    data: Mapping[str, Any] = field(factory=dict)
    truncated: bool = False
    full_output_path: str = ""
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class Message:
    """One message of a conversation.

    Attributes:
        role: `user`, `assistant` or `tool`.
        text: Plain text; for a tool, its marked and escaped output.
        tool_calls: The calls an assistant message proposed.
        tool_call_id: The call a tool message answers.
        outside: Whether the text came from outside (tool output): it taints what follows.
        is_error: Whether a tool message reports a failure.
    """

    role: Literal["user", "assistant", "tool"]
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    outside: bool = False
    is_error: bool = False
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class Usage:
    """Tokens of one model call."""

    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    unknown_fields: Mapping[str, Any] = field(factory=dict, hash=False)


@frozen(kw_only=True)
class ModelCall:
    """One call to a model, as the ledger booked it.

    Attributes:
        purpose: Why it was made; the policy maps it to a tier.
        cost_eur: What was booked.
        cost_usd: The same in the price table's currency.
        stop_reason: How it ended; empty for a call that failed.
        error: One line, empty if it succeeded.
    """

    id: UUID
    provider: str
    model: str
    purpose: str
    tier: Tier
    usage: Usage
    cost_usd: float
    cost_eur: float
    started_at: datetime
    wall_time_ms: int
    stop_reason: str = ""
    error: str = ""
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class ActionStep:
    """One tool call of a trace, with how it was decided and how it ended.

    Attributes:
        state: How far the step got: `decided → asked → intent → done | failed`.
        args: The arguments, redacted and long texts cut; the whole call is in its message.
        actor_version: Body hash of a neuron, or version of the plugin that owns the tool.
        model: The model that proposed it.
        exec_result: Set when it ran and succeeded; with `error`, what came out before it failed.
        error: Set when it did not run or failed.
        undo_id: The record that can revert it, if one was made.
        callers: The neurons through whose calls it came, outermost first; empty for what a model proposed.
    """

    index: int
    tool_name: str
    args: Mapping[str, Any]
    args_digest: str
    actor: str
    actor_version: str
    model: str
    state: StepState
    kind: EffectKind
    effect_class: str
    effects: tuple[Effect, ...]
    started_at: datetime
    tainted: bool = False
    decision: PolicyDecision | None = None
    approval_id: UUID | None = None
    exec_result: ToolResult | None = None
    error: ToolError | None = None
    wall_time_ms: int = 0
    cost_usd: float = 0.0
    undo_id: UUID | None = None
    callers: tuple[Caller, ...] = ()
    unknown_fields: Mapping[str, Any] = field(factory=dict)

    @property
    def acting(self) -> tuple[Caller, ...]:
        """Return everyone whose trust it is about; see `PlannedAction.acting`."""
        return acting(self.tool_name, Caller(actor=self.actor, version=self.actor_version), self.callers)


@frozen(kw_only=True)
class PluginVersion:
    """A plugin that was active during a trace."""

    name: str
    version: str
    unknown_fields: Mapping[str, Any] = field(factory=dict, hash=False)


@define(kw_only=True)
class ExecutionTrace:
    """Everything that happened in one turn: the one source of truth (seed 004 #3).

    It grows while the turn runs and never changes once `closed_at` is set.

    Attributes:
        activity: What sort of work it was; heartbeats and nightly work have ceilings of their own.
        dry_run: Whether nothing but reading was executed.
        unverified: Whether the answer says that something was done and no step did anything.
        ended_by: What ended it; empty for whatever else did, and where it was recorded before this was.
    """

    id: UUID
    session_id: str
    channel: str
    sender: str
    autonomy: Autonomy
    started_at: datetime
    messages: list[Message] = field(factory=list)
    tool_calls: list[ToolCall] = field(factory=list)
    steps: list[ActionStep] = field(factory=list)
    approvals: list[Approval] = field(factory=list)
    violations: list[ViolationReport] = field(factory=list)
    model_calls: list[ModelCall] = field(factory=list)
    plugins: list[PluginVersion] = field(factory=list)
    config_digest: str = ""
    parent_trace_id: UUID | None = None
    activity: Activity = "turn"
    cost_tokens: int = 0
    cost_usd: float = 0.0
    wall_time_ms: int = 0
    dry_run: bool = False
    unverified: bool = False
    outcome: Outcome | None = None
    ended_by: EndedBy = ""
    closed_at: datetime | None = None
    unknown_fields: Mapping[str, Any] = field(factory=dict)

    @property
    def went_well(self) -> bool:
        """Return whether the turn succeeded and nothing in it was denied: what a program's exit code says."""
        denied = any(step.error is not None and step.error.kind == "denied" for step in self.steps)
        return self.outcome == "success" and not denied

    @property
    def left(self) -> Mapping[UUID, datetime]:
        """Return the questions that were left for a later answer, each with the moment until which it waits."""
        until = {approval.request_id: approval.deferred_until for approval in self.approvals}
        return {request_id: at for request_id, at in until.items() if at is not None}


@frozen(kw_only=True)
class Turn:
    """One message of a person and the rights it runs with.

    Attributes:
        text: The whole message.
        roots: Real absolute paths opened for this turn.
        cwd: Folder against which relative paths are read.
        attended: Whether somebody can answer questions.
        yes_to: Effect classes granted for this turn.
        dry_run: Whether everything but reading is judged and not executed.
        parent_trace_id: Set for an undo or a replay.
        activity: What sort of work it is.
        level_stands: Whether `autonomy` is the person's standing level, which may fall while the turn runs.
        message_key: Names the message of the inbox that this turn acts on; empty where it came directly.
    """

    id: UUID
    session_id: str
    channel: str
    sender: str
    autonomy: Autonomy
    text: str
    received_at: datetime
    roots: tuple[str, ...]
    cwd: str
    attended: bool = True
    yes_to: tuple[str, ...] = ()
    dry_run: bool = False
    parent_trace_id: UUID | None = None
    activity: Activity = "turn"
    level_stands: bool = False
    message_key: str = ""
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class Session:
    """A conversation of one sender on one channel."""

    id: str
    channel: str
    sender: str
    started_at: datetime
    unknown_fields: Mapping[str, Any] = field(factory=dict)
