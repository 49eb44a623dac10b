"""The critic asks one question about two answers; nothing in them can pass for its marks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from myclaw_critic.comparing import AnswerCritic, shown

from myclaw_core.errors import UnavailableError

MARKS = ("===== TASK =====", "===== ANSWER A =====", "===== ANSWER B =====", "===== END OF DATA =====")
HOSTILE = st.lists(
    st.sampled_from([*MARKS, "=", "===", "\n", "\r", "\u2028", "\x85", "\x1b[2J", "\ud800"]) | st.text(max_size=8),
    max_size=10,
).map("".join)


class Model:
    """A model on this machine that says yes as likely as it is told to."""

    model = "tiny"

    def __init__(self, log_odds: float) -> None:
        self._log_odds = log_odds
        self.items: list[str] = []

    async def score(self, rubric: str, item: str) -> float:
        self.items.append(item)
        return self._log_odds

    async def write(self, system: str, text: str, schema: Mapping[str, Any], max_output_tokens: int) -> str:
        raise AssertionError


@given(HOSTILE, HOSTILE, HOSTILE)
def test_nothing_in_task_and_answers_passes_for_a_mark(task: str, left: str, right: str) -> None:
    lines = shown(task, left, right).split("\n")

    assert [line for line in lines if not line.startswith("| ")] == [*MARKS]
    assert not any("===" in line for line in lines if line.startswith("| "))
    assert shown(task, left, right).splitlines() == lines


@pytest.mark.parametrize(
    ("log_odds", "winner"), [(2.0, "left"), (-2.0, "right"), (0.0, "tie"), (0.09, "tie"), (-0.09, "tie")]
)
async def test_a_likely_yes_is_the_first_answer_a_likely_no_the_second(log_odds: float, winner: str) -> None:
    """What is about as likely as not is a tie."""
    model = Model(log_odds)
    said = await AnswerCritic().compare("Add 1 and 1.", "2", "3", model)

    assert said.winner == winner
    assert said.reason == f"log-odds that the first answer is better: {log_odds:+.2f}"
    assert model.items[0].endswith("\n===== END OF DATA =====\nIs answer A better than answer B?")


@pytest.mark.parametrize("at", range(3))
async def test_what_is_too_long_to_be_read_whole_is_not_compared(at: int) -> None:
    task, left, right = ("x" * 4001 if place == at else "x" for place in range(3))

    with pytest.raises(UnavailableError, match="more than 4000 characters"):
        await AnswerCritic().compare(task, left, right, Model(1.0))
