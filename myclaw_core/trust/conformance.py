"""What every estimator is tested for: each property is a check that a plugin's author can run on their own.

In a test of a plugin:

    @pytest.mark.parametrize("check", PROPERTIES.values(), ids=PROPERTIES)
    def test_my_estimator_has_the_property(check):
        check(MyEstimator())
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from attrs import evolve, frozen

from myclaw_core.trust.estimator import Estimator
from myclaw_core.trust.happenings import Sample
from myclaw_core.trust.promotion import Promotion, judge
from myclaw_core.trust.state import COMPONENTS
from myclaw_core.trust.states import MemoryTrust
from myclaw_core.trust.types import TraceSignals
from myclaw_core.types.effect import Autonomy, Effect
from myclaw_core.types.trust import TrustSubject, TrustThreshold

__all__ = ["PROPERTIES", "Check"]

Check = Callable[[Estimator], None]
"""Raises `AssertionError` with what was found where an estimator lacks the property."""

_SUBJECT: TrustSubject = ("fs_write", "fs_write:~/notes/*")
_ELSEWHERE: TrustSubject = ("fs_write", "fs_write:~/photos/*")
_UNRELATED: TrustSubject = ("fs_delete", "fs_delete:~/notes/*")
_START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
_LOW = TrustThreshold(effect_class="", risk_band="low", min_score=0.60, min_samples=3, cap_autonomy="full")
_HISTORIES = 60
_ROUNDING = 1e-12
_History = Sequence[tuple[timedelta, TraceSignals]]


@frozen(kw_only=True)
class _Action:
    """An ordinary action of the subject."""

    named: bool = False
    actor: str = "fs_write"
    actor_version: str = ""
    model: str = ""
    autonomy: Autonomy = "supervised"
    tainted: bool = False


def many_weigh_more_than_one(estimator: Estimator) -> None:
    """n good samples within an hour weigh more than one."""
    failed = (timedelta(0), _good(tool_success=0.0))
    one, many = MemoryTrust(estimator), MemoryTrust(estimator)
    at = _tell(one, [failed, (timedelta(hours=1), _good())])
    _tell(many, [failed, *[(timedelta(minutes=6), _good())] * 10])
    few, more = one.view(_SUBJECT, at), many.view(_SUBJECT, at)
    _must(few is not None and more is not None, "it has no view of a subject with samples")
    if few is not None and more is not None:
        _must(
            more.score > few.score + _ROUNDING, f"after a failure one good sample scores {few.score}, 10 {more.score}"
        )
        _must(more.effective_count > few.effective_count, "10 samples count no more than one")


def frequent_use_promotes_sooner(estimator: Estimator) -> None:
    """Promotion comes sooner at 10 uses a day than at 1, once two days are touched."""
    often, seldom = (_time_until_promotion(estimator, timedelta(days=1) / uses) for uses in (10, 1))
    _must(often is not None, "10 good uses a day for 120 days do not promote")
    _must(often is not None and (seldom is None or often < seldom), f"promoted after {often} and after {seldom}")


def silence_never_helps(estimator: Estimator) -> None:
    """Silence never promotes and never raises a score."""
    for chance, history in _histories():
        memory = MemoryTrust(estimator)
        at = _tell(memory, history)
        before = None
        for _ in range(6):
            at += timedelta(hours=chance.choice((0, 1, 30, 400)))
            view, promoted = memory.view(_SUBJECT, at), _judged(memory, at).promoted
            now = (view.score if view else 0.0, view.effective_count if view else 0.0, promoted)
            if before is not None:
                _must(all(b <= a for a, b in zip(before, now, strict=True)), f"{before} became {now} in silence")
            before = now


def two_samples_never_promote(estimator: Estimator) -> None:
    """Two samples never promote, however far apart."""
    for hours in (0, 1, 24, 240, 2400):
        memory = MemoryTrust(estimator)
        at = _tell(memory, [(timedelta(hours=hours), _good())] * 2)
        _must(not _judged(memory, at, named=True).promoted, f"two samples {hours} h apart promote")


def three_bad_ones_demote(estimator: Estimator) -> None:
    """Three denials or three undos in a row demote at once, whatever the history."""
    for bad in (_DENIED, _good(undo_flag=1.0)):
        for uses in (5, 100, 400):
            memory = MemoryTrust(estimator)
            _tell(memory, [*[(timedelta(hours=12), _good())] * uses, *[(timedelta(minutes=1), bad)] * 3])
            _must(not _judged(memory, _START, named=True).promoted, f"three bad ones after {uses} good ones still pass")


def better_samples_never_lower(estimator: Estimator) -> None:
    """At any later time, replacing one sample by one at least as good in every signal never lowers the score."""
    for chance, history in _histories():
        place = chance.randrange(len(history))
        wait, worse = history[place]
        better = _improved(worse, chance)
        low, high = MemoryTrust(estimator), MemoryTrust(estimator)
        at = _tell(low, history) + timedelta(hours=chance.choice((0, 1, 300)))
        _tell(high, [*history[:place], (wait, better), *history[place + 1 :]])
        was, is_now = _score(low, at), _score(high, at)
        _must(is_now >= was - _ROUNDING, f"{worse} replaced by {better}: {was} became {is_now}")


def unasked_is_missing_evidence(estimator: Estimator) -> None:
    """A sample in which nobody was asked moves the approval rate neither up nor down."""
    for chance, history in _histories():
        memory = MemoryTrust(estimator)
        at = _tell(memory, history) + timedelta(hours=chance.choice((0, 1, 300)))
        before = memory.get(_SUBJECT)
        memory.add(Sample(at=at, trace_id="later", signals=_UNASKED))
        after = memory.get(_SUBJECT)
        if before is not None and after is not None:
            rates = before.human_approval_rate.mean, after.human_approval_rate.mean
            _must(rates[0] == rates[1], f"the approval rate moved from {rates[0]} to {rates[1]}")


def same_events_same_score(estimator: Estimator) -> None:
    """The same events give the same state bit for bit, in whatever order they arrive, also with equal time stamps."""
    for chance, history in _histories():
        straight, shuffled = MemoryTrust(estimator), MemoryTrust(estimator)
        samples = list(_samples(history))
        for sample in samples:
            straight.add(sample)
        chance.shuffle(samples)
        for sample in samples:
            shuffled.add(sample)
        for subject in straight:
            _must(straight.get(subject) == shuffled.get(subject), f"{subject} depends on the order of arrival")


def denials_stay_where_they_are(estimator: Estimator) -> None:
    """One subject's denials never move an unrelated one."""
    for _, history in _histories():
        alone, beside = MemoryTrust(estimator), MemoryTrust(estimator)
        at = _tell(alone, history)
        for sample in _samples(history):
            refused = evolve(_DENIED, subject=_UNRELATED)
            beside.add(sample, Sample(at=sample.at, trace_id=f"{sample.trace_id} refused", signals=refused))
        _must(alone.get(_SUBJECT) == beside.get(_SUBJECT), "a denial of another subject moved this one")
        _must(_score(alone, at) == _score(beside, at), "a denial of another subject moved this score")


