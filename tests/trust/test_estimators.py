"""Which estimators there are, which one counts, and what one of a plugin can do at worst."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import evolve
from hook_bench import bench, raising
from myclaw_defaults.ema import Ema
from myclaw_defaults.plugin import myclaw_estimator

from myclaw_core.errors import ConfigError, StoreError, UnavailableError
from myclaw_core.testing import FakeClock
from myclaw_core.trust.decayed_mean import DecayedMean
from myclaw_core.trust.estimators import built_in, chosen_estimator
from myclaw_core.trust.guarded import GuardedEstimator
from myclaw_core.trust.state import SubjectState
from myclaw_core.trust.weighing import SEED_WEIGHTS

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
WITH_EXTRA = {**SEED_WEIGHTS, "tool_success": 0.25, "kept_short": 0.05}


def no_plugins(weights: Mapping[str, float]) -> Any:
    raise AssertionError("the plugins were asked")


def named(name: str) -> Any:
    return type("Named", (DecayedMean,), {"name": name})()


def test_the_default_is_there_without_any_plugin() -> None:
    assert chosen_estimator("decayed_mean", SEED_WEIGHTS, no_plugins).id == "decayed_mean"


def test_a_plugin_offers_what_the_configuration_names() -> None:
    made = bench(defaults={"myclaw_estimator": myclaw_estimator})
    estimator = chosen_estimator("ema", SEED_WEIGHTS, made.dispatcher.estimators)
    assert (estimator.name, estimator.id) == ("ema", "ema of defaults 3")
    assert list(made.dispatcher.estimators(SEED_WEIGHTS)) == ["decayed_mean", "ema"]


def test_a_name_that_nobody_offers_is_told_with_the_nearest() -> None:
    made = bench(defaults={"myclaw_estimator": myclaw_estimator})
    with pytest.raises(UnavailableError) as caught:
        chosen_estimator("emma", SEED_WEIGHTS, made.dispatcher.estimators)
    told = "no plugin offers the estimator emma; the nearest known is 'ema'; or name another in [trust] estimator"
    assert str(caught.value) == told


def test_the_first_of_two_with_one_name_counts_and_none_replaces_the_cores() -> None:
    made = bench(
        a={"myclaw_estimator": lambda: named("same")},
        b={"myclaw_estimator": lambda: named("same")},
        c={"myclaw_estimator": lambda: named("decayed_mean")},
        d={"myclaw_estimator": lambda: None},
    )
    found = made.dispatcher.estimators(SEED_WEIGHTS)
    assert found["same"].id.endswith("of a 3")
    assert isinstance(found["decayed_mean"], DecayedMean)
    assert made.told() == [("b", "myclaw_estimator"), ("c", "myclaw_estimator")]
    assert "offered decayed_mean, which the core offers already" in made.faults[1].detail


@pytest.mark.parametrize(
    "hook", [raising(ValueError("no luck")), lambda: 3, lambda: named(""), lambda: SimpleNamespace(name="x", id="x")]
)
def test_what_is_no_estimator_is_left_out_and_told(hook: Callable[[], Any]) -> None:
    made = bench(a={"myclaw_estimator": hook})
    assert list(made.dispatcher.estimators(SEED_WEIGHTS)) == ["decayed_mean"]
    assert made.told() == [("a", "myclaw_estimator")]


@pytest.mark.parametrize(
    ("weights", "told"),
    [
        ({**SEED_WEIGHTS, "undo_rate": 0.2}, "the weights in [trust] must sum to 1, not 1.1"),
        ({**SEED_WEIGHTS, "undo_rate": 1.1}, "the weight of undo_rate in [trust] must be in [0, 1]"),
        ({**SEED_WEIGHTS, "undo_rate": -0.1, "x": 0.2}, "the weight of undo_rate in [trust] must be in [0, 1]"),
        ({**SEED_WEIGHTS, "x": math.nan}, "the weight of x in [trust] must be in [0, 1]"),
    ],
)
def test_weights_that_do_not_fit_are_refused(weights: dict[str, float], told: str) -> None:
    for make in (built_in, Ema):
        with pytest.raises(ConfigError) as caught:
            make(weights)
        assert str(caught.value) == told


def test_a_signal_of_a_plugin_moves_the_score_only_with_a_weight(make: SimpleNamespace) -> None:
    short, long = make.ideal(extra={"kept_short": 1.0}), make.ideal(extra={"kept_short": 0.0})
    for weights, moves in ((SEED_WEIGHTS, False), (WITH_EXTRA, True)):
        estimator = DecayedMean(weights)
        first = estimator.initial(make.NOTES)
        scores = [estimator.score(estimator.update(first, signals, START), START) for signals in (short, long)]
        assert (scores[0] > scores[1]) == moves
        assert moves or scores[0] == scores[1]


def test_a_weighed_signal_that_nobody_gives_counts_as_nothing(make: SimpleNamespace) -> None:
    estimator = DecayedMean(WITH_EXTRA)
    state, at = estimator.initial(make.NOTES), START
    for _ in range(50):
        state = estimator.update(state, make.ideal(), at)
    assert estimator.score(state, at) == pytest.approx(0.95, abs=0.02)
    given = estimator.update(state, make.ideal(extra={"kept_short": 1.0}), at)
    assert given.extra["kept_short"].mean > 0.6
    missing = estimator.update(given, make.ideal(), at)
    assert missing.extra["kept_short"] == given.extra["kept_short"]


async def test_a_signal_of_a_plugin_is_stored_with_the_sample_whatever_it_weighs(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    book = await open_book()
    trace = make.trace(clock.new_id(), clock.now())
    await book.bulk_update_from_trace(trace, [make.ideal(extra={"kept_short": 0.25})], 1)
    (event,) = await book.events(make.NOTES)
    assert event.signals.extra == {"kept_short": 0.25}
    await book.close()
    weighed = await open_book(estimator=DecayedMean(WITH_EXTRA))
    assert weighed.state(make.NOTES).extra["kept_short"].mean == pytest.approx(0.25 / 1.5)
    assert (await weighed.verify()).ok


async def test_another_estimator_replays_every_event_at_the_start(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    """Back again, the bytes are what they were."""
    book = await open_book()
    for _ in range(6):
        clock.advance(days=1)
        trace = make.trace(clock.new_id(), clock.now())
        await book.bulk_update_from_trace(trace, [make.ideal()], book.applied_seq + 1)
    blobs = dict(await book._backend.scores())
    await book.close()

    other = await open_book(estimator=Ema())
    expected = Ema().initial(make.NOTES)
    for day in range(6):
        expected = Ema().update(expected, make.ideal(), START.replace(day=6 + day))
    assert other.state(make.NOTES) == expected
    assert other.view(make.NOTES, clock.now()).estimator == "ema"
    assert (await other.verify()).ok
    await other.close()

    back = await open_book()
    assert dict(await back._backend.scores()) == blobs


class Wild(DecayedMean):
    """Does what it is told to in place of its work."""

    name = "wild"

    def __init__(self, **deeds: Callable[..., Any]) -> None:
        super().__init__()
        for deed, function in deeds.items():
            setattr(self, deed, function)


def raises(error: BaseException) -> Callable[..., Any]:
    def deed(*_: Any) -> Any:
        raise error

    return deed


def wild(**deeds: Callable[..., Any]) -> GuardedEstimator:
    return GuardedEstimator(Wild(**deeds), "stranger", "1")


@pytest.mark.parametrize(
    "misdeed",
    [
        raises(ValueError("no luck")),
        raises(SystemExit(3)),
        lambda *_: None,
        lambda *_: DecayedMean().initial(("another", "subject")),
        lambda subject, *_: Ema().sampled(subject, 1.0, 1.0),
    ],
)
def test_a_state_that_is_none_stops_the_record_from_following(make: SimpleNamespace, misdeed: Any) -> None:
    for call in (
        lambda: wild(initial=misdeed).initial(make.NOTES),
        lambda: wild(born=misdeed).born(make.NOTES, 0.7, START),
        lambda: wild(update=misdeed).update(DecayedMean().initial(make.NOTES), make.ideal(), START),
    ):
        with pytest.raises(StoreError, match=r"the estimator wild of the plugin stranger failed: .*name another in"):
            call()


@pytest.mark.parametrize("misdeed", [raises(ValueError()), *(lambda *_, v=v: v for v in (1.5, -1, math.nan, "x"))])
def test_a_figure_that_is_none_reads_as_no_trust(
    make: SimpleNamespace, misdeed: Any, caplog: pytest.LogCaptureFixture
) -> None:
    state = DecayedMean().update(DecayedMean().initial(make.NOTES), make.ideal(), START)
    with caplog.at_level(logging.ERROR, logger="myclaw.trust"):
        assert wild(score=misdeed).score(state, START) == 0.0
        assert wild(effective_count=lambda *_: math.inf).effective_count(state, START) == 0.0
    assert "the plugin stranger" in caplog.text
    assert wild().score(state, START) == DecayedMean().score(state, START)
    assert wild().effective_count(state, START) == DecayedMean().effective_count(state, START)


def test_a_plugin_counts_no_samples_and_forgets_nothing_that_went_wrong(make: SimpleNamespace) -> None:
    """What the conditions of promotion read besides the score is the core's, whatever the estimator answers."""
    honest = DecayedMean()

    def favoured(state: SubjectState) -> SubjectState:
        return evolve(state, n_samples=99, days=9, recent=(), grants=(START,) * 3, last_good=START, revoked=False)

    guarded = wild(
        initial=lambda subject: favoured(honest.initial(subject)),
        born=lambda subject, reward, now: favoured(honest.born(subject, reward, now)),
        update=lambda state, signals, now: favoured(honest.update(state, signals, now)),
    )

    assert guarded.initial(make.NOTES) == honest.initial(make.NOTES)
    assert guarded.born(make.NOTES, 0.7, START) == honest.born(make.NOTES, 0.7, START)
    revoked = evolve(honest.initial(make.NOTES), revoked=True)
    for signals in (make.ideal(), make.ideal(undo_flag=1.0)):
        assert guarded.update(revoked, signals, START) == honest.update(revoked, signals, START)
