"""The words that answer a question: the English ones always, and those of the person's language beside them."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping

from myclaw_core.shown.offers import BASIC, Answer, word

__all__ = ["meanings"]

_SHORT: Mapping[Answer, Collection[str]] = {
    "10 min": ("10",),
    "30 min": ("30",),
    "3 times": ("3", "3x"),
    "keep asking": ("keep",),
}


def meanings(typed: str, among: Collection[Answer] = BASIC) -> frozenset[Answer]:
    """Return the answers that `typed` may stand for; it is one only where there is exactly one.

    A word stands for an answer, in English and in the language of the person, there also without accents, and without
    blanks; so does the first letter of the basic ones. A translation can make a word unclear, but never turn a no into
    a yes.

    Args:
        among: The answers that the card takes.
    """
    given = _folded(typed)
    return frozenset(answer for answer in among if given in _forms(answer))


def _forms(answer: Answer) -> frozenset[str]:
    shown = _folded(word(answer))
    words = {answer, shown, _without_accents(shown)}
    short = {each[:1] for each in words} if answer in BASIC else set(_SHORT.get(answer, ()))
    return frozenset(words | short | {each.replace(" ", "") for each in words}) - {""}


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip().lower()


def _without_accents(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFD", text) if not unicodedata.combining(char))
