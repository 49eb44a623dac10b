"""The five parts of R, and the sentence on each that is under its mark."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from myclaw_defaults.parts import five_parts
from myclaw_defaults.plugin import myclaw_reward

from myclaw_core.config import Config
from myclaw_core.judging.types import Judgement
from myclaw_core.neurons.birth_report import BirthReport, BirthTest
from myclaw_core.sandbox.types import SandboxReport
from myclaw_core.synthesis.reward import RewardContext, RewardPart
from myclaw_core.types.text import Text


def report(*outcomes: Any, cpu_s: float = 0.3, **fields: Any) -> BirthReport:
    tests = tuple(
        BirthTest(name=f"test_{n}", line=n, outcome=each, reason=Text("it is 3") if each == "failed" else Text(""))
        for n, each in enumerate(outcomes, 1)
    )
    return BirthReport(sandbox=SandboxReport(outcome="ok", cpu_s=cpu_s), tests=tests, **fields)


GREEN = report("passed", "passed", "passed")


def context(**changes: Any) -> RewardContext:
    base: dict[str, Any] = {
        "judgement": None,
        "estimated_cpu_s": 3.0,
        "similarity": -1.0,
        "similar_from": 0.85,
        "nearest": "",
        "covers_new": True,
    }
    return RewardContext(**(base | changes))


def part(name: str, of: BirthReport = GREEN, **changes: Any) -> RewardPart:
    return next(each for each in five_parts(of, context(**changes)) if each.name == name)


def test_hook_myclaw_reward() -> None:
    """The hook gives exactly the parts that `[reward]` weighs; those that are good enough say nothing."""
    found = myclaw_reward(GREEN, context())

    assert [each.name for each in found] == list(Config().reward.weights)
    assert [each.value for each in found] == [1.0, 0.5, pytest.approx(0.9), 0.0, 1.0]
    assert {each.feedback.msgid for each in found} == {""}


def test_red_tests_are_named_with_their_reasons() -> None:
    found = part("det_pass_rate", report("passed", "failed", "passed", "failed"))

    assert found.value == 0.5
    said = str(found.feedback)
    assert said == "not all birth tests show that it works: test_2 failed: it is 3; test_4 failed: it is 3"


def test_a_suite_that_proves_nothing_is_worth_nothing_and_says_why() -> None:
    found = part("det_pass_rate", evolve(GREEN, problems=(Text("too few tests"),), survivors=(Text("x became y"),)))

    assert found.value == 0.0
    assert str(found.feedback).endswith("it works: too few tests; x became y")


def test_green_tests_that_miss_too_much_are_worth_nothing_and_what_they_missed_is_named() -> None:
    found = part("det_pass_rate", evolve(GREEN, weakness=Text("they miss too much"), survivors=(Text("x became y"),)))

    assert found.value == 0.0
    assert str(found.feedback).endswith("it works: they miss too much; x became y")


def test_of_many_failures_some_are_named_and_the_others_counted() -> None:
    assert str(part("det_pass_rate", report(*["failed"] * 20)).feedback).endswith("test_12 failed: it is 3; and 8 more")


def test_without_a_judge_its_part_is_a_half_and_nobody_is_asked_to_do_better() -> None:
    found = part("judge_score")

    assert (found.value, found.feedback.msgid) == (0.5, "")


@pytest.mark.parametrize(
    ("judgement", "said"),
    [
        (Judgement(score=0.7, reasoning="Fine."), ""),
        (Judgement(score=0.69, reasoning="It\nmay lie."), "the judge has doubts: It may lie."),
        (
            Judgement(score=0.2, reasoning="It deletes.", laws=("law.1", "law.2")),
            "the judge finds it near to law.1, law.2: It deletes.",
        ),
    ],
)
def test_a_judge_below_its_mark_is_quoted_with_the_laws(judgement: Judgement, said: str) -> None:
    found = part("judge_score", judgement=judgement)

    assert (found.value, str(found.feedback)) == (judgement.score, said)


def test_a_judge_that_talks_on_and_on_is_cut() -> None:
    assert len(str(part("judge_score", judgement=Judgement(score=0.1, reasoning="x" * 99_999)).feedback)) < 1_100


@pytest.mark.parametrize(
    ("cpu_s", "estimated_cpu_s", "value"),
    [(0.0, 3.0, 1.0), (1.5, 3.0, 0.5), (1.8, 3.0, 0.4), (3.0, 3.0, 0.0), (9.0, 3.0, 0.0), (1.0, 0.0, 0.0)],
)
def test_cost_is_measured_against_the_estimate(cpu_s: float, estimated_cpu_s: float, value: float) -> None:
    found = part("cost_ratio", report("passed", cpu_s=cpu_s), estimated_cpu_s=estimated_cpu_s)

    assert found.value == pytest.approx(value)
    assert bool(found.feedback.msgid) == (value < 0.5)


@pytest.mark.parametrize(
    ("similarity", "similar_from", "value"),
    [
        (-1.0, 0.85, 0.0),
        (0.85, 0.85, 0.0),
        (0.925, 0.85, 0.5),
        (1.0, 0.85, 1.0),
        (1.0000001, 0.85, 1.0),
        (0.84, 0.68, 0.5),
        (0.9, 1.0, 0.0),
        (1.0, 1.0, 1.0),
    ],
)
def test_likeness_counts_from_where_two_purposes_say_about_the_same(
    similarity: float, similar_from: float, value: float
) -> None:
    found = part(
        "similarity_penalty",
        similarity=similarity,
        similar_from=similar_from,
        nearest="word_count",
        neurons={"word_count": "Counts\nwords."},
    )

    assert found.value == pytest.approx(value)
    assert ("word_count (similarity" in str(found.feedback)) == (value > 0)
    assert ("Counts words.; say and do" in str(found.feedback)) == (value > 0)


def test_what_covers_nothing_new_is_told_so_and_not_invited_to_declare_more() -> None:
    found = part("coverage_bonus", covers_new=False)

    assert found.value == 0.0
    assert "no reason to declare more" in str(found.feedback)


@given(
    st.lists(st.sampled_from(["passed", "failed"]), max_size=6),
    st.floats(0, 1e9),
    st.floats(0, 1e9),
    st.floats(-1.000001, 1.000001),
    st.floats(-1, 1),
    st.booleans(),
    st.none() | st.floats(0, 1),
)
def test_each_part_lies_between_nothing_and_one(
    outcomes: list[str],
    cpu_s: float,
    estimated_cpu_s: float,
    similarity: float,
    similar_from: float,
    covers_new: bool,
    score: float | None,
) -> None:
    judgement = None if score is None else Judgement(score=score, reasoning="")
    gathered = context(
        judgement=judgement,
        estimated_cpu_s=estimated_cpu_s,
        similarity=similarity,
        similar_from=similar_from,
        covers_new=covers_new,
    )

    assert all(0.0 <= each.value <= 1.0 for each in five_parts(report(*outcomes, cpu_s=cpu_s), gathered))
