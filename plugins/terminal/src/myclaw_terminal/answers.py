"""The words that answer a question: the English ones always, and those of the person's language beside them."""

from __future__ import annotations

import unicodedata
from typing import Literal, get_args

from myclaw_core.messages import _

__all__ = ["Answer", "meanings", "word"]

Answer = Literal["yes", "no", "details"]


def word(answer: Answer) -> str:
    """Return the word that is shown for an answer, in the language of the person."""
    words = {"yes": _("yes"), "no": _("no"), "details": _("details")}
    return words[answer] or answer


def meanings(typed: str) -> frozenset[Answer]:
    """Return the answers that `typed` may stand for; it is one only where there is exactly one.

    A word and its first letter stand for an answer, in English and in the language of the person, there also without
    accents. So a translation can make a word unclear, but never turn a no into a yes.
    """
    given = _folded(typed)
    return frozenset(answer for answer in get_args(Answer) if given in _forms(answer))


def _forms(answer: Answer) -> frozenset[str]:
    shown = _folded(word(answer))
    words = {answer, shown, _without_accents(shown)}
    return frozenset(words | {each[:1] for each in words}) - {""}


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip().lower()


def _without_accents(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFD", text) if not unicodedata.combining(char))
