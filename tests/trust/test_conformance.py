"""The default has every property that an estimator is tested for, and an estimator that lacks one is told."""

from __future__ import annotations

from datetime import datetime

import pytest
from attrs import evolve

from myclaw_core.trust.conformance import PROPERTIES, Check
from myclaw_core.trust.decayed_mean import DecayedMean
from myclaw_core.trust.state import Component, SubjectState
from myclaw_core.trust.types import TraceSignals
from myclaw_core.types.trust import TrustSubject


@pytest.mark.parametrize("check", PROPERTIES.values(), ids=PROPERTIES)
def test_the_default_has_the_property(check: Check) -> None:
    check(DecayedMean())


@pytest.mark.parametrize("check", PROPERTIES.values(), ids=PROPERTIES)
def test_it_keeps_the_property_with_other_weights_and_signals_of_plugins(check: Check) -> None:
    weights = {
        "tool_success": 0.4,
        "human_approval_rate": 0.2,
        "cost_efficiency": 0.1,
        "constitution_clean": 0.15,
        "undo_rate": 0.1,
        "kept_short": 0.05,
    }
    check(DecayedMean(weights))


class Forgetful(DecayedMean):
    """Counts only the newest sample."""

    def sampled(self, component: Component, value: float, share: float) -> Component:
        return Component(value, 1.0)


class Flattered(DecayedMean):
    """Takes silence for a yes."""

    def unasked(self, approval: Component, share: float) -> Component:
        return self.sampled(approval, 1.0, share)


class Patient(DecayedMean):
    """Scores higher the longer nothing happens."""

    def score(self, state: SubjectState, now: datetime) -> float:
        waited = (now - state.last_updated).days if state.last_updated else 0
        return min(super().score(state, now) + waited * 0.01, 1.0)


class Contrary(DecayedMean):
    """Likes what was undone."""

    def update(self, state: SubjectState, signals: TraceSignals, now: datetime) -> SubjectState:
        return super().update(state, evolve(signals, undo_flag=1.0 - signals.undo_flag), now)


class Credulous(DecayedMean):
    """Takes one sample for many, and one day for two."""

    def update(self, state: SubjectState, signals: TraceSignals, now: datetime) -> SubjectState:
        after = super().update(state, signals, now)
        return evolve(after, n_samples=after.n_samples + 2, days=2, tool_success=Component(1.0, 9.0))


class Unbounded(DecayedMean):
    """Leaves [0, 1]."""

    def sampled(self, component: Component, value: float, share: float) -> Component:
        return Component(component.mean + value, component.mass + 1.0)


class Restless(DecayedMean):
    """Depends on what it did before."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def sampled(self, component: Component, value: float, share: float) -> Component:
        self.calls += 1
        moved = super().sampled(component, value, share)
        return evolve(moved, mass=moved.mass + self.calls * 1e-6)


class Stillborn(DecayedMean):
    """Gives every neuron the same start."""

    def born(self, subject: TrustSubject, reward: float, now: datetime) -> SubjectState:
        return super().born(subject, 0.9, now)


class Forgiving(DecayedMean):
    """Forgets what went wrong, and takes every destination for known."""

    def update(self, state: SubjectState, signals: TraceSignals, now: datetime) -> SubjectState:
        return evolve(super().update(state, signals, now), recent=(), grants=(now,) * 3)


@pytest.mark.parametrize(
    ("estimator", "lacking"),
    [
        (Forgetful, {"many_weigh_more_than_one", "frequent_use_promotes_sooner"}),
        (Flattered, {"unasked_is_missing_evidence"}),
        (Patient, {"silence_never_helps", "a_clock_helps_nobody"}),
        (Contrary, {"better_samples_never_lower"}),
        (Credulous, {"two_samples_never_promote"}),
        (Unbounded, {"values_stay_in_range"}),
        (Restless, {"same_events_same_score", "denials_stay_where_they_are"}),
        (Stillborn, {"a_birth_is_its_reward"}),
        (Forgiving, {"three_bad_ones_demote", "unknown_destinations_are_asked"}),
    ],
)
def test_an_estimator_that_lacks_a_property_is_told(estimator: type[DecayedMean], lacking: set[str]) -> None:
    """Each property is missed by one at least: none of the checks passes whatever it is given."""
    failed = {}
    for name, check in PROPERTIES.items():
        try:
            check(estimator())
        except AssertionError as error:
            failed[name] = str(error)
    assert lacking <= set(failed)
    assert all(failed.values())
