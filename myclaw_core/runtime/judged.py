"""A call between its verdict and its run, and the step that it begins as."""

from __future__ import annotations

from datetime import datetime

from attrs import define

from myclaw_core.constitution.types import ViolationReport
from myclaw_core.policy.types import PolicyDecision, Situation
from myclaw_core.runtime.neuron_world import Surroundings
from myclaw_core.runtime.planning import Planned
from myclaw_core.runtime.storable import masked_args
from myclaw_core.runtime.types import ActionStep, ToolCall, ToolError
from myclaw_core.types.action import PURE_CLASS
from myclaw_core.types.canonical import digest_of

__all__ = ["Judged", "judged_step", "runs_dry", "unjudged_step"]


@define(kw_only=True)
class Judged:
    """One call on its way.

    Attributes:
        step: It as far as it has come.
        planned: What it would change; `None` where that was not looked at.
        error: Why it does not run.
        violation: The law that it broke.
    """

    call: ToolCall
    around: Surroundings
    step: ActionStep
    planned: Planned | None = None
    error: ToolError | None = None
    violation: ViolationReport | None = None

    @property
    def asks(self) -> bool:
        """Return whether a person has to answer before it runs."""
        decision = self.step.decision
        return self.error is None and decision is not None and decision.verdict == "approve_required"


def judged_step(call: ToolCall, index: int, decision: PolicyDecision, situation: Situation, at: datetime) -> ActionStep:
    """Return the step of a call that was judged."""
    action = decision.action
    return ActionStep(
        index=index,
        tool_name=call.tool,
        args=action.args_preview,
        args_digest=action.args_digest,
        actor=action.actor,
        actor_version=action.actor_version,
        model=situation.model,
        state="decided",
        kind=decision.kind,
        effect_class=decision.effect_class,
        effects=decision.effects,
        started_at=at,
        tainted=situation.tainted,
        decision=decision,
        callers=action.callers,
    )


def unjudged_step(call: ToolCall, index: int, situation: Situation, at: datetime) -> ActionStep:
    """Return the step of a call that never reached the policy."""
    preview, callers = masked_args(call.args), situation.callers
    return ActionStep(
        index=index,
        tool_name=call.tool,
        args=preview,
        args_digest=digest_of(preview),
        actor=callers[-1].actor if callers else call.tool,
        actor_version=callers[-1].version if callers else "",
        model=situation.model,
        state="decided",
        kind="fs_read",
        effect_class=PURE_CLASS,
        effects=(),
        started_at=at,
        callers=callers,
    )


def runs_dry(step: ActionStep) -> bool:
    """Return whether a step runs in a dry run too: it reads, or calls a neuron, whose calls are judged one by one."""
    return not any(effect.changes for effect in step.effects)
