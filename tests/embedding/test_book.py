"""Rankings: kept vectors count only for their model, and an embedder that fails costs quality and nothing else."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from myclaw_sqlite.vector_store import SqliteVectors

from myclaw_core.embedding.book import EmbeddingBook
from myclaw_core.embedding.hashed import HashedEmbedder
from myclaw_core.embedding.store import key_of
from myclaw_core.embedding.vector import Vector
from myclaw_core.errors import StoreError, UnavailableError
from myclaw_core.testing import FakeClock

PURPOSES = ("Adds up a column of a CSV file.", "Elenca i compleanni del mese.", "Renames photos by date.")


class Letters:
    """An embedder that counts letters, and notes what it was asked."""

    name = "letters"
    similar_from = 0.9

    def __init__(self, model: str = "letters/1", dimension: int = 26) -> None:
        self.model = model
        self.dimension = dimension
        self.asked: list[tuple[str, tuple[str, ...]]] = []
        self.closed = 0

    def missing(self) -> None:
        return None

    async def embed_queries(self, texts: Sequence[str]) -> Sequence[Vector]:
        self.asked.append(("query", tuple(texts)))
        return self.made(texts)

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        self.asked.append(("passage", tuple(texts)))
        return self.made(texts)

    def made(self, texts: Sequence[str]) -> Sequence[Vector]:
        letters = [chr(ord("a") + number) for number in range(self.dimension)]
        return [Vector.of(self.model, [text.lower().count(letter) for letter in letters]) for text in texts]

    async def close(self) -> None:
        self.closed += 1


@pytest.fixture
def store(tmp_path: Path) -> SqliteVectors:
    return SqliteVectors(tmp_path / "vectors.db")


def places(ranking: Any) -> list[int]:
    return [match.place for match in ranking.matches]


async def test_the_purpose_that_fits_comes_first() -> None:
    """Goal and purposes are embedded as what they are."""
    embedder = Letters()
    book = EmbeddingBook(embedder, None, FakeClock())

    ranking = await book.for_goal("photos by date", PURPOSES)

    assert places(ranking)[0] == 2
    assert (ranking.model, ranking.similar_from) == ("letters/1", 0.9)
    assert sorted(places(ranking)) == [0, 1, 2]
    assert embedder.asked == [("query", ("photos by date",)), ("passage", PURPOSES)]
    await book.close()
    assert embedder.closed == 1


async def test_purposes_are_compared_as_passages_and_equal_ones_keep_their_order() -> None:
    """`similar_from` was measured on passages."""
    embedder = Letters()

    ranking = await EmbeddingBook(embedder, None, FakeClock()).for_purpose("abc", ["xyz", "cba", "bca"])

    assert places(ranking) == [1, 2, 0]
    assert {kind for kind, _ in embedder.asked} == {"passage"}


async def test_a_vector_is_made_once_and_made_again_for_another_model_or_dimension(store: SqliteVectors) -> None:
    """A purpose that is named twice is one text."""
    for model, dimension in (("letters/1", 26), ("letters/2", 26), ("letters/2", 20)):
        first, second = Letters(model, dimension), Letters(model, dimension)
        for embedder, texts in ((first, [*PURPOSES, PURPOSES[0]]), (second, [*PURPOSES, "A new one."])):
            ranking = await EmbeddingBook(embedder, store, FakeClock()).for_goal("x", texts)
            assert ranking.model == model
            assert len(ranking.matches) == len(texts)
        assert first.asked[1:] == [("passage", PURPOSES)]
        assert second.asked[1:] == [("passage", ("A new one.",))]


async def test_kept_vectors_that_are_none_are_made_again(store: SqliteVectors) -> None:
    """Whoever wrote them."""
    broken = {key_of(PURPOSES[0]): Vector("letters/1", struct.pack("<26f", *[float("nan")] * 26))}
    await store.write(broken | {key_of(PURPOSES[1]): Vector("letters/1", struct.pack("<26f", *[3.0] * 26))})
    embedder = Letters()

    await EmbeddingBook(embedder, store, FakeClock()).for_goal("x", PURPOSES)

    assert embedder.asked[1:] == [("passage", PURPOSES)]


class Failing(Letters):
    def __init__(self, failure: Any) -> None:
        super().__init__()
        self.failure = failure

    def made(self, texts: Sequence[str]) -> Sequence[Vector]:
        if isinstance(self.failure, Exception):
            raise self.failure
        return self.failure


GOOD = Vector.of("letters/1", [1.0] * 26)


@pytest.mark.parametrize(
    "failure",
    [
        UnavailableError("gone"),
        ValueError("bad"),
        [],
        [GOOD] * 5,
        None,
        ["text"],
        [Vector("letters/1", struct.pack("<26f", *[float("nan")] * 26))],
        [Vector("letters/1", struct.pack("<26f", *[0.5] * 26))],
        [Vector("other", GOOD.data)],
        [Vector("letters/1", GOOD.data[:-1])],
    ],
    ids=str,
)
async def test_an_embedder_that_fails_or_answers_no_vectors_is_replaced_for_that_ranking(
    failure: Any, store: SqliteVectors, caplog: pytest.LogCaptureFixture
) -> None:
    """By the core's own, whole: vectors of two models are never mixed, and its own are not kept."""
    ranking = await EmbeddingBook(Failing(failure), store, FakeClock()).for_goal("photos by date", PURPOSES)

    assert (ranking.model, ranking.similar_from) == (HashedEmbedder.model, HashedEmbedder.similar_from)
    assert places(ranking)[0] == 2
    assert "letters failed, texts are compared by their letters" in caplog.text
    keys = [key_of(purpose) for purpose in PURPOSES]
    assert await store.read(keys, HashedEmbedder.model, HashedEmbedder.dimension) == {}


