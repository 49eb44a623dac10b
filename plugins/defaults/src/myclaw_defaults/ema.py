"""The second estimator: the exponential moving average that seed 000 writes down, to the letter."""

from __future__ import annotations

from myclaw_core.trust.state import Component, SubjectState
from myclaw_core.trust.weighing import ComponentEstimator
from myclaw_core.types.trust import TrustSubject

__all__ = ["Ema"]

_NEUTRAL = 0.5


class Ema(ComponentEstimator):
    """A new sample weighs `1 − 0.5^(dt/30 d)`, dt since the last one; everything starts at 0.

    The first sample therefore weighs nothing, and many within an hour hardly more. A sample in which nobody was asked
    counts 0.5 for the approval rate where that lowers it, and never raises it. Masses are counted as by `decayed_mean`,
    from 0, for what asks how many samples still count.
    """

    name = "ema"

    def initial(self, subject: TrustSubject) -> SubjectState:
        """Return all components at 0."""
        nothing = Component(0.0, 0.0)
        return SubjectState(
            subject=subject,
            tool_success=nothing,
            human_approval_rate=nothing,
            cost_efficiency=nothing,
            constitution_clean=nothing,
            undo_rate=nothing,
        )

    def sampled(self, component: Component, value: float, share: float) -> Component:
        """Return the component after one sample: `x' = x·a + s·(1 − a)`."""
        mean = component.mean * share + value * (1.0 - share)
        return Component(min(mean, 1.0), component.mass * share + 1.0)

    def unasked(self, approval: Component, share: float) -> Component:
        """Return the approval rate after a sample in which nobody was asked."""
        neutral = approval.mean * share + _NEUTRAL * (1.0 - share)
        return Component(min(approval.mean, neutral), approval.mass * share)
