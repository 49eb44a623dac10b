"""The default estimator: weighted means whose evidence halves in 30 days (seed 002 §4.2)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from attrs import evolve

from myclaw_core.trust.state import Component, SubjectState
from myclaw_core.trust.types import TraceSignals
from myclaw_core.types.canonical import digest_of
from myclaw_core.types.trust import TrustSubject

__all__ = ["HALF_LIFE_DAYS", "SEED_WEIGHTS", "DecayedMean"]

HALF_LIFE_DAYS = 30.0
_HALF_LIFE_S = HALF_LIFE_DAYS * 86_400

SEED_WEIGHTS: Mapping[str, float] = {
    "tool_success": 0.30,
    "human_approval_rate": 0.25,
    "cost_efficiency": 0.20,
    "constitution_clean": 0.15,
    "undo_rate": 0.10,
}


class DecayedMean:
    """Per component the mean x and its mass W: `a = 0.5^(dt/30 d)`, `W' = W·a + 1`, `x' = (x·W·a + s)/W'`.

    Priors are the first (x, W) of the same recurrence and fade with it. The approval rate moves only with samples in
    which a person was asked; a denied step that did not run moves nothing else.

    Args:
        weights: What each component weighs in the score, in all 1; those of seed 002 by default.
    """

    def __init__(self, weights: Mapping[str, float] = SEED_WEIGHTS) -> None:
        self._weights = dict(weights)
        own = "" if self._weights == SEED_WEIGHTS else f"/{digest_of(self._weights)[:12]}"
        self.id = f"decayed_mean{own}"

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

    def update(self, state: SubjectState, signals: TraceSignals, now: datetime) -> SubjectState:
        """Return the state after one sample."""
        share = _share_left(state.last_updated, now)

        def moved(component: Component, value: float, evidence: bool) -> Component:
            return component.with_sample(value, share) if evidence else component.faded(share)

        return evolve(
            state.recorded(signals, now),
            tool_success=moved(state.tool_success, signals.tool_success, signals.ran),
            human_approval_rate=moved(state.human_approval_rate, signals.human_approval_delta, signals.asked),
            cost_efficiency=moved(state.cost_efficiency, signals.cost_efficiency, signals.ran),
            constitution_clean=moved(state.constitution_clean, signals.constitution_clean, signals.ran),
            undo_rate=moved(state.undo_rate, signals.undo_flag, signals.ran),
        )

    def score(self, state: SubjectState, now: datetime) -> float:
        """Return the weighted sum (seed 002 §4.2), faded since the last sample that went well; 0 without one."""
        if state.last_good is None:
            return 0.0
        weights = self._weights
        total = (
            weights["tool_success"] * state.tool_success.mean
            + weights["human_approval_rate"] * state.human_approval_rate.mean
            + weights["cost_efficiency"] * state.cost_efficiency.mean
            + weights["constitution_clean"] * state.constitution_clean.mean
            + weights["undo_rate"] * (1.0 - state.undo_rate.mean)
        )
        return min(total, 1.0) * _share_left(state.last_good, now)

    def effective_count(self, state: SubjectState, now: datetime) -> float:
        """Return the mass of `tool_success`, its prior included, faded to `now`."""
        return state.tool_success.mass * _share_left(state.last_updated, now)


def _share_left(since: datetime | None, now: datetime) -> float:
    """Return the share of evidence left; all of it where the clock went backwards."""
    if since is None or now <= since:
        return 1.0
    seconds: float = (now - since).total_seconds()
    return float(0.5 ** (seconds / _HALF_LIFE_S))
