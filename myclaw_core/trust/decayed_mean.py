"""The default estimator: weighted means whose evidence halves in 30 days (seed 002 §4.2)."""

from __future__ import annotations

from myclaw_core.trust.state import Component, SubjectState
from myclaw_core.trust.weighing import HALF_LIFE_DAYS, SEED_WEIGHTS, ComponentEstimator
from myclaw_core.types.trust import TrustSubject

__all__ = ["HALF_LIFE_DAYS", "SEED_WEIGHTS", "DecayedMean"]


class DecayedMean(ComponentEstimator):
    """Per component the mean x and its mass W: `a = 0.5^(dt/30 d)`, `W' = W·a + 1`, `x' = (x·W·a + s)/W'`.

    Priors are the first (x, W) of the same recurrence and fade with it. The approval rate moves only with samples in
    which a person was asked; a denied step that did not run moves nothing else.
    """

    name = "decayed_mean"

    def initial(self, subject: TrustSubject) -> SubjectState:
        """Return the priors."""
        return SubjectState(
            subject=subject,
            tool_success=Component(0.0, 0.5),
            human_approval_rate=Component(0.5, 1.0),
            cost_efficiency=Component(0.5, 0.5),
            constitution_clean=Component(0.5, 0.5),
            undo_rate=Component(0.0, 0.5),
        )

    def sampled(self, component: Component, value: float, share: float) -> Component:
        """Return the component after one sample of mass 1."""
        return component.with_sample(value, share)
