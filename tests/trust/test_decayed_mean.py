"""The default estimator: the numbers of seed 000 and the properties every estimator must have."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from myclaw_core.trust.decayed_mean import DecayedMean
from myclaw_core.trust.types import TraceSignals

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
ESTIMATOR = DecayedMean()
SUBJECT = ("fs_write", "fs_write:~/ws/notes/*")


def sample(**changes: Any) -> TraceSignals:
    best: dict[str, Any] = {
        "subject": SUBJECT,
        "tool_success": 1.0,
        "cost_efficiency": 1.0,
        "constitution_clean": 1.0,
        "human_approval_delta": 1.0,
        "undo_flag": 0.0,
        "asked": True,
    }
    return TraceSignals(**(best | changes))


def state_after(samples: list[tuple[timedelta, TraceSignals]]) -> Any:
    state, at = ESTIMATOR.initial(SUBJECT), START
    for wait, signals in samples:
        at += wait
        state = ESTIMATOR.update(state, signals, at)
    return state, at


waits = st.timedeltas(timedelta(0), timedelta(days=40))
halves = st.sampled_from([0.0, 0.5, 1.0])
samples = st.builds(
    sample,
    tool_success=st.sampled_from([0.0, 1.0]),
    cost_efficiency=st.floats(0, 1),
    constitution_clean=halves,
    human_approval_delta=st.sampled_from([0.0, 1.0]),
    undo_flag=st.sampled_from([0.0, 1.0]),
    asked=st.booleans(),
    ran=st.booleans(),
)
histories = st.lists(st.tuples(waits, samples), max_size=12)


def test_the_recurrence_is_the_one_of_the_specification() -> None:
    """`W' = W·a + 1`, `x' = (x·W·a + s)/W'`, from the prior (0, 0.5)."""
    state, _ = state_after([(timedelta(0), sample()), (timedelta(days=30), sample(tool_success=0.0))])
    assert state.tool_success.mass == pytest.approx(1.5 * 0.5 + 1)
    assert state.tool_success.mean == pytest.approx((1 / 1.5) * 0.75 / 1.75)


def test_components_at_their_best_read_half_after_thirty_silent_days() -> None:
    state, at = state_after([(timedelta(hours=1), sample())] * 12)
    assert ESTIMATOR.score(state, at + timedelta(days=30)) == pytest.approx(0.5, abs=0.02)


def test_one_broken_law_then_a_hundred_clean_days_reads_above_nine_tenths() -> None:
    broken = sample(constitution_clean=0.0)
    state, at = state_after([(timedelta(0), broken), *[(timedelta(days=1), sample())] * 100])
    assert ESTIMATOR.score(state, at) > 0.9


def test_a_subject_without_a_good_sample_reads_nothing() -> None:
    state, at = state_after([(timedelta(days=1), sample(tool_success=0.0))] * 20)
    assert ESTIMATOR.score(state, at) == 0.0


def test_many_good_samples_within_an_hour_weigh_more_than_one() -> None:
    one, _ = state_after([(timedelta(0), sample())])
    many, _ = state_after([(timedelta(minutes=5), sample())] * 10)
    at = START + timedelta(hours=1)
    assert ESTIMATOR.score(many, at) > ESTIMATOR.score(one, at)
    assert ESTIMATOR.effective_count(many, at) > ESTIMATOR.effective_count(one, at) + 8


def test_an_undo_lowers_the_score() -> None:
    good, at = state_after([(timedelta(hours=1), sample())] * 5)
    undone, _ = state_after([*[(timedelta(hours=1), sample())] * 4, (timedelta(hours=1), sample(undo_flag=1.0))])
    assert ESTIMATOR.score(undone, at) < ESTIMATOR.score(good, at)


@pytest.mark.parametrize("days", [-400, -1])
def test_a_clock_that_goes_backwards_neither_fades_nor_raises(days: int) -> None:
    state, at = state_after([(timedelta(days=1), sample())] * 5)
    earlier = at + timedelta(days=days)
    assert ESTIMATOR.score(state, earlier) == ESTIMATOR.score(state, at)
    assert ESTIMATOR.update(state, sample(), earlier).tool_success.mass == state.tool_success.mass + 1


@given(histories, waits)
def test_every_value_stays_in_range(history: Any, wait: timedelta) -> None:
    state, at = state_after(history)
    assert 0.0 <= ESTIMATOR.score(state, at + wait) <= 1.0
    for name in ("tool_success", "human_approval_rate", "cost_efficiency", "constitution_clean", "undo_rate"):
        assert 0.0 <= getattr(state, name).mean <= 1.0


@given(histories, waits, waits)
def test_silence_never_raises_a_score_nor_what_counts(history: Any, first: timedelta, second: timedelta) -> None:
    state, at = state_after(history)
    sooner, later = at + first, at + first + second
    assert ESTIMATOR.score(state, later) <= ESTIMATOR.score(state, sooner)
    assert ESTIMATOR.effective_count(state, later) <= ESTIMATOR.effective_count(state, sooner)


@given(histories, waits)
def test_not_asked_is_missing_evidence(history: Any, wait: timedelta) -> None:
    """The rate stays; only its mass fades, as in silence."""
    state, at = state_after(history)
    after = ESTIMATOR.update(state, sample(asked=False, human_approval_delta=0.5), at + wait)
    assert after.human_approval_rate.mean == state.human_approval_rate.mean
    assert after.human_approval_rate.mass <= state.human_approval_rate.mass
    assert after.last_asked == state.last_asked


@given(histories, waits)
def test_a_denied_step_gives_approval_evidence_and_nothing_else(history: Any, wait: timedelta) -> None:
    state, at = state_after(history)
    after = ESTIMATOR.update(state, sample(human_approval_delta=0.0, ran=False), at + wait)
    for name in ("tool_success", "cost_efficiency", "constitution_clean", "undo_rate"):
        assert getattr(after, name).mean == getattr(state, name).mean
    assert after.human_approval_rate.mean < state.human_approval_rate.mean or state.human_approval_rate.mean == 0
    assert after.n_samples == state.n_samples
    assert after.recent[-1]


@given(histories, st.data(), waits)
def test_a_better_sample_never_lowers_a_later_score(history: Any, data: st.DataObject, wait: timedelta) -> None:
    history = [(pause, evolve(signals, ran=True)) for pause, signals in history]
    if not history:
        return
    place = data.draw(st.integers(0, len(history) - 1))
    pause, worse = history[place]
    better = evolve(
        worse,
        tool_success=data.draw(st.floats(worse.tool_success, 1)),
        cost_efficiency=data.draw(st.floats(worse.cost_efficiency, 1)),
        constitution_clean=data.draw(halves.filter(lambda value: value >= worse.constitution_clean)),
        undo_flag=data.draw(st.sampled_from([0.0, worse.undo_flag])),
        human_approval_delta=1.0 if worse.asked and data.draw(st.booleans()) else worse.human_approval_delta,
    )
    low, at = state_after(history)
    high, _ = state_after([*history[:place], (pause, better), *history[place + 1 :]])
    assert ESTIMATOR.score(high, at + wait) >= ESTIMATOR.score(low, at + wait) - 1e-12


def test_a_parent_knows_no_destination(make: SimpleNamespace) -> None:
    record = make.Record()
    record.add_sample(make.ideal(), START)
    assert record.view(make.NOTES, START).state.grants == (START,)
    assert record.view(("fs_write", "fs_write:*"), START).state.grants == ()
