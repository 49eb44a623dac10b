"""The five signals of the seeds, from one step and its trace alone."""

from __future__ import annotations

from collections.abc import Mapping

from myclaw_core.runtime.types import ActionStep, ExecutionTrace
from myclaw_core.trust.signals import answer_to
from myclaw_core.trust.types import SignalContext

__all__ = ["five_signals"]

_GRAVE = frozenset({"law.0", "law.1", "law.2"})
_APPROVAL = {"granted": 1.0, "denied": 0.0, None: 0.5}


def five_signals(step: ActionStep, trace: ExecutionTrace, context: SignalContext) -> Mapping[str, float]:
    """Return each signal in [0, 1] (seed 000, experiment A)."""
    return {
        "tool_success": float(step.exec_result is not None and step.error is None),
        "cost_efficiency": _cost_efficiency(trace.cost_usd, context.median_cost_usd.get(step.effect_class)),
        "constitution_clean": _constitution_clean(trace),
        "human_approval_delta": _APPROVAL[answer_to(step, trace)],
        "undo_flag": float(step.index in context.undone_steps),
    }


def _cost_efficiency(cost_usd: float, median_usd: float | None) -> float:
    """Return 1 − cost / median, clipped; a trace that cost nothing is fully efficient, one without a median half so."""
    if cost_usd <= 0:
        return 1.0
    if median_usd is None:
        return 0.5
    if median_usd <= 0:
        return 0.0
    return min(max(1.0 - cost_usd / median_usd, 0.0), 1.0)


def _constitution_clean(trace: ExecutionTrace) -> float:
    """Return 0 for law.0 to law.2, 0.5 for the others; a question of law.2 that ended in a grant broke nothing.

    A violation names its call by digest, so a call that was granted one time and not the other is not excused.
    """
    granted = {step.args_digest for step in trace.steps if answer_to(step, trace) == "granted"}
    granted -= {step.args_digest for step in trace.steps if answer_to(step, trace) != "granted"}
    broken = {
        violation.law
        for violation in trace.violations
        if not (violation.law == "law.2" and violation.action_digest in granted)
    }
    if broken & _GRAVE:
        return 0.0
    return 0.5 if broken else 1.0
