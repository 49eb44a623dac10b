"""The bridge between policy and constitution: an action that is about to happen (seed 002 §4.1)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from attrs import field, frozen

from myclaw_core.types.canonical import digest_of
from myclaw_core.types.effect import Autonomy, Effect, EffectKind, Reversibility, RiskBand, worst_effect
from myclaw_core.types.text import Text

__all__ = ["PURE_CLASS", "ApprovalRequestDraft", "Caller", "PlannedAction", "acting", "effect_class_of"]

PURE_CLASS = "pure"


@frozen(kw_only=True)
class Caller:
    """Who acts, as trust counts it.

    Attributes:
        actor: A tool's name, or `neuron:<name>`.
        version: Hash of the neuron's body, or version of the plugin that owns the tool; empty if unknown.
    """

    actor: str
    version: str = ""
    unknown_fields: Mapping[str, Any] = field(factory=dict, hash=False)


@frozen(kw_only=True)
class PlannedAction:
    """The canonical description of an action before it happens: the intent, never the outcome.

    Attributes:
        kind: Kind of the worst effect; `fs_read` for a tool that declares none.
        tool_name: The tool asked for, or `neuron:<name>`.
        args_digest: SHA-256 of the canonical JSON of the arguments.
        args_preview: The arguments for people: redacted, long texts cut.
        sender: Who asked: `cli:me`, `telegram:42`, `cron:...`.
        autonomy: The session's level.
        targets: What is touched, one entry an effect.
        reversibility: That of the worst effect.
        est_cost_eur: What the action itself would spend in EUR; 0 where it spends nothing.
        planned_at: Aware UTC.
        actor: Who would act: the tool's name, `neuron:<name>`, `core` or `runtime`.
        effects: Every effect, in the order the tool declares them.
        effect_class: Class of the worst effect; `pure` where there is none.
        tainted: Whether the prompt that proposed it held text from outside.
        named: Whether every target stands literally in what the user typed this turn.
        actor_version: Body hash of a neuron, or version of the plugin that owns the tool; empty if unknown.
        model: The model that proposed it; empty if unknown.
        callers: The neurons through whose calls it came, outermost first; empty for what a model proposed. All of them
            must pass.
    """

    kind: EffectKind
    tool_name: str
    args_digest: str
    args_preview: Mapping[str, Any]
    sender: str
    trace_id: UUID
    session_id: str
    autonomy: Autonomy
    targets: tuple[str, ...]
    reversibility: Reversibility
    est_cost_eur: float
    planned_at: datetime
    actor: str
    effects: tuple[Effect, ...]
    effect_class: str
    tainted: bool = False
    named: bool = False
    actor_version: str = ""
    model: str = ""
    callers: tuple[Caller, ...] = ()
    unknown_fields: Mapping[str, Any] = field(factory=dict)

    @property
    def acting(self) -> tuple[Caller, ...]:
        """Return everyone who must pass: each neuron on the way; for the call of a neuron that neuron alone.

        Whoever calls it has passed the same question just before.
        """
        return acting(self.tool_name, Caller(actor=self.actor, version=self.actor_version), self.callers)

    @classmethod
    def from_tool_call(
        cls,
        *,
        tool_name: str,
        args: Mapping[str, Any],
        args_preview: Mapping[str, Any],
        effects: tuple[Effect, ...],
        sender: str,
        trace_id: UUID,
        session_id: str,
        autonomy: Autonomy,
        planned_at: datetime,
        actor: str | None = None,
        est_cost_eur: float = 0.0,
        tainted: bool = False,
        named: bool = False,
        actor_version: str = "",
        model: str = "",
        callers: tuple[Caller, ...] = (),
    ) -> PlannedAction:
        """Build the action of one tool call from its arguments and the effects the core resolved."""
        worst = worst_effect(effects)
        return cls(
            kind=worst.kind if worst else "fs_read",
            tool_name=tool_name,
            args_digest=digest_of(args),
            args_preview=args_preview,
            sender=sender,
            trace_id=trace_id,
            session_id=session_id,
            autonomy=autonomy,
            targets=tuple(effect.target for effect in effects),
            reversibility=worst.reversibility if worst else "reversible",
            est_cost_eur=est_cost_eur,
            planned_at=planned_at,
            actor=actor or tool_name,
            effects=effects,
            effect_class=worst.effect_class if worst else PURE_CLASS,
            tainted=tainted,
            named=named,
            actor_version=actor_version,
            model=model,
            callers=callers,
        )


@frozen(kw_only=True)
class ApprovalRequestDraft:
    """What the policy emits when a person must be asked; only the gateway makes a request of it.

    Attributes:
        summary: One line for the person: what would happen to what.
        risk: The band of the threshold that was read.
        policy_reasons: Why it is asked, one entry a check that asked.
    """

    action: PlannedAction
    effect_class: str
    summary: Text
    risk: RiskBand
    policy_reasons: tuple[Text, ...]
    unknown_fields: Mapping[str, Any] = field(factory=dict)


def acting(tool_name: str, actor: Caller, callers: tuple[Caller, ...]) -> tuple[Caller, ...]:
    """Return everyone who must pass; see `PlannedAction.acting`. A neuron that is called is its own actor."""
    return (actor,) if tool_name == actor.actor or not callers else tuple(dict.fromkeys(callers))


def effect_class_of(action: PlannedAction) -> str:
    """Return the class under which trust counts the action (seed 002 §4.3)."""
    return action.effect_class