def unknown_destinations_are_asked(estimator: Estimator) -> None:
    """A destination never approved nor named is asked at any score."""
    for uses in (10, 100, 400):
        memory = MemoryTrust(estimator)
        at = _tell(memory, [(timedelta(hours=12), evolve(_good(), subject=_ELSEWHERE))] * uses)
        _must(not _judged(memory, at).promoted, f"an unknown destination passes after {uses} good uses elsewhere")
        for days in (1, 2, 3):
            memory.add(Sample(at=at + timedelta(days=days), trace_id=f"later {days}", signals=_UNASKED))
        at += timedelta(days=3)
        _must(not _judged(memory, at).promoted, "a destination that was never approved passes")


def a_clock_helps_nobody(estimator: Estimator) -> None:
    """Clock back an hour, back a year, forward ten years: no score rises by it."""
    for chance, history in _histories():
        memory = MemoryTrust(estimator)
        at = _tell(memory, history)
        view = memory.view(_SUBJECT, at)
        if view is None:
            continue
        for shift in (timedelta(hours=-1), timedelta(days=-365), timedelta(days=3650)):
            shifted = memory.view(_SUBJECT, at + shift)
            _must(shifted is not None and shifted.score <= view.score, f"the score rises with the clock set by {shift}")
            _must(
                shifted is not None and shifted.effective_count <= view.effective_count,
                f"more samples count with the clock set by {shift}",
            )
            after = estimator.update(view.state, _improved(_DENIED, chance), at + shift)
            _must(math.isfinite(estimator.score(after, at + shift)), f"no score with the clock set by {shift}")


def values_stay_in_range(estimator: Estimator) -> None:
    """Every component and every score lies in [0, 1], every mass is a finite number."""
    for chance, history in _histories():
        memory = MemoryTrust(estimator)
        at = _tell(memory, history) + timedelta(hours=chance.choice((0, 1, 3000)))
        for subject in memory:
            view = memory.view(subject, at)
            if view is not None:
                components = [getattr(view.state, name) for name in COMPONENTS]
                _must(all(0.0 <= one.mean <= 1.0 for one in components), f"{subject}: a mean is out of range")
                _must(all(0.0 <= one.mass < math.inf for one in components), f"{subject}: a mass is out of range")
                _must(0.0 <= view.score <= 1.0, f"{subject}: the score is {view.score}")