async def test_an_embedder_that_never_answers_is_given_up() -> None:
    """After its time."""

    class Impatient(FakeClock):
        def timeout(self, seconds: float) -> AbstractAsyncContextManager[Any]:
            return asyncio.timeout(0)

    class Waiting(Letters):
        async def embed_queries(self, texts: Sequence[str]) -> Sequence[Vector]:
            await asyncio.Event().wait()
            return ()

    ranking = await EmbeddingBook(Waiting(), None, Impatient()).for_goal("photos", PURPOSES)

    assert ranking.model == HashedEmbedder.model


class BrokenStore:
    async def read(self, keys: Sequence[str], model: str, dimension: int) -> Mapping[str, Vector]:
        raise StoreError("no")

    async def write(self, vectors: Mapping[str, Vector]) -> None:
        raise StoreError("full")


async def test_without_a_store_that_works_vectors_are_made_each_time(caplog: pytest.LogCaptureFixture) -> None:
    """And it is told to the log."""
    ranking = await EmbeddingBook(Letters(), BrokenStore(), FakeClock()).for_goal("photos", PURPOSES)

    assert ranking.model == "letters/1"
    assert "vectors cannot be read, so they are made again: no" in caplog.text
    assert "vectors cannot be kept: full" in caplog.text


async def test_among_nothing_there_is_nothing() -> None:
    """No candidate is no error."""
    assert (await EmbeddingBook(Letters(), None, FakeClock()).for_goal("x", ())).matches == ()


@given(st.lists(st.text(st.characters(exclude_categories=()), max_size=20), max_size=6), st.text(max_size=20))
async def test_a_ranking_holds_each_text_once_in_falling_order(texts: list[str], goal: str) -> None:
    """Whatever stands in them."""
    ranking = await EmbeddingBook(HashedEmbedder(), None, FakeClock()).for_purpose(goal, texts)

    similarities = [match.similarity for match in ranking.matches]
    assert sorted(places(ranking)) == list(range(len(texts)))
    assert similarities == sorted(similarities, reverse=True)
