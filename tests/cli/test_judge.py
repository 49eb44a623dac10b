"""`myclaw judge`: who is heard, and the exam that decides it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from myclaw_scripted.provider import ScriptedProvider

from myclaw_core.errors import UnavailableError
from myclaw_core.judging.exam import labelled_items, labelled_pairs
from myclaw_core.runtime.local import Score
from myclaw_core.runtime.types import Usage

CONFIG = """
[agent]
provider = "scripted"
model = "play"
local = ["scripted:small"]
[scripted]
file = "{script}"
"""
ITEMS = labelled_items()[6:10]
PAIRS = (*labelled_pairs()[:2], *labelled_pairs()[-2:])
Scoring = Callable[[str], float]


def knows(item: str) -> float:
    """Return what a model says that knows every answer."""
    for each in ITEMS:
        if "\n".join(f"| {line}" for line in each.body.split("\n")) + "\n=" in item:
            return 5.0 if each.sound else -5.0
    better = item.partition("===== ANSWER B")[0]
    return 5.0 if any(f"| {pair.better}" in better for pair in PAIRS) else -5.0


@pytest.fixture
def config(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration with a model on this machine that only writes, and a short exam."""
    monkeypatch.setattr("myclaw_core.judging.calibrating.labelled_items", lambda: ITEMS)
    monkeypatch.setattr("myclaw_core.judging.calibrating.labelled_pairs", lambda: PAIRS)
    home.mkdir()
    script = home / "script.json"
    script.write_text("[]")
    (home / "config.toml").write_text(CONFIG.format(script=script))
    return home / "config.toml"


@pytest.fixture
def scoring(config: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Scoring], None]:
    """Let the model score by rule."""

    def scores_by(rule: Scoring) -> None:
        async def score(_self: ScriptedProvider, model: str, rubric: str, item: str) -> Score:
            return Score(log_odds=rule(item), usage=Usage(input_tokens=3), model=model)

        monkeypatch.setattr(ScriptedProvider, "score", score, raising=False)
        monkeypatch.setattr(ScriptedProvider, "lacks", lambda _self, _model: None, raising=False)

    return scores_by


def seats(run: Any) -> list[dict[str, Any]]:
    """Return how the slots stand."""
    found: list[dict[str, Any]] = json.loads(run("judge", "--json").out)["seats"]
    return found


def test_a_model_that_knows_is_heard_from_now_on(run: Any, scoring: Any) -> None:
    """The exam is a turn of its own: its calls are on record, with their purpose and at no cost."""
    scoring(knows)
    before = seats(run)
    ended = run("judge", "calibrate")
    (trace,) = json.loads(run("audit", "list", "--json").out)
    shown = run("audit", "show", trace["trace"]).out

    assert [each["heard"] for each in before] == [False, False]
    assert ended.code == 0
    assert "judge constitution (constitution@1) with small: AUC 1.00 on 4 items (en 1.00, it 1.00)" in ended.out
    assert ended.out.count("it is heard from now on") == 2
    assert "judge constitution: 0 of 4 …" in ended.err
    assert [(each["name"], each["heard"], each["why"]) for each in seats(run)] == [
        ("constitution", True, ""),
        ("answers", True, ""),
    ]
    assert trace["outcome"] == "success"
    assert "judge constitution (constitution@1) with small: 1.00 on 4 items" in shown


def test_a_model_at_chance_is_measured_and_not_heard(run: Any, scoring: Any) -> None:
    """The code says so; the list keeps the number."""
    scoring(lambda _item: 1.0)
    ended = run("judge", "calibrate", "--json")
    listed = run("judge")

    assert ended.code == 1
    assert [(each["kind"], each["auc"], each["passes"]) for each in json.loads(ended.out)] == [
        ("judge", 0.5, False),
        ("critic", 0.5, False),
    ]
    assert "below 0.80" in listed.out
    assert [line.split()[:2] for line in listed.out.splitlines()[-2:]] == [
        ["critic", "answers"],
        ["judge", "constitution"],
    ]


def test_one_of_them_can_be_measured_alone(run: Any, scoring: Any) -> None:
    scoring(knows)
    ended = run("judge", "calibrate", "critic", "--json")

    assert ended.code == 0
    assert [each["kind"] for each in json.loads(ended.out)] == ["critic"]
    assert [each["heard"] for each in seats(run)] == [False, True]


def test_a_model_that_cannot_score_is_no_model_to_measure_with(run: Any, config: Path) -> None:
    """Nothing is recorded."""
    ended = run("judge", "calibrate")

    assert (ended.code, ended.out) == (3, "")
    assert "there is no model on this machine that can score; add one" in ended.err
    assert "nothing was measured yet" in run("judge").out


def test_without_a_model_on_this_machine_nothing_is_measured(run: Any, config: Path) -> None:
    config.write_text(config.read_text().replace('local = ["scripted:small"]', ""))
    ended = run("judge", "calibrate")

    assert ended.code == 3
    assert ended.err.count("\n") == 1
    assert [each["why"] for each in seats(run)] == [
        "there is no model on this machine to ask; add one with 'myclaw models add'"
    ] * 2


def test_a_model_that_fails_in_the_middle_leaves_no_measurement(run: Any, scoring: Any) -> None:
    """One line says why; the trace is closed as failed."""
    asked = iter(range(6))

    def breaks(_item: str) -> float:
        if next(asked, None) is None:
            raise UnavailableError("the model is gone")
        return 1.0

    scoring(breaks)
    ended = run("judge", "calibrate")
    (trace,) = json.loads(run("audit", "list", "--json").out)

    assert ended.code == 3
    assert ended.err.splitlines()[-1] == "myclaw: the judge constitution failed: the model is gone"
    assert trace["outcome"] == "failed"
    assert json.loads(run("judge", "--json").out)["measured"] == []


def test_a_slot_without_a_plugin_is_told_and_the_other_is_measured(run: Any, scoring: Any, config: Path) -> None:
    scoring(knows)
    config.write_text(config.read_text() + '[plugins]\ndisabled = ["critic"]\n')
    ended = run("judge", "calibrate")
    alone = run("judge", "calibrate", "critic")

    assert ended.code == 0
    assert "myclaw: no critic" in ended.err
    assert alone.code == 3
    assert seats(run)[1]["name"] == ""
