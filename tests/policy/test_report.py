"""Decisions for programs and for people."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

from myclaw_core.messages import add_catalogues, use_language
from myclaw_core.policy.report import decision_json, explain


@pytest.fixture
def in_italian(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The person reads Italian."""
    monkeypatch.setattr("myclaw_core.messages._folders", {})
    catalog = Catalog(locale="it")
    catalog.add("{verdict} (via {check}): {tool}, {effect_class}", "{verdict} (da {check}): {tool}, {effect_class}")
    catalog.add("deny", "nega")
    catalog.add("because {reason}", "perché {reason}")
    catalog.add("{tool}: {problem}", "{tool}, {problem}")
    catalog.add("the path is empty; name a file or folder", "il percorso è vuoto; indica un file o una cartella")
    folder = tmp_path / "it" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    with (folder / "words.mo").open("wb") as file:
        write_mo(file, catalog)
    add_catalogues("words", tmp_path)
    use_language("it")
    yield
    use_language("en")


async def test_a_decision_is_one_json_object_with_the_reason_of_every_check(world: Any) -> None:
    found = json.loads(json.dumps(decision_json(await world.judge("fs_write", {"path": "a.md"}))))
    assert (found["verdict"], found["via"], found["tool"], found["kind"]) == (
        "approve_required",
        "trust",
        "fs_write",
        "fs_write",
    )
    assert found["reasons"][0]["check"] == "constitution"
    assert found["targets"] == [str(world.workspace / "a.md")]
    assert found["effects"][0]["effect_class"] == found["effect_class"]
    assert found["violation"] is None
    assert found["evidence"][0]["n_samples"] == 40


async def test_a_violation_names_its_law(world: Any) -> None:
    found = decision_json(await world.judge("fs_write", {"path": "~/plan.md"}))
    assert found["violation"]["law"] == "law.0"
    assert found["reason"] == "~/plan.md is outside the folders you opened; add one with --root ~"


async def test_the_explanation_shows_every_check_and_nothing_invisible(world: Any) -> None:
    text = explain(await world.judge("fs_move", {"src": "a.md", "dst": "~/plan.md"}))
    assert text.startswith("deny (via autonomy): fs_move")
    assert "law.0 would be broken" in text
    odd = explain(await world.judge("bad\u202etool\x1b[2J"))
    assert odd.replace("\n", "").isprintable()


@pytest.mark.usefixtures("in_italian")
async def test_people_read_it_in_their_language_and_programs_in_english(world: Any) -> None:
    decision = await world.judge("fs_write", {"path": ""})
    first, second, *_ = explain(decision).splitlines()
    assert first.startswith("nega (da resolve): fs_write")
    assert second == "perché fs_write, il percorso è vuoto; indica un file o una cartella"
    assert decision_json(decision)["reason"] == "fs_write: the path is empty; name a file or folder"
