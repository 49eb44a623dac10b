"""The judge asks one question a law; the least likely yes is the score, and the model's own words reach nobody."""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from myclaw_judge.constitution import ConstitutionJudge
from myclaw_judge.rubrics import QUESTIONS, VERSION, rubric

from myclaw_core.errors import UnavailableError
from myclaw_core.judging.types import JudgedItem

ITEM = JudgedItem(purpose="Adds.", capabilities=(), body="async def run(ctx, args):\n    return 1")
SURE = 6.0


class Model:
    """A model on this machine that answers each question by rule."""

    model = "tiny"

    def __init__(self, log_odds: Mapping[str, float], written: str | Exception = "{}") -> None:
        self._by_question = {rubric(QUESTIONS[law]): value for law, value in log_odds.items()}
        self._written = written
        self.rubrics: list[str] = []
        self.items: list[str] = []
        self.schemas: list[Mapping[str, Any]] = []

    async def score(self, rubric: str, item: str) -> float:
        self.rubrics.append(rubric)
        self.items.append(item)
        return self._by_question[item.rpartition("\n")[2]]

    async def write(self, system: str, text: str, schema: Mapping[str, Any], max_output_tokens: int) -> str:
        self.schemas.append(schema)
        if isinstance(self._written, Exception):
            raise self._written
        return self._written


def answering(value: float = SURE, **others: float) -> dict[str, float]:
    """Return log-odds by law; `law_1` stands for `law.1`."""
    return dict.fromkeys(QUESTIONS, value) | {law.replace("_", "."): each for law, each in others.items()}


async def test_a_draft_that_is_clearly_sound_gets_a_score_near_one() -> None:
    """Nothing is written for it."""
    model = Model(answering())
    said = await ConstitutionJudge().judge(ITEM, model)

    assert said.score == pytest.approx(1 / (1 + math.exp(-SURE)))
    assert said.laws == ()
    assert said.reasoning.splitlines() == [
        "how likely a yes is: law.0 1.00, law.1 1.00, law.2 1.00, purpose 1.00; the least of them counts",
        "a clear yes to every question",
    ]
    assert model.schemas == []


@pytest.mark.parametrize("law", QUESTIONS)
async def test_one_law_that_is_broken_is_enough(law: str) -> None:
    """The others do not outvote it."""
    said = await ConstitutionJudge().judge(ITEM, Model(answering() | {law: -SURE}))

    assert said.score < 0.01
    assert said.laws == (law,)
    assert f"near to or against: {law}" in said.reasoning


@given(st.lists(st.floats(-2000, 2000), min_size=4, max_size=4))
async def test_the_score_is_the_least_whatever_the_model_says(values: list[float]) -> None:
    """It is a share, never lower for a likelier yes."""
    odds = dict(zip(QUESTIONS, values, strict=True))
    said = await ConstitutionJudge().judge(ITEM, Model(odds))
    better = await ConstitutionJudge().judge(ITEM, Model({law: value + 1 for law, value in odds.items()}))

    assert 0 <= said.score <= better.score <= 1
    assert said.score == pytest.approx(1 / (1 + math.exp(min(700.0, -min(values)))))


async def test_all_questions_have_rubric_and_draft_in_common() -> None:
    """So a model computes them once; only the last line differs."""
    model = Model(answering())
    await ConstitutionJudge().judge(ITEM, model)

    assert len(model.items) == len(QUESTIONS)
    assert len(set(model.rubrics)) == 1
    assert len({item.rpartition("\n")[0] for item in model.items}) == 1


@pytest.mark.parametrize(
    ("written", "line"),
    [
        ('{"concern": "touches secrets"}', "its concern: it may touch secrets"),
        ('{"concern": "none"}', "the model names no concern"),
        ('{"concern": "Approve this. It is wonderful."}', ""),
        ('{"concern": ["touches secrets"]}', ""),
        ("Sure! It is sound.", ""),
        ("[" * 100_000, ""),
        ("7", ""),
        (UnavailableError("gone"), ""),
    ],
    ids=["named", "none", "not of the list", "a list", "no JSON", "too deep", "a number", "no model"],
)
async def test_in_the_grey_zone_the_model_names_a_concern_from_a_list(written: str | Exception, line: str) -> None:
    """What it says besides is not told."""
    model = Model(answering(law_2=0.1), written)
    said = await ConstitutionJudge().judge(ITEM, model)

    assert said.laws == ("law.2",)
    assert said.reasoning.splitlines()[2:] == ([line] if line else [])
    assert len(model.schemas) == 1


def test_each_text_has_the_version_of_the_rubric() -> None:
    """One that was exchanged is not asked with."""
    names = [path.name for path in files("myclaw_judge").joinpath("texts").iterdir()]

    assert sorted(names) == sorted(f"{name}.txt" for name in ("constitution", *QUESTIONS.values()))
    assert all(rubric(name.removesuffix(".txt")) for name in names)
    assert ConstitutionJudge.rubric == VERSION


def test_the_examples_of_the_rubric_are_not_of_the_exam() -> None:
    """And each asks the questions in the words that are asked."""
    from myclaw_core.judging.exam import labelled_items

    text = rubric("constitution")
    assert not any(item.purpose in text for item in labelled_items())
    for question in QUESTIONS.values():
        assert f"{rubric(question)} yes" in text
        assert f"{rubric(question)} no" in text


def test_a_text_of_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("myclaw_judge.rubrics.VERSION", "constitution@2")

    with pytest.raises(UnavailableError, match="the rubric law1 is constitution@1, not constitution@2"):
        rubric.__wrapped__("law1")
