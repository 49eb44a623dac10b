"""Every shared type under one name; each is defined in its owner's module and imported only when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from myclaw_core.approval.types import (
        Approval,
        ApprovalCard,
        ApprovalRequest,
        ApprovalState,
        Deferred,
        Grant,
        Origin,
        Reach,
        Reply,
        Sealed,
    )
    from myclaw_core.constitution.types import Law, ViolationReport
    from myclaw_core.events.types import (
        ApprovalAnswered,
        ApprovalAsked,
        ConfigChanged,
        CostMediansSet,
        DeferralEnded,
        Event,
        GrantEnded,
        GrantGiven,
        LevelChanged,
        ModelCalled,
        NeverChanged,
        NightlyDone,
        OutboxChanged,
        PairingChanged,
        PluginConsent,
        PluginFault,
        SlotEnded,
        StepDecided,
        StepEnded,
        StepIntended,
        TraceClosed,
        TrustChange,
        TrustChanged,
        TurnStarted,
        UndoApplied,
        UnknownEvent,
    )
    from myclaw_core.memory.types import Episode, Fact, FactProposal
    from myclaw_core.neurons.types import NeuronManifest
    from myclaw_core.outbox.types import OutboxMessage, OutboxState
    from myclaw_core.policy.types import CheckReason, Evidence, Finding, PolicyDecision, Situation
    from myclaw_core.runtime.tool import Tool
    from myclaw_core.runtime.types import (
        ActionStep,
        ExecutionTrace,
        Message,
        ModelCall,
        Outcome,
        PluginVersion,
        Session,
        StepState,
        ToolCall,
        ToolError,
        ToolErrorKind,
        ToolResult,
        Turn,
        Usage,
    )
    from myclaw_core.sandbox.types import SandboxOutcome, SandboxReport, SandboxTest
    from myclaw_core.selfplay.types import Critic, SelfPlayResult
    from myclaw_core.synapse.types import GraphEdge, GraphNode, NeuronState, RetrievalResult
    from myclaw_core.synthesis.types import (
        InternalProposal,
        NeuronSpec,
        RewardBreakdown,
        SynthesisOutcome,
        SynthesisRequest,
        SynthesisResult,
    )
    from myclaw_core.trust.types import SignalContext, TraceSignals
    from myclaw_core.types.action import ApprovalRequestDraft, PlannedAction
    from myclaw_core.types.effect import Autonomy, Effect, EffectKind, Reversibility, RiskBand, Verdict
    from myclaw_core.types.text import Text
    from myclaw_core.types.trust import TrustScore, TrustSubject, TrustThreshold, TrustWindow
    from myclaw_core.undo.types import PathChange, PathState, UndoRecord

__all__ = [
    "ActionStep",
    "Approval",
    "ApprovalAnswered",
    "ApprovalAsked",
    "ApprovalCard",
    "ApprovalRequest",
    "ApprovalRequestDraft",
    "ApprovalState",
    "Autonomy",
    "CheckReason",
    "ConfigChanged",
    "CostMediansSet",
    "Critic",
    "Deferred",
    "DeferralEnded",
    "Effect",
    "EffectKind",
    "Episode",
    "Event",
    "Evidence",
    "ExecutionTrace",
    "Fact",
    "FactProposal",
    "Finding",
    "Grant",
    "GrantEnded",
    "GrantGiven",
    "GraphEdge",
    "GraphNode",
    "InternalProposal",
    "Law",
    "LevelChanged",
    "Message",
    "ModelCall",
    "ModelCalled",
    "NeuronManifest",
    "NeuronSpec",
    "NeuronState",
    "NeverChanged",
    "NightlyDone",
    "Origin",
    "OutboxChanged",
    "OutboxMessage",
    "OutboxState",
    "Outcome",
    "PairingChanged",
    "PathChange",
    "PathState",
    "PlannedAction",
    "PluginConsent",
    "PluginFault",
    "PluginVersion",
    "PolicyDecision",
    "QuestionDeferred",
    "Reach",
    "Reply",
    "RetrievalResult",
    "Reversibility",
    "RewardBreakdown",
    "RiskBand",
    "SandboxOutcome",
    "SandboxReport",
    "SandboxTest",
    "Sealed",
    "SelfPlayResult",
    "Session",
    "SignalContext",
    "Situation",
    "SlotEnded",
    "StepDecided",
    "StepEnded",
    "StepIntended",
    "StepState",
    "SynthesisOutcome",
    "SynthesisRequest",
    "SynthesisResult",
    "Text",
    "Tool",
    "ToolCall",
    "ToolError",
    "ToolErrorKind",
    "ToolResult",
    "TraceClosed",
    "TraceSignals",
    "TrustChange",
    "TrustChanged",
    "TrustScore",
    "TrustSubject",
    "TrustThreshold",
    "TrustWindow",
    "Turn",
    "TurnStarted",
    "UndoApplied",
    "UndoRecord",
    "UnknownEvent",
    "Usage",
    "Verdict",
    "ViolationReport",
]

_OWNERS = {
    "types.action": (
        "ApprovalRequestDraft",
        "PlannedAction",
    ),
    "types.effect": (
        "Autonomy",
        "Effect",
        "EffectKind",
        "Reversibility",
        "RiskBand",
        "Verdict",
    ),
    "types.text": ("Text",),
    "types.trust": (
        "TrustScore",
        "TrustSubject",
        "TrustThreshold",
        "TrustWindow",
    ),
    "approval.types": (
        "Approval",
        "ApprovalCard",
        "ApprovalRequest",
        "ApprovalState",
        "Deferred",
        "Grant",
        "Origin",
        "Reach",
        "Reply",
        "Sealed",
    ),
    "constitution.types": (
        "Law",
        "ViolationReport",
    ),
    "events.types": (
        "ApprovalAnswered",
        "ApprovalAsked",
        "ConfigChanged",
        "CostMediansSet",
        "DeferralEnded",
        "Event",
        "GrantEnded",
        "GrantGiven",
        "LevelChanged",
        "ModelCalled",
        "NeverChanged",
        "NightlyDone",
        "OutboxChanged",
        "PairingChanged",
        "PluginConsent",
        "PluginFault",
        "QuestionDeferred",
        "SlotEnded",
        "StepDecided",
        "StepEnded",
        "StepIntended",
        "TraceClosed",
        "TrustChange",
        "TrustChanged",
        "TurnStarted",
        "UndoApplied",
        "UnknownEvent",
    ),
    "memory.types": (
        "Episode",
        "Fact",
        "FactProposal",
    ),
    "neurons.types": ("NeuronManifest",),
    "outbox.types": (
        "OutboxMessage",
        "OutboxState",
    ),
    "policy.types": (
        "CheckReason",
        "Evidence",
        "Finding",
        "PolicyDecision",
        "Situation",
    ),
    "runtime.tool": ("Tool",),
    "runtime.types": (
        "ActionStep",
        "ExecutionTrace",
        "Message",
        "ModelCall",
        "Outcome",
        "PluginVersion",
        "Session",
        "StepState",
        "ToolCall",
        "ToolError",
        "ToolErrorKind",
        "ToolResult",
        "Turn",
        "Usage",
    ),
    "sandbox.types": (
        "SandboxOutcome",
        "SandboxReport",
        "SandboxTest",
    ),
    "selfplay.types": (
        "Critic",
        "SelfPlayResult",
    ),
    "synapse.types": (
        "GraphEdge",
        "GraphNode",
        "NeuronState",
        "RetrievalResult",
    ),
    "synthesis.types": (
        "InternalProposal",
        "NeuronSpec",
        "RewardBreakdown",
        "SynthesisOutcome",
        "SynthesisRequest",
        "SynthesisResult",
    ),
    "trust.types": (
        "SignalContext",
        "TraceSignals",
    ),
    "undo.types": (
        "PathChange",
        "PathState",
        "UndoRecord",
    ),
}
_MODULE_OF = {name: f"myclaw_core.{owner}" for owner, names in _OWNERS.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import the owner of a type: a leaf of this package must not pull in the rest."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    """Return the names of all shared types."""
    return __all__
