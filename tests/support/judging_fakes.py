"""Judges, critics and models that answer by rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from attrs import define, field

from myclaw_core.judging.exam import items_digest, pairs_digest
from myclaw_core.judging.judge import LocalModel
from myclaw_core.judging.types import Calibration, Comparison, JudgedItem, Judgement

__all__ = ["Critic", "Judge", "Model", "measured", "says"]


@define
class Model:
    """A model on this machine that scores by rule."""

    scores: Callable[[str, str], float] = lambda _rubric, _item: 0.0
    model: str = "tiny"
    asked: list[tuple[str, str]] = field(factory=list)

    async def score(self, rubric: str, item: str) -> float:
        self.asked.append((rubric, item))
        return self.scores(rubric, item)

    async def write(self, system: str, text: str, schema: Mapping[str, Any], max_output_tokens: int) -> str:
        return "{}"


@define
class Judge:
    """A judge that answers by rule."""

    answers: Callable[[JudgedItem], Any]
    name: str = "rule"
    rubric: str = "rule@1"
    asked: int = 0

    async def judge(self, item: JudgedItem, local: LocalModel) -> Judgement:
        self.asked += 1
        answer: Judgement = self.answers(item)
        return answer


@define
class Critic:
    """A critic that answers by rule."""

    answers: Callable[[str, str], Any]
    name: str = "rule"
    rubric: str = "rule@1"
    asked: list[tuple[str, str]] = field(factory=list)

    async def compare(self, task: str, left: str, right: str, local: LocalModel) -> Comparison:
        self.asked.append((left, right))
        answer: Comparison = self.answers(left, right)
        return answer


def says(score: Any, reasoning: Any = "Sound.", laws: Any = ()) -> Judge:
    """Return a judge that always says the same."""
    return Judge(lambda _item: Judgement(score=score, reasoning=reasoning, laws=laws))


def measured(auc: float = 0.9, **other: Any) -> Calibration:
    """Return a measurement of the judge or critic `rule` with the model `tiny`."""
    kind = other.get("kind", "judge")
    fields: dict[str, Any] = {
        "kind": kind,
        "name": "rule",
        "rubric": "rule@1",
        "model": "tiny",
        "items": items_digest() if kind == "judge" else pairs_digest(),
        "n": 80,
        "auc": auc,
        "by_language": {"en": auc, "it": auc},
        "at": datetime(2026, 1, 5, tzinfo=UTC),
    }
    return Calibration(**(fields | other))
