"""Hook implementations; their bodies are imported at first use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from myclaw_core import hookimpl

if TYPE_CHECKING:
    from myclaw_core.neurons.birth_report import BirthReport
    from myclaw_core.runtime.types import ActionStep, ExecutionTrace
    from myclaw_core.synthesis.reward import RewardContext, RewardPart
    from myclaw_core.trust.estimator import Estimator
    from myclaw_core.trust.types import SignalContext
    from myclaw_core.types.effect import Reversibility
    from myclaw_core.types.trust import TrustThreshold

__all__ = ["myclaw_estimator", "myclaw_reward", "myclaw_signals", "myclaw_threshold"]


@hookimpl
def myclaw_estimator(weights: Mapping[str, float]) -> Estimator:
    """Offer the moving average of seed 000, `ema`; the default is the core's."""
    from myclaw_defaults.ema import Ema

    return Ema(weights)


@hookimpl
def myclaw_reward(report: BirthReport, context: RewardContext) -> Sequence[RewardPart]:
    """Name the five parts of the reward of the seeds."""
    from myclaw_defaults.parts import five_parts

    return five_parts(report, context)


@hookimpl
def myclaw_signals(step: ActionStep, trace: ExecutionTrace, context: SignalContext) -> Mapping[str, float]:
    """Name the five signals of the seeds."""
    from myclaw_defaults.signals import five_signals

    return five_signals(step, trace, context)


@hookimpl
def myclaw_threshold(effect_class: str, reversibility: Reversibility, workspace: str) -> TrustThreshold | None:
    """Return the threshold of the class's risk band."""
    from myclaw_defaults.thresholds import threshold_for

    return threshold_for(effect_class, reversibility, workspace)
