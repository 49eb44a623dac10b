"""`myclaw neurons list` and `show`: what was removed, and what waits for an answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from adopted_neurons import opened_neurons
from drafted_neurons import version_of
from signed_neurons import write_neuron

from myclaw_core.clock import SystemClock
from myclaw_core.paths import Home

Run = Callable[..., Any]


@pytest.fixture
def adopted(home: Path) -> Path:
    """A home with one neuron."""

    async def prepare() -> None:
        async with opened_neurons(Home.find(), SystemClock()) as neurons:
            await neurons.adopt()

    asyncio.run(prepare())
    (home / "config.toml").write_text('[plugins]\ndisabled = ["lint"]\n')
    return home


def test_what_was_removed_is_told_without_alarm(adopted: Path, run: Run) -> None:
    """When, and where its folder is; nothing is said to be missing or unlike."""
    assert run("neurons", "remove", "word_count").code == 0
    shown = run("neurons", "show", "word_count").out
    document = json.loads(run("neurons", "show", "word_count", "--json").out)

    head, when = shown.splitlines()[:2]
    assert head == "word_count 1.0.0: removed"
    assert when.startswith("removed 20")
    assert "you removed it; what it was is kept in ~/home/workspace/state/neurons/word_count-" in when
    assert not any(word in shown for word in ("NOT", "cannot", "not run", "gone"))
    assert (document["state"], document["bytes"], document["journal"]) == ("removed", [], "")


def test_the_list_leaves_out_what_was_removed_unless_all_is_wanted(adopted: Path, run: Run) -> None:
    """A folder that came later under its name is listed as one that nobody adopted."""
    run("neurons", "remove", "word_count")
    plain = run("neurons").out
    everything = run("neurons", "list", "--all").out
    write_neuron(adopted / "workspace/neurons/word_count")
    later = json.loads(run("neurons", "list", "--json").out)

    assert plain.startswith("There is no neuron yet.")
    assert plain.splitlines()[-1] == "1 that was removed is not shown; 'myclaw neurons list --all' shows it"
    assert everything.splitlines()[1].split()[:3] == ["word_count", "1.0.0", "removed"]
    assert [(each["name"], each["state"]) for each in later["neurons"]] == [("word_count", "not adopted")]


def test_a_question_that_waits_is_told_with_how_to_answer_it(run: Run, home: Path, tmp_path: Path) -> None:
    """Its neuron is in no list until somebody says yes."""
    home.mkdir()
    (home / "config.toml").write_text('[plugins]\ndisabled = ["lint"]\n')
    folder = tmp_path / "mine" / "word_count"
    folder.mkdir(parents=True)
    for name, data in version_of("1.0.0").items():
        (folder / name).write_bytes(data)
    run("neurons", "adopt", folder)

    told = "1 neuron waits for your answer: word_count; /pending in a conversation puts the question"
    assert run("neurons").out.splitlines() == [told]
    assert json.loads(run("neurons", "--json").out) == {"neurons": [], "waiting": ["word_count"]}
