"""The moving average of seed 000: its numbers, and what it lacks by construction."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from myclaw_defaults import plugin
from myclaw_defaults.ema import Ema

from myclaw_core.trust.conformance import PROPERTIES
from myclaw_core.trust.state import SubjectState
from myclaw_core.trust.types import TraceSignals
from myclaw_core.trust.weighing import SEED_WEIGHTS

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
SUBJECT = ("fs_write", "fs_write:~/notes/*")
DAY = timedelta(days=1)
EMA = Ema()


def sample(**changes: Any) -> TraceSignals:
    best: dict[str, Any] = {
        "tool_success": 1.0,
        "cost_efficiency": 1.0,
        "constitution_clean": 1.0,
        "human_approval_delta": 1.0,
        "undo_flag": 0.0,
        "asked": True,
    }
    return TraceSignals(subject=SUBJECT, **(best | changes))


def after(*samples: TraceSignals, every: timedelta = DAY, state: SubjectState | None = None) -> SubjectState:
    """Return the state after samples at equal distances, the first one at the start or that long after `state`."""
    at = START - every if state is None or state.last_updated is None else state.last_updated
    state = state or EMA.initial(SUBJECT)
    for signals in samples:
        at += every
        state = EMA.update(state, signals, at)
    return state


def read(state: SubjectState, later: timedelta = timedelta(0)) -> float:
    assert state.last_updated is not None
    return EMA.score(state, state.last_updated + later)


def test_hook_myclaw_estimator() -> None:
    """The hook offers it, with the weights of the configuration."""
    weights = {**SEED_WEIGHTS, "tool_success": 0.25, "kept_short": 0.05}
    offered = plugin.myclaw_estimator(weights)
    assert offered.name == "ema"
    assert offered.id.startswith("ema/")
    assert plugin.myclaw_estimator(SEED_WEIGHTS).id == "ema"


def test_everything_starts_at_nothing() -> None:
    state = EMA.initial(SUBJECT)
    assert {state.tool_success.mean, state.human_approval_rate.mean, state.undo_rate.mean} == {0.0}
    assert EMA.score(state, START) == 0.0


def test_a_new_sample_weighs_what_the_time_since_the_last_one_gives_it() -> None:
    """`x' = x·0.5^(dt/30) + s·(1 − 0.5^(dt/30))`: the first one, with no time before it, weighs nothing."""
    first = after(sample())
    assert first.tool_success.mean == 0.0
    second = EMA.update(first, sample(), START + timedelta(days=30))
    assert second.tool_success.mean == pytest.approx(0.5)
    third = EMA.update(second, sample(tool_success=0.0), START + timedelta(days=60))
    assert third.tool_success.mean == pytest.approx(0.25)


def test_no_score_is_above_what_its_time_allows() -> None:
    """`score(T) ≤ 0.10 + 0.90·(1 − 0.5^(T/30))`, however often it is used."""
    for uses_a_day in (1, 10):
        state = after(*[sample()] * (90 * uses_a_day), every=DAY / uses_a_day)
        assert state.last_updated is not None
        days = (state.last_updated - START) / DAY
        assert read(state) == pytest.approx(0.10 + 0.90 * (1 - 0.5 ** (days / 30)))


@pytest.mark.parametrize(("threshold", "day"), [(0.65, 41), (0.85, 78)])
def test_it_promotes_nobody_before(threshold: float, day: int) -> None:
    reached = next(days for days in range(1, 200) if read(after(*[sample()] * (days + 1))) >= threshold)
    assert reached == day


def test_it_hardly_notices_a_hundred_denials_in_half_an_hour() -> None:
    state = after(*[sample()] * 130)
    refused = sample(tool_success=0.0, human_approval_delta=0.0, ran=False)
    denied = after(*[refused] * 100, every=timedelta(seconds=18), state=state)
    assert read(state) - read(denied) < 0.001


def test_after_sixty_silent_days_one_sample_decides() -> None:
    state = after(*[sample()] * 130)
    failed = EMA.update(state, sample(tool_success=0.0), START + timedelta(days=129 + 60))
    assert failed.tool_success.mean == pytest.approx(0.25, abs=0.02)


def test_components_at_one_read_half_after_thirty_silent_days() -> None:
    state = after(*[sample()] * 400)
    assert read(state) == pytest.approx(1.0, abs=0.001)
    assert read(state, timedelta(days=30)) == pytest.approx(0.5, abs=0.02)


def test_an_undo_lowers_the_score() -> None:
    good = [sample()] * 40
    assert read(after(*good, sample(undo_flag=1.0))) < read(after(*good, sample()))


def test_where_nobody_was_asked_the_approval_rate_may_fall_and_never_rises() -> None:
    silent = sample(asked=False, human_approval_delta=0.5)
    high, low = after(*[sample()] * 60), after(*[sample()] * 10)
    assert high.human_approval_rate.mean > 0.5 > low.human_approval_rate.mean
    assert after(silent, state=high).human_approval_rate.mean < high.human_approval_rate.mean
    assert after(silent, state=low).human_approval_rate.mean == low.human_approval_rate.mean


def test_a_broken_law_is_outweighed_by_a_hundred_clean_days() -> None:
    """The seed asks for more than 0.9 again; so long a time alone allows that."""
    broken, clean = sample(constitution_clean=0.0), sample()
    assert read(after(*[clean] * 30, broken, *[clean] * 100)) > 0.9
    state = after(*[clean] * 30)
    assert EMA.update(state, broken, START + 30 * DAY).constitution_clean.mean < state.constitution_clean.mean


def test_a_birth_is_its_reward() -> None:
    state = EMA.born(("neuron:tidy", "invoke"), 0.72, START)
    assert EMA.score(state, START) == pytest.approx(0.72, abs=0.005)
    assert (state.n_samples, state.human_approval_rate.mean) == (1, 1.0)


LACKING = {"many_weigh_more_than_one", "unasked_is_missing_evidence"}


@pytest.mark.parametrize("name", PROPERTIES)
def test_it_has_every_property_but_two(name: str) -> None:
    """Many samples within an hour weigh no more than one, and silence about an approval counts: so it is written."""
    if name in LACKING:
        with pytest.raises(AssertionError):
            PROPERTIES[name](EMA)
    else:
        PROPERTIES[name](EMA)
