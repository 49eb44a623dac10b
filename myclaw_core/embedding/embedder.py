"""What makes vectors of texts: the contract of the embedder slot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from myclaw_core.embedding.vector import Vector
from myclaw_core.types.text import Text

__all__ = ["TEXT_LIMIT_CHARS", "Embedder", "prepared"]

TEXT_LIMIT_CHARS = 1000
"""Characters of a text that count: a purpose or a goal is a sentence or two, and no text may take minutes."""


class Embedder(Protocol):
    """Makes vectors of texts, alike where the texts are; the same text gives the same vector in every process.

    Texts that have nothing to do with each other have a similarity about 0, whatever the model gives by itself: what
    ranks by it weighs it against other numbers. Similarity finds and compares; it must never decide a permission.
    """

    @property
    def name(self) -> str:
        """Return what people call it."""
        ...

    @property
    def model(self) -> str:
        """Return the id under which vectors are kept; it changes whenever a vector would."""
        ...

    @property
    def dimension(self) -> int:
        """Return how many numbers each vector has."""
        ...

    @property
    def similar_from(self) -> float:
        """Return the similarity of two passages from which they say about the same; see `pairs.threshold`."""
        ...

    def missing(self) -> Text | None:
        """Return one line on what to install, or `None`; it must be quick and start nothing."""
        ...

    async def embed_queries(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return the vectors of what somebody looks for, in order; of each text the first 1000 characters count.

        Raises:
            UnavailableError: It cannot be done now; the text says why.
        """
        ...

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return the vectors of what is to be found or compared, likewise.

        Raises:
            UnavailableError: Like `embed_queries`.
        """
        ...

    async def close(self) -> None:
        """Free what it took; may be called twice, and it may be used again afterwards."""
        ...


def prepared(text: str) -> str:
    """Return what of `text` counts: its beginning, as valid UTF-8 and without NUL, whatever somebody put in it."""
    return text[:TEXT_LIMIT_CHARS].replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
