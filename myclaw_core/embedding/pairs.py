"""The pairs of purposes by which it is set from which similarity on two of them say about the same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib.resources import files
from typing import Literal, cast

from attrs import frozen

from myclaw_core.embedding.embedder import Embedder

__all__ = ["Measured", "Pair", "PairKind", "measured", "shipped_pairs", "threshold"]

PairKind = Literal["copy", "same", "near"]

_NEAR_BELOW = 0.95
"""Share of near misses that must stay below the threshold: a skill refused as a copy of another costs more than a
second one like it."""


@frozen(kw_only=True)
class Pair:
    """Two purposes.

    Attributes:
        kind: `copy` says the same in about the same words, `same` in others; `near` is about the same things and does
            something else.
        languages: `en`, `it`, or `en-it` where they are in different ones.
    """

    kind: PairKind
    languages: str
    first: str
    second: str


@frozen(kw_only=True)
class Measured:
    """A pair and its similarity."""

    pair: Pair
    similarity: float


def shipped_pairs() -> tuple[Pair, ...]:
    """Return the pairs that come along."""
    text = files("myclaw_core.embedding").joinpath("pairs.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in text.splitlines())
    return tuple(
        Pair(kind=cast("PairKind", kind), languages=languages, first=first, second=second)
        for kind, languages, first, second in rows
    )


async def measured(embedder: Embedder, pairs: Sequence[Pair]) -> tuple[Measured, ...]:
    """Return the similarity of each pair, as passages.

    Raises:
        UnavailableError: The embedder cannot do it now.
    """
    firsts = await embedder.embed_passages([pair.first for pair in pairs])
    seconds = await embedder.embed_passages([pair.second for pair in pairs])
    return tuple(
        Measured(pair=pair, similarity=first.similarity(second))
        for pair, first, second in zip(pairs, firsts, seconds, strict=True)
    )


def threshold(found: Sequence[Measured]) -> float:
    """Return the least similarity, in hundredths, below which 95 % of the near misses lie."""
    near = sorted(each.similarity for each in found if each.pair.kind == "near")
    return math.floor(near[math.ceil(_NEAR_BELOW * len(near)) - 1] * 100 + 1) / 100
