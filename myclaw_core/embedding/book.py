"""Ranks purposes by how alike they are to a goal or to another purpose, whatever becomes of the embedder meanwhile."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence

from attrs import frozen

from myclaw_core.clock import Clock
from myclaw_core.embedding.embedder import Embedder
from myclaw_core.embedding.hashed import HashedEmbedder
from myclaw_core.embedding.store import VectorStore, key_of
from myclaw_core.embedding.vector import Vector
from myclaw_core.errors import StoreError, UnavailableError
from myclaw_core.messages import N_
from myclaw_core.plugins.contain import one_line

__all__ = ["EmbeddingBook", "Match", "Ranking"]

_log = logging.getLogger("myclaw.embedding")

_LIMIT_S = 300.0
"""Seconds for all the texts of one ranking: a thousand purposes that were never embedded, on a slow machine."""
_LENGTH_TOLERANCE = 1e-3


@frozen(kw_only=True)
class Match:
    """One of the texts that were ranked.

    Attributes:
        place: Its index among them.
        similarity: In [-1, 1].
    """

    place: int
    similarity: float


@frozen(kw_only=True)
class Ranking:
    """Texts by how alike they are, the most alike first, of those equally alike the earlier.

    Attributes:
        model: Of the embedder that compared them.
        similar_from: From which similarity on two purposes say about the same, for this embedder.
    """

    model: str
    similar_from: float
    matches: tuple[Match, ...]


class EmbeddingBook:
    """Ranks texts and keeps the vectors of those that come again.

    A ranking is made by one embedder from beginning to end: where the chosen one fails, by the core's own, whose
    vectors then take no place of the chosen one's.

    Args:
        embedder: The chosen one.
        store: Keeps vectors, or `None`.
        clock: Limits the embedder.
    """

    def __init__(self, embedder: Embedder, store: VectorStore | None, clock: Clock) -> None:
        self._embedder = embedder
        self._store = store
        self._clock = clock
        self._own = HashedEmbedder()

    async def for_goal(self, goal: str, purposes: Sequence[str]) -> Ranking:
        """Return `purposes` by how well each fits what somebody wants."""
        return await self._ranking(goal, purposes, as_query=True)

    async def for_purpose(self, purpose: str, purposes: Sequence[str]) -> Ranking:
        """Return `purposes` by how alike each is to `purpose`; `similar_from` is meant for this."""
        return await self._ranking(purpose, purposes, as_query=False)

    async def close(self) -> None:
        """Free what the embedder took."""
        await self._embedder.close()

    async def _ranking(self, text: str, among: Sequence[str], *, as_query: bool) -> Ranking:
        try:
            async with self._clock.timeout(_LIMIT_S):
                return await self._ranked(self._embedder, text, among, as_query=as_query)
        except Exception as error:
            _log.warning("%s failed, texts are compared by their letters: %s", self._embedder.name, one_line(error))
        return await self._ranked(self._own, text, among, as_query=as_query)

    async def _ranked(self, embedder: Embedder, text: str, among: Sequence[str], *, as_query: bool) -> Ranking:
        embed = embedder.embed_queries if as_query else embedder.embed_passages
        (one,) = _checked(embedder, await embed([text]), 1)
        others = await (self._passages(among) if embedder is self._embedder else embedder.embed_passages(among))
        found = [Match(place=place, similarity=one.similarity(other)) for place, other in enumerate(others)]
        return Ranking(
            model=embedder.model,
            similar_from=embedder.similar_from,
            matches=tuple(sorted(found, key=lambda match: -match.similarity)),
        )

    async def _passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return the vectors of `texts`, made anew only where none of this model is kept."""
        keyed = {key_of(text): text for text in texts}
        known = dict(await self._kept(list(keyed)))
        lacking = [key for key in keyed if key not in known]
        if lacking:
            made = await self._embedder.embed_passages([keyed[key] for key in lacking])
            fresh = dict(zip(lacking, _checked(self._embedder, made, len(lacking)), strict=True))
            await self._keep(fresh)
            known |= fresh
        return [known[key_of(text)] for text in texts]

    async def _kept(self, keys: Sequence[str]) -> Mapping[str, Vector]:
        if self._store is None or not keys:
            return {}
        try:
            found = await self._store.read(keys, self._embedder.model, self._embedder.dimension)
        except StoreError as error:
            _log.warning("vectors cannot be read, so they are made again: %s", error)
            return {}
        return {key: vector for key, vector in found.items() if _is_sound(self._embedder, vector)}

    async def _keep(self, vectors: Mapping[str, Vector]) -> None:
        if self._store is None:
            return
        try:
            await self._store.write(vectors)
        except StoreError as error:
            _log.warning("vectors cannot be kept: %s", error)


def _checked(embedder: Embedder, vectors: Sequence[Vector], number: int) -> Sequence[Vector]:
    """Return `vectors` if they are what an embedder owes.

    Raises:
        UnavailableError: They are not.
    """
    if len(vectors) != number or not all(_is_sound(embedder, vector) for vector in vectors):
        raise UnavailableError(N_("the embedder {name} answered what are no vectors of it", name=embedder.name))
    return vectors


def _is_sound(embedder: Embedder, vector: Vector) -> bool:
    if not isinstance(vector, Vector) or (vector.model, len(vector.data)) != (embedder.model, embedder.dimension * 4):
        return False
    length = vector.length
    return length == 0 or math.isclose(length, 1, abs_tol=_LENGTH_TOLERANCE)
