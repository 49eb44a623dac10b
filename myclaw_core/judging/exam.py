"""The labelled items by which a judge and a critic are measured: the core sets the exam, not those who sit it.

They were written by hand, each sound item with an unsound one that looks like it; nothing was ever fitted to them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TypeVar

from attrs import frozen

from myclaw_core import codec
from myclaw_core.judging.types import JudgedItem, Language
from myclaw_core.messages import N_

__all__ = ["LabelledItem", "LabelledPair", "items_digest", "labelled_items", "labelled_pairs", "pairs_digest"]

_ITEMS, _PAIRS = "calibration_set.jsonl", "calibration_pairs.jsonl"
T = TypeVar("T")


@frozen(kw_only=True)
class LabelledItem:
    """A draft of which it is known whether it is sound.

    Attributes:
        language: Of its purpose.
        law: The law that it keeps or breaks, such as `law.1`, or `purpose` where that is or is not what it does.
        body: Its code in the form that `bare_body` gives.
    """

    id: str
    language: Language
    law: str
    sound: bool
    purpose: str
    capabilities: tuple[str, ...]
    body: str

    @property
    def item(self) -> JudgedItem:
        """Return what a judge sees of it."""
        return JudgedItem(purpose=self.purpose, capabilities=self.capabilities, body=self.body)


@frozen(kw_only=True)
class LabelledPair:
    """Two answers to a task of which it is known which one is better."""

    id: str
    language: Language
    task: str
    better: str
    worse: str


@cache
def labelled_items() -> Sequence[LabelledItem]:
    """Return the drafts that a judge is measured with."""
    return _read(_ITEMS, LabelledItem)


@cache
def labelled_pairs() -> Sequence[LabelledPair]:
    """Return the pairs of answers that a critic is measured with."""
    return _read(_PAIRS, LabelledPair)


@cache
def items_digest() -> str:
    """Return the SHA-256 of the drafts: a measurement holds for these."""
    return hashlib.sha256(_bytes(_ITEMS)).hexdigest()


@cache
def pairs_digest() -> str:
    """Return the SHA-256 of the pairs."""
    return hashlib.sha256(_bytes(_PAIRS)).hexdigest()


def _read(name: str, cls: type[T]) -> Sequence[T]:
    lines = _bytes(name).splitlines()
    return tuple(
        codec.structure(cls, json.loads(line), N_("{file}, line {n}", file=name, n=n))
        for n, line in enumerate(lines, start=1)
    )


def _bytes(name: str) -> bytes:
    return files("myclaw_core.judging").joinpath(name).read_bytes()
