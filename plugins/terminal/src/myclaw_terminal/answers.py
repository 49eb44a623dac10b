"""The words that answer a question: the English ones always, and those of the person's language beside them."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping

from myclaw_core.shown.offers import BASIC, Answer, word

__all__ = ["folded", "forms", "meanings"]

_SHORT: Mapping[Answer, Collection[str]] = {
    "10 min": ("10",),
    "30 min": ("30",),
    "3 times": ("3", "3x"),
    "keep asking": ("keep",),
    "revise": ("r",),
}


def meanings(typed: str, among: Collection[Answer] = BASIC) -> frozenset[Answer]:
    """Return the answers that `typed` may stand for; it is one only where there is exactly one.

    A word stands for an answer, in English and in the language of the person, there also without accents, and without
    blanks; so does the first letter of the basic ones. A translation can make a word unclear, but never turn a no into
    a yes.

    Args:
        among: The answers that the card takes.
    """
    given = folded(typed)
    return frozenset(
        answer
        for answer in among
        if given in forms(answer, word(answer), letter=answer in BASIC) | frozenset(_SHORT.get(answer, ()))
    )


def forms(english: str, shown: str, *, letter: bool) -> frozenset[str]:
    """Return all that may be typed for a word, folded.

    Args:
        shown: The word in the language of the person.
        letter: Whether the first letter is enough.
    """
    local = folded(shown)
    words = {english, local, _without_accents(local)}
    short = {each[:1] for each in words} if letter else set()
    return frozenset(words | short | {each.replace(" ", "") for each in words}) - {""}


def folded(text: str) -> str:
    """Return what was typed as it is compared."""
    return unicodedata.normalize("NFC", text).strip().lower()


def _without_accents(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFD", text) if not unicodedata.combining(char))
