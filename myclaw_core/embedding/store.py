"""What keeps vectors: the contract of the store, and under what a text is kept."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Protocol

from myclaw_core.embedding.embedder import prepared
from myclaw_core.embedding.vector import Vector

__all__ = ["VectorStore", "key_of"]


class VectorStore(Protocol):
    """Keeps the newest vector of each text; all of it can be made again, so what is damaged is begun anew."""

    async def read(self, keys: Sequence[str], model: str, dimension: int) -> Mapping[str, Vector]:
        """Return the vectors by key; those of another model or dimension are as good as none.

        Raises:
            StoreError: It cannot be read.
        """
        ...

    async def write(self, vectors: Mapping[str, Vector]) -> None:
        """Keep vectors by key, each with its model and dimension, in the place of older ones.

        Raises:
            StoreError: It cannot be written.
        """
        ...


def key_of(text: str) -> str:
    """Return under what the vector of `text` is kept: a checksum, so that the text itself is not."""
    return hashlib.sha256(prepared(text).encode()).hexdigest()
