"""Thresholds: asked once, held within the core's clamps."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import pytest

from myclaw_core.trust.thresholds import Thresholds

CLASS = "fs_write:~/ws/notes/*"


def test_a_plugin_is_asked_once_a_class_with_the_workspace(make: SimpleNamespace) -> None:
    asked: list[Any] = []

    def ask(*question: Any) -> Any:
        asked.append(question)
        return make.threshold(0.7, 4)

    thresholds = Thresholds(ask, "~/ws")
    assert thresholds.for_effect(CLASS, "reversible") is thresholds.for_effect(CLASS, "reversible")
    assert asked == [(CLASS, "reversible", "~/ws")]
    assert thresholds.for_effect(CLASS, "reversible").effect_class == CLASS


def test_an_irreversible_effect_needs_a_perfect_score_whatever_a_plugin_says(make: SimpleNamespace) -> None:
    thresholds = Thresholds(lambda *_: make.threshold(0.1, 0), "~/ws")
    assert thresholds.for_effect(CLASS, "irreversible").min_score == 1.0
    assert list(thresholds.used()) == []


def test_an_unknown_class_needs_a_perfect_score_and_alarms_nobody(caplog: pytest.LogCaptureFixture) -> None:
    thresholds = Thresholds(lambda *_: None, "~/ws")
    with caplog.at_level(logging.INFO, logger="myclaw.trust"):
        found = thresholds.for_effect("strange:x", "reversible")
    assert {record.levelno for record in caplog.records} == {logging.INFO}
    assert (found.min_score, found.risk_band) == (1.0, "high")
    assert "no plugin has a threshold for strange:x" in caplog.text


@pytest.mark.parametrize(
    ("said", "held"),
    [
        ((0.0, 0), (0.5, 3)),
        ((0.6, -4), (0.6, 3)),
        ((0.9, 40), (0.9, 40)),
        ((float("nan"), 5), (1.0, 5)),
        ((7.0, 5), (1.0, 5)),
        ((-1.0, 5), (1.0, 5)),
    ],
)
def test_an_answer_is_no_looser_than_the_core_allows(
    make: SimpleNamespace, said: tuple[float, int], held: tuple[float, int]
) -> None:
    found = Thresholds(lambda *_: make.threshold(*said), "~/ws").for_effect(CLASS, "reversible")
    assert (found.min_score, found.min_samples) == held
