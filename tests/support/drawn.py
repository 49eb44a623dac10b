"""Drawn at random for the rules of the policy: calls with rights, trust records, thresholds, arguments of any kind."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from attrs import frozen
from household import CALLS, Household, KnownCall
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from oracle import WORKSPACE, Rights, Settings
from real_policy import RealPolicy
from sampling import sampled
from stores import MemoryStores

from myclaw_core.testing import FakeClock
from myclaw_core.trust.promotion import judge
from myclaw_core.trust.state import Component, SubjectState, SubjectView
from myclaw_core.trust.types import EarnedBy
from myclaw_core.types.effect import AUTONOMY_LEVELS
from myclaw_core.types.text import Text
from myclaw_core.types.trust import TrustSubject, TrustThreshold

__all__ = [
    "STRICTNESS",
    "AnyRecord",
    "calls",
    "households",
    "json_values",
    "moments",
    "policy_of",
    "records",
    "relaxed",
    "rights_for",
    "situations",
    "thorough",
    "thresholds",
    "trusting",
]

relaxed = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)
STRICTNESS = {"allow": 0, "approve_required": 1, "deny": 2}


def thorough(test: Any) -> Any:
    """Try a rule on more examples, and on 1,000 in the thorough run."""
    return pytest.mark.sampled(settings(relaxed, max_examples=sampled(250, 1_000))(test))


moments = st.datetimes(timezones=st.just(UTC))
shares = st.floats(0.0, 1.0) | st.sampled_from((0.6, 0.999, 1.0))
components = st.builds(Component, shares, st.floats(0.0, 1e9))
states = st.builds(
    SubjectState,
    subject=st.just(("a", "b")),
    tool_success=components,
    human_approval_rate=components,
    cost_efficiency=components,
    constitution_clean=components,
    undo_rate=components,
    n_samples=st.integers(0, 10**9),
    n_good=st.integers(0, 10**9),
    days=st.integers(0, 10**6),
    last_updated=moments,
    last_good=moments,
    last_asked=st.none() | moments,
    recent=st.lists(st.just(False) | st.booleans(), max_size=3).map(tuple),
    grants=st.lists(moments, max_size=3).map(tuple),
    unasked=st.integers(0, 30),
    revoked=st.booleans(),
    held=st.just(False) | st.booleans(),
)
views = st.builds(SubjectView, states, shares | st.just(math.inf), st.floats(0.0, 1e9), st.just("any"), moments)


@st.composite
def _trusted(draw: st.DrawFn) -> SubjectView:
    """Return a view that meets every condition, with figures that meet some thresholds."""
    at, best = draw(moments), Component(draw(st.floats(0.9, 1.0)), 1e6)
    n = draw(st.integers(3, 20) | st.just(10**9))
    state = SubjectState(
        subject=("a", "b"),
        tool_success=best,
        human_approval_rate=best,
        cost_efficiency=best,
        constitution_clean=best,
        undo_rate=Component(0.0, 1e6),
        n_samples=n,
        n_good=n,
        days=n,
        last_updated=at,
        last_good=at,
        last_asked=at,
        recent=(False, False, False),
        grants=(at, at, at),
    )
    return SubjectView(state, draw(st.floats(0.5, 1.0) | st.just(math.inf)), 1e6, "any", at)


thresholds = st.builds(
    TrustThreshold,
    effect_class=st.just("x"),
    risk_band=st.sampled_from(("low", "medium", "high")),
    min_score=st.floats(allow_nan=True, allow_infinity=True) | shares,
    min_samples=st.integers(-5, 20),
    cap_autonomy=st.sampled_from(AUTONOMY_LEVELS),
)
households = st.builds(
    Settings,
    roots=st.sampled_from(((WORKSPACE,), (WORKSPACE, "~/docs"), (WORKSPACE, "~"), (WORKSPACE, "~/docs", "~/other"))),
    closed_hosts=st.sampled_from(((), ("example.net",))),
)
calls = st.sampled_from(CALLS)


@st.composite
def rights_for(draw: st.DrawFn, known: KnownCall) -> Rights:
    """Return rights under which some of what a call touches may have been named or granted."""
    names = sorted({fact.name for fact in known.meaning.facts if fact.name})
    kinds = sorted({fact.kind for fact in known.meaning.facts})
    return Rights(
        sender="cli:me",
        level=draw(st.sampled_from(AUTONOMY_LEVELS)),
        said=frozenset(draw(st.lists(st.sampled_from(names), max_size=3))) if names else frozenset(),
        tainted=draw(st.booleans()),
        undoable=draw(st.booleans()),
        grants=tuple(draw(st.lists(st.sampled_from(kinds), max_size=1))) if kinds else (),
    )


situations = calls.flatmap(lambda known: st.tuples(st.just(known), rights_for(known)))


@frozen
class AnyRecord:
    """A trust record in which whatever is asked about stands as it was drawn."""

    own: SubjectView | None
    parent: SubjectView | None
    problem: Text | None = None
    unchecked: Text | None = None

    def view(self, subject: TrustSubject, now: datetime, by: EarnedBy | None = None) -> SubjectView | None:
        """Return the drawn view."""
        return self.parent if subject[1].endswith(":*") else self.own


records = st.one_of(
    st.builds(AnyRecord, _trusted(), _trusted()), st.builds(AnyRecord, st.none() | views, st.none() | views)
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def policy_of(household: Household, wanted: Settings, clock: FakeClock | None = None, **parts: Any) -> RealPolicy:
    return RealPolicy(wanted, household, MemoryStores(), clock or FakeClock(), **parts)


def trusting(record: AnyRecord, threshold: TrustThreshold | None) -> Callable[..., Any]:
    """Return what asks trust in a record, whatever the class, under one threshold."""
    return lambda effect, action, now: judge(effect, action, record, threshold, now)
