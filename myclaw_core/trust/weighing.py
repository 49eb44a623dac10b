"""From weighted components to a score: what every estimator of components shares (seed 002 §4.2)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import datetime

from attrs import evolve

from myclaw_core.errors import ConfigError
from myclaw_core.messages import N_
from myclaw_core.trust.state import COMPONENTS, Component, SubjectState
from myclaw_core.trust.types import TraceSignals
from myclaw_core.types.canonical import digest_of
from myclaw_core.types.text import Text
from myclaw_core.types.trust import TrustSubject

__all__ = ["HALF_LIFE_DAYS", "SEED_WEIGHTS", "ComponentEstimator", "share_left", "weights_problem"]

HALF_LIFE_DAYS = 30.0
_HALF_LIFE_S = HALF_LIFE_DAYS * 86_400
_UNKNOWN_SIGNAL = Component(0.0, 0.5)

SEED_WEIGHTS: Mapping[str, float] = {
    "tool_success": 0.30,
    "human_approval_rate": 0.25,
    "cost_efficiency": 0.20,
    "constitution_clean": 0.15,
    "undo_rate": 0.10,
}


def weights_problem(weights: Mapping[str, float]) -> Text | None:
    """Return what is wrong with the weights of a score, or `None`."""
    for name, weight in weights.items():
        if not 0.0 <= weight <= 1.0:
            return N_("the weight of {name} in [trust] must be in [0, 1]", name=name)
    total = math.fsum(weights.values())
    if not math.isclose(total, 1.0, abs_tol=1e-9):
        return N_("the weights in [trust] must sum to 1, not {total:g}", total=total)
    return None


def share_left(since: datetime | None, now: datetime) -> float:
    """Return the share of evidence left after the time between, `0.5^(days / 30)`; all of it where that is negative."""
    if since is None or now <= since:
        return 1.0
    seconds: float = (now - since).total_seconds()
    return float(0.5 ** (seconds / _HALF_LIFE_S))


class ComponentEstimator(ABC):
    """An estimator that keeps one component a signal and scores by their weighted sum.

    A subclass says where the components start and how one moves with a sample.

    Args:
        weights: What each component weighs in the score, in all 1; a name besides the five of the seed is a signal of a
            plugin, which counts as 0 until it is given.

    Raises:
        ConfigError: A weight is not in [0, 1], or they do not sum to 1.
    """

    name: str

    def __init__(self, weights: Mapping[str, float] = SEED_WEIGHTS) -> None:
        problem = weights_problem(weights)
        if problem is not None:
            raise ConfigError(problem)
        self._weights = {name: weights.get(name, 0.0) for name in COMPONENTS}
        self._extra = {name: weight for name, weight in sorted(weights.items()) if name not in COMPONENTS}
        own = self._weights | self._extra
        self.id = self.name if own == SEED_WEIGHTS else f"{self.name}/{digest_of(own)[:12]}"

    @abstractmethod
    def initial(self, subject: TrustSubject) -> SubjectState:
        """Return the state before the first sample."""

    @abstractmethod
    def sampled(self, component: Component, value: float, share: float) -> Component:
        """Return a component after one sample; `share` of the older evidence is left."""

    def unasked(self, approval: Component, share: float) -> Component:
        """Return the approval rate after a sample in which nobody was asked: missing evidence."""
        return approval.faded(share)

    def update(self, state: SubjectState, signals: TraceSignals, now: datetime) -> SubjectState:
        """Return the state after one sample; a denied step that did not run moves the approval rate alone."""
        share = share_left(state.last_updated, now)

        def moved(component: Component, value: float | None) -> Component:
            if value is None or not signals.ran:
                return component.faded(share)
            return self.sampled(component, value, share)

        approval = state.human_approval_rate
        return evolve(
            state.recorded(signals, now),
            tool_success=moved(state.tool_success, signals.tool_success),
            human_approval_rate=(
                self.sampled(approval, signals.human_approval_delta, share)
                if signals.asked
                else self.unasked(approval, share)
            ),
            cost_efficiency=moved(state.cost_efficiency, signals.cost_efficiency),
            constitution_clean=moved(state.constitution_clean, signals.constitution_clean),
            undo_rate=moved(state.undo_rate, signals.undo_flag),
            extra={
                name: moved(state.extra.get(name, _UNKNOWN_SIGNAL), signals.extra.get(name)) for name in self._extra
            },
        )

    def born(self, subject: TrustSubject, reward: float, now: datetime) -> SubjectState:
        """Return the state of a neuron that was born with `reward`, so that its score is just that.

        Every component has the mass of one sample: approved, not undone, and the others at
        `(R − 0.35) / 0.65` with the weights of the seed; all of them at R where that would be negative.
        """
        granted = self._weights["human_approval_rate"] + self._weights["undo_rate"]
        share = (reward - granted) / (1.0 - granted) if granted < reward else reward
        approved, undone = (1.0, 0.0) if granted < reward else (reward, 1.0 - reward)
        rest = Component(min(share, 1.0), 1.0)
        state = SubjectState(
            subject=subject,
            tool_success=rest,
            human_approval_rate=Component(approved, 1.0),
            cost_efficiency=rest,
            constitution_clean=rest,
            undo_rate=Component(undone, 1.0),
            extra=dict.fromkeys(self._extra, rest),
        )
        return state.born_at(now)

    def score(self, state: SubjectState, now: datetime) -> float:
        """Return the weighted sum, faded since the last sample that went well; 0 without one."""
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
        for name, weight in self._extra.items():
            total += weight * state.extra.get(name, _UNKNOWN_SIGNAL).mean
        return min(total, 1.0) * share_left(state.last_good, now)

    def effective_count(self, state: SubjectState, now: datetime) -> float:
        """Return the mass of `tool_success`, its prior included, faded to `now`."""
        return state.tool_success.mass * share_left(state.last_updated, now)
