"""The words that answer a question: the English ones always, and those of the person's language beside them."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping
from typing import Literal

from myclaw_core.approval.types import Reach
from myclaw_core.messages import _

__all__ = ["BASIC", "REACHES", "Answer", "meanings", "word"]

Answer = Literal["yes", "no", "details", "never", "always", "keep asking", "all", "10 min", "30 min", "3 times"]

BASIC: tuple[Answer, ...] = ("yes", "no", "details")
"""The answers to every card; their first letters are enough."""

REACHES: Mapping[Answer, Reach] = {
    "never": "never",
    "always": "always",
    "keep asking": "keep_asking",
    "10 min": "10_min",
    "30 min": "30_min",
    "3 times": "3_times",
}
"""The answers that hold for later questions, too."""

_SHORT: Mapping[Answer, str] = {"10 min": "10", "30 min": "30", "3 times": "3", "keep asking": "keep"}


def word(answer: Answer) -> str:
    """Return the word that is shown for an answer, in the language of the person."""
    words = {
        "yes": _("yes"),
        "no": _("no"),
        "details": _("details"),
        "never": _("never"),
        "always": _("always"),
        "keep asking": _("keep asking"),
        "all": _("all"),
        "10 min": _("10 min"),
        "30 min": _("30 min"),
        "3 times": _("3 times"),
    }
    return words[answer] or answer


def meanings(typed: str, among: Collection[Answer] = BASIC) -> frozenset[Answer]:
    """Return the answers that `typed` may stand for; it is one only where there is exactly one.

    A word stands for an answer, in English and in the language of the person, there also without accents; so does the
    first letter of the basic ones. A translation can make a word unclear, but never turn a no into a yes.

    Args:
        among: The answers that the card takes.
    """
    given = _folded(typed)
    return frozenset(answer for answer in among if given in _forms(answer))


def _forms(answer: Answer) -> frozenset[str]:
    shown = _folded(word(answer))
    words = {answer, shown, _without_accents(shown)}
    short = {each[:1] for each in words} if answer in BASIC else {_SHORT.get(answer, "")}
    return frozenset(words | short) - {""}


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip().lower()


def _without_accents(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFD", text) if not unicodedata.combining(char))
