"""What a judge and a critic are given, what they answer, and how well they were measured to do it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from attrs import field, frozen

__all__ = ["Calibration", "Comparison", "JudgedItem", "Judgement", "Language", "Preference"]

Language = Literal["en", "it"]
Preference = Literal["left", "right", "tie"]


@frozen(kw_only=True)
class JudgedItem:
    """What a judge sees of a draft: neither comments nor docstrings, nor the talk in which it was written.

    Attributes:
        purpose: What it is for, in its author's words: data, whatever it says.
        capabilities: What it may do, `call:<name>` for what it calls included.
        body: Its code as the syntax tree gives it back.
    """

    purpose: str
    capabilities: tuple[str, ...]
    body: str


@frozen(kw_only=True)
class Judgement:
    """What a judge says of one item.

    Attributes:
        score: In [0, 1]; 1 is sound.
        reasoning: Two or three lines.
        laws: The laws that it is near to, such as `law.1`.
    """

    score: float
    reasoning: str
    laws: tuple[str, ...] = ()


@frozen(kw_only=True)
class Comparison:
    """What a critic says of two answers to one task.

    Attributes:
        reason: One or two lines.
    """

    winner: Preference
    reason: str


@frozen(kw_only=True)
class Calibration:
    """How well a judge or a critic did on the labelled items that come along.

    Attributes:
        kind: Who was measured.
        name: Its name.
        rubric: What it asks, with the version of that.
        model: The model that answered.
        items: SHA-256 of the labelled items.
        n: How many there were.
        auc: Area under the ROC curve: how often a sound item scores above an unsound one; of a critic the share of
            pairs of which it names the better one, ties as half.
        by_language: The same for each language.
        at: When.
    """

    kind: Literal["judge", "critic"]
    name: str
    rubric: str
    model: str
    items: str
    n: int
    auc: float
    at: datetime
    by_language: Mapping[str, float] = field(factory=dict)
    unknown_fields: Mapping[str, Any] = field(factory=dict)