def a_birth_is_its_reward(estimator: Estimator) -> None:
    """A neuron born with R has the score R and one sample."""
    for reward in (0.0, 0.2, 0.35, 0.65, 0.72, 0.9, 1.0):
        state = estimator.born(("neuron:tidy", "invoke"), reward, _START)
        score = estimator.score(state, _START)
        _must(math.isclose(score, reward, abs_tol=0.005), f"born with {reward}, it scores {score}")
        _must((state.n_samples, state.born) == (1, True), f"born with {reward}, it has {state.n_samples} samples")


PROPERTIES: Mapping[str, Check] = {
    check.__name__: check
    for check in (
        many_weigh_more_than_one,
        frequent_use_promotes_sooner,
        silence_never_helps,
        two_samples_never_promote,
        three_bad_ones_demote,
        better_samples_never_lower,
        unasked_is_missing_evidence,
        same_events_same_score,
        denials_stay_where_they_are,
        unknown_destinations_are_asked,
        a_clock_helps_nobody,
        values_stay_in_range,
        a_birth_is_its_reward,
    )
}


def _must(condition: bool, found: str) -> None:
    if not condition:
        raise AssertionError(found)


def _good(**changes: Any) -> TraceSignals:
    best: dict[str, Any] = {
        "tool_success": 1.0,
        "cost_efficiency": 1.0,
        "constitution_clean": 1.0,
        "human_approval_delta": 1.0,
        "undo_flag": 0.0,
        "asked": True,
    }
    return TraceSignals(subject=_SUBJECT, **(best | changes))


_UNASKED = _good(asked=False, human_approval_delta=0.5)
_DENIED = _good(tool_success=0.0, human_approval_delta=0.0, ran=False)


def _samples(history: _History) -> Iterator[Sample]:
    at = _START
    for number, (wait, signals) in enumerate(history):
        at += wait
        yield Sample(at=at, trace_id=f"{number:06d}", signals=signals)


def _tell(memory: MemoryTrust, history: _History) -> datetime:
    """Count a history that begins at a fixed moment; return when it ended."""
    at = _START
    for sample in _samples(history):
        memory.add(sample)
        at = sample.at
    return at


def _judged(memory: MemoryTrust, at: datetime, *, named: bool = False) -> Promotion:
    effect = Effect(kind="fs_write", scope="~/notes/*", target="~/notes/a.md", reversibility="reversible")
    return judge(effect, _Action(named=named), memory, _LOW, at)


def _score(memory: MemoryTrust, at: datetime) -> float:
    view = memory.view(_SUBJECT, at)
    return view.score if view else 0.0


def _time_until_promotion(estimator: Estimator, every: timedelta) -> timedelta | None:
    memory, at = MemoryTrust(estimator), _START
    number = 0
    while at - _START < timedelta(days=120):
        memory.add(Sample(at=at, trace_id=f"{number:06d}", signals=_good()))
        if _judged(memory, at).promoted:
            return at - _START
        number += 1
        at += every
    return None


def _histories() -> Iterator[tuple[random.Random, list[tuple[timedelta, TraceSignals]]]]:
    """Yield histories of up to 12 samples, always the same ones."""
    for seed in range(_HISTORIES):
        chance = random.Random(seed)  # noqa: S311 - the same histories each time, nothing secret
        yield chance, [(_wait(chance), _any(chance)) for _ in range(chance.randint(1, 12))]


def _wait(chance: random.Random) -> timedelta:
    return timedelta(minutes=chance.choice((0, 0, 1, 60, 1440, 1440, 4320, 43200)))


def _any(chance: random.Random) -> TraceSignals:
    asked = _happens(chance, 0.6)
    if asked and _happens(chance, 0.2):
        return _DENIED
    return _good(
        tool_success=float(_happens(chance, 0.8)),
        cost_efficiency=chance.random(),
        constitution_clean=chance.choice((0.0, 0.5, 1.0, 1.0)),
        human_approval_delta=float(_happens(chance, 0.8)) if asked else 0.5,
        undo_flag=float(_happens(chance, 0.1)),
        asked=asked,
    )


def _improved(worse: TraceSignals, chance: random.Random) -> TraceSignals:
    """Return signals at least as good in every one; a step that did not run becomes one that went well."""
    if not worse.ran:
        return _good() if _happens(chance, 0.5) else _UNASKED
    answered_better = _happens(chance, 0.5)
    return evolve(
        worse,
        tool_success=max(worse.tool_success, float(_happens(chance, 0.5))),
        cost_efficiency=max(worse.cost_efficiency, chance.random()),
        constitution_clean=max(worse.constitution_clean, chance.choice((0.0, 0.5, 1.0))),
        undo_flag=min(worse.undo_flag, float(_happens(chance, 0.5))),
        asked=worse.asked or answered_better,
        human_approval_delta=1.0 if answered_better else worse.human_approval_delta,
    )


def _happens(chance: random.Random, share: float) -> bool:
    return chance.random() < share
