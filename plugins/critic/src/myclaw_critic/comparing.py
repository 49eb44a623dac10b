"""Asks a model whether the one answer is better than the other; whoever asks it again swaps them."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from myclaw_core.errors import UnavailableError
from myclaw_core.files.visible import visible
from myclaw_core.judging.judge import LocalModel
from myclaw_core.judging.types import Comparison
from myclaw_core.messages import N_

__all__ = ["AnswerCritic", "shown"]

_VERSION = "comparison@1"
"""First line of the rubric; whoever changes a word of it counts it up, since a measurement holds for these words."""

_TASK, _ONE, _OTHER, _END = (
    "===== TASK =====",
    "===== ANSWER A =====",
    "===== ANSWER B =====",
    "===== END OF DATA =====",
)
_ASKED = "Is answer A better than answer B?"
_MARGIN = "| "
_SIGN = "=="
_MOST_CHARS = 4000
_LEAST_LOG_ODDS = 0.1
"""Below it yes and no are as good as equally likely, which is a tie."""


class AnswerCritic:
    """One pass a comparison: how likely yes is to the question whether the first answer is the better one."""

    name = "answers"
    rubric = _VERSION

    async def compare(self, task: str, left: str, right: str, local: LocalModel) -> Comparison:
        """Return the better answer, or a tie; who gave which is not known here.

        Raises:
            UnavailableError: The model cannot be had, or the texts are too long to be compared whole.
        """
        if max(map(len, (task, left, right))) > _MOST_CHARS:
            raise UnavailableError(
                N_("a task or an answer has more than {n} characters; such are not compared", n=_MOST_CHARS)
            )
        log_odds = await local.score(_rubric(), f"{shown(task, left, right)}\n{_ASKED}")
        reason = f"log-odds that the first answer is better: {log_odds:+.2f}"
        if abs(log_odds) < _LEAST_LOG_ODDS:
            return Comparison(winner="tie", reason=reason)
        return Comparison(winner="left" if log_odds > 0 else "right", reason=reason)


def shown(task: str, left: str, right: str) -> str:
    """Return task and answers as data: no line of theirs can be a mark, and what cannot be seen is an escape."""
    parts = ((_TASK, task), (_ONE, left), (_OTHER, right))
    return "\n".join([*(line for mark, text in parts for line in (mark, *_lines(text))), _END])


def _lines(text: str) -> list[str]:
    return [_MARGIN + _unmarked(visible(line)) for line in text.split("\n")]


def _unmarked(line: str) -> str:
    while _SIGN + "=" in line:
        line = line.replace(_SIGN + "=", "= = =")
    return line


@cache
def _rubric() -> str:
    text = files("myclaw_critic").joinpath("texts", "comparison.txt").read_text(encoding="utf-8")
    version, _, rest = text.partition("\n")
    if version != _VERSION:
        raise UnavailableError(
            N_(
                "the rubric is {found}, not {wanted}; install the plugin critic again",
                found=version[:40],
                wanted=_VERSION,
            )
        )
    return rest.strip()
