"""How well a judge does is a rank statistic, whatever it calls a good score."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judging_fakes import Critic, Judge, Model, says

from myclaw_core.errors import UnavailableError
from myclaw_core.judging.calibrating import auc, calibrate_critic, calibrate_judge
from myclaw_core.judging.exam import items_digest, labelled_items, labelled_pairs
from myclaw_core.judging.types import Comparison, JudgedItem, Judgement
from myclaw_core.testing import FakeClock

SCORES = st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]) | st.floats(0, 1), min_size=1, max_size=30)


@given(SCORES, SCORES)
def test_the_rank_formula_is_the_share_of_pairs_in_the_right_order(sound: list[float], unsound: list[float]) -> None:
    """Ties count half."""
    pairs = sum((a > b) + (a == b) / 2 for a in sound for b in unsound)

    assert math.isclose(auc(sound, unsound), pairs / (len(sound) * len(unsound)), abs_tol=1e-12)
    assert math.isclose(auc(sound, unsound) + auc(unsound, sound), 1)


async def test_a_judge_that_knows_all_reaches_one_and_one_that_says_always_the_same_a_half(clock: FakeClock) -> None:
    """By language too; progress is told on the way."""
    sound = {each.item for each in labelled_items() if each.sound}
    knows = Judge(lambda item: Judgement(score=0.3 if item in sound else 0.2, reasoning=""))
    told: list[tuple[int, int]] = []

    best = await calibrate_judge(knows, Model(), clock, lambda *at: told.append(at))
    blind = await calibrate_judge(says(0.7), Model(), clock, lambda *_: None)

    assert (best.auc, best.by_language) == (1.0, {"en": 1.0, "it": 1.0})
    assert (blind.auc, blind.by_language) == (0.5, {"en": 0.5, "it": 0.5})
    assert (best.kind, best.name, best.rubric, best.model) == ("judge", "rule", "rule@1", "tiny")
    assert (best.n, best.items, best.at) == (len(labelled_items()), items_digest(), clock.now())
    assert told[0] == (0, best.n)


async def test_an_item_that_cannot_be_judged_leaves_no_measurement(clock: FakeClock) -> None:
    """A number of the others would flatter it."""
    answers = iter([Judgement(score=1.0, reasoning="")] * 3)

    def gives_up(_item: JudgedItem) -> Judgement:
        found = next(answers, None)
        if found is None:
            raise UnavailableError("the model is gone")
        return found

    with pytest.raises(UnavailableError, match="the model is gone"):
        await calibrate_judge(Judge(gives_up), Model(), clock, lambda *_: None)


async def test_a_critic_is_measured_by_the_pairs_it_gets_right_wherever_the_better_one_stands(clock: FakeClock) -> None:
    """One that prefers a place reaches a half: it disagrees with itself."""
    better = {each.better for each in labelled_pairs()}
    knows = Critic(lambda left, _right: Comparison(winner="left" if left in better else "right", reason=""))
    first = Critic(lambda _left, _right: Comparison(winner="left", reason=""))
    wrong = Critic(lambda left, _right: Comparison(winner="right" if left in better else "left", reason=""))

    reached = [(await calibrate_critic(each, Model(), clock, lambda *_: None)).auc for each in (knows, first, wrong)]

    assert reached == [1.0, 0.5, 0.0]
    assert len(knows.asked) == 2 * len(labelled_pairs())
