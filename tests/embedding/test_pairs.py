"""The pairs that come along set the threshold, and the documentation tells what was measured."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from embedding_figures import goal_rows, pair_rows, read_goals

from myclaw_core.embedding.hashed import HashedEmbedder
from myclaw_core.embedding.pairs import Measured, Pair, measured, shipped_pairs, threshold

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "embedding.md"


def test_there_are_enough_pairs_of_each_kind_in_both_languages() -> None:
    """None comes twice, and none is a text with itself."""
    pairs = shipped_pairs()

    counted = Counter((pair.kind, pair.languages) for pair in pairs)
    kinds = [(kind, languages) for kind in ("copy", "same", "near") for languages in ("en", "it", "en-it")]
    kinds.remove(("copy", "en-it"))  # a translation shares no words
    assert len(pairs) >= 120
    assert set(counted) == set(kinds)
    assert min(counted.values()) >= 14
    assert len({frozenset((pair.first, pair.second)) for pair in pairs}) == len(pairs)
    assert all(pair.first != pair.second for pair in pairs)


def test_there_are_enough_goals_in_both_languages() -> None:
    """Two for each purpose, none of them a purpose."""
    purposes, goals = read_goals()

    assert len(set(purposes)) == len(purposes) >= 60
    assert len({goal.text for goal in goals}) == len(goals) == 2 * len(purposes) >= 120
    assert not {goal.text for goal in goals} & set(purposes)
    assert sum(goal.crosses for goal in goals) == len(goals) / 2


def test_the_threshold_lies_just_above_19_of_20_near_misses() -> None:
    """In hundredths, and whatever other kinds of pairs say."""
    near = [Measured(pair=_pair("near"), similarity=number / 100) for number in range(20)]
    others = [Measured(pair=_pair(kind), similarity=0.99) for kind in ("copy", "same")]

    assert threshold([*others, *near]) == 0.19


def _pair(kind: str) -> Pair:
    return Pair(kind=kind, languages="en", first="a", second="b")  # type: ignore[arg-type]


async def test_the_threshold_of_the_cores_own_embedder_is_the_measured_one() -> None:
    """A change of the embedder or of the pairs shows here."""
    found = await measured(HashedEmbedder(), shipped_pairs())

    assert threshold(found) == HashedEmbedder.similar_from
    assert all(each.similarity >= HashedEmbedder.similar_from for each in found if each.pair.kind == "copy")


@pytest.mark.parametrize("rows", [pair_rows, goal_rows])
async def test_the_documentation_tells_what_the_cores_own_embedder_does(rows) -> None:
    """A failing row can be copied from here into the page."""
    page = PAGE.read_text(encoding="utf-8").splitlines()

    assert [row for row in await rows(HashedEmbedder()) if row not in page] == []
