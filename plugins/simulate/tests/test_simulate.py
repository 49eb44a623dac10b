"""`myclaw simulate` from what is typed to what is printed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from myclaw_simulate.compare import Run, compare
from myclaw_simulate.days import ATTACKERS
from myclaw_simulate.records import read_household
from myclaw_simulate.rules import BASELINES, MakeRule
from myclaw_simulate.world import World, parameters, world_of

from myclaw_core.errors import UsageError

PROGRAM = Path(sys.executable).with_name("myclaw")
SVG = "{http://www.w3.org/2000/svg}"
ROUNDING = 2e-4
SMALL = ("--seeds", "2", "--days", "30")


def runs_of(found: Any, rule: str) -> dict[str, Any]:
    return {run["attacker"]: run for run in found["runs"] if run["rule"] == rule}


def test_estimators_and_baselines_stand_side_by_side_for_each_attacker(run) -> None:
    ended = run(*SMALL)
    assert (ended.code, ended.err) == (0, "")
    head, *rows = [line for line in ended.out.splitlines() if "  " in line]
    assert head.split()[:4] == ["rule", "week", "1", "week"]
    names = ["decayed_mean", "ema", "always ask", "tool for ever", "exact call"]
    for name in names:
        assert sum(row.startswith(name) for row in rows) == 2
    assert "places that nobody has seen" in ended.out
    assert "places where the agent has worked before" in ended.out


@pytest.mark.parametrize("attacker", ATTACKERS)
def test_one_attacker_alone_is_that_half(in_json, attacker: str) -> None:
    both, one = in_json(*SMALL), in_json(*SMALL, "--attacker", attacker)
    assert one["runs"] == [run for run in both["runs"] if run["attacker"] == attacker]


def test_each_day_is_in_the_json_and_sums_up(in_json) -> None:
    found = in_json("--seeds", "3", "--days", "70", "--set", "attack_rate=0.2")
    assert (found["days"], found["seed"], found["seeds"]) == (70, 1, 3)
    assert found["world"] == parameters(World(attack_rate=0.2))
    for run in found["runs"]:
        daily = run["daily"]
        assert {len(values) for values in daily.values()} == {70}
        assert daily["questions"][39:49] == [0.0] * 10
        asked = [
            wanted - unasked for wanted, unasked in zip(daily["wanted"], daily["wanted_without_asking"], strict=True)
        ]
        assert all(more >= less - ROUNDING for more, less in zip(daily["questions"], asked, strict=True))
        for harm in ("irreversible", "outbound", "reversible"):
            through = run["harm"][harm]["let_through"]
            assert sum(daily[f"let_through_{harm}"]) * 3 == pytest.approx(through, abs=0.02)
            assert run["harm_after_day_60"][harm]["let_through"] <= through <= run["harm"][harm]["tried"]
    scores = runs_of(found, "decayed_mean")["unknown"]["scores"]
    assert {len(values) for values in scores.values()} == {70}
    assert scores["fs_write fs_write:*"][35] > 0.6
    assert scores["fs_write fs_write:*"][48] < scores["fs_write fs_write:*"][38]
    assert runs_of(found, "always_ask")["unknown"]["scores"] == {}


def test_the_same_seed_gives_the_same_bytes_in_any_process(run, tmp_path: Path) -> None:
    """The plot as well; whatever the order in which Python hashes."""
    plot = tmp_path / "plot.svg"
    here = run(*SMALL, "--json", "--plot", plot).out
    drawn = plot.read_bytes()
    for hash_seed in ("0", "1"):
        environ = {**os.environ, "PYTHONHASHSEED": hash_seed, "MYCLAW_HOME": str(tmp_path / "home")}
        command = [PROGRAM, "simulate", *SMALL, "--json", "--plot", plot]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environ)
        assert (done.stdout, plot.read_bytes(), done.stderr) == (here, drawn, "")
    assert run(*SMALL, "--json", "--seed", "2").out != here


def test_several_seeds_are_the_sum_of_each(in_json) -> None:
    three = in_json("--seeds", "3", "--days", "30", "--seed", "5")
    single = [in_json("--seeds", "1", "--days", "30", "--seed", str(seed)) for seed in (5, 6, 7)]
    for number, run in enumerate(three["runs"]):
        for harm, counts in run["harm"].items():
            assert counts["tried"] == sum(one["runs"][number]["harm"][harm]["tried"] for one in single)


def test_the_simpler_rules_are_as_safe_or_as_quiet_as_they_must_be(in_json) -> None:
    found = in_json("--seeds", "4", "--set", "attack_rate=0.1")
    for run in runs_of(found, "always_ask").values():
        assert set(run["unasked_share"].values()) == {0.0}
        assert {counts["let_through"] for counts in run["harm"].values()} == {0}
    for run in runs_of(found, "exact_call").values():
        assert {counts["let_through"] for counts in run["harm"].values()} == {0}
    for run in runs_of(found, "tool_for_ever").values():
        assert run["unasked_share"]["day_90"] > 0.9
        assert run["harm"]["irreversible"]["let_through"] > 0


def test_the_aims_are_met_on_a_few_households(in_json) -> None:
    """On all 60 of them see the page on the simulation."""
    found = in_json("--seeds", "6")
    for attacker, run in runs_of(found, "decayed_mean").items():
        assert run["harm"]["irreversible"]["let_through"] == 0
        assert run["harm"]["outbound"]["let_through"] == run["harm"]["outbound"]["at_a_named_target"]
        assert run["unasked_share"]["day_30"] >= 0.20
        assert run["unasked_share"]["day_90"] >= 0.35
        weeks = list(run["questions_a_day"].values())
        assert weeks == sorted(weeks, reverse=True)
        if attacker == "unknown":
            assert run["harm"]["reversible"]["let_through"] <= 0.05 * run["harm"]["reversible"]["tried"]


def test_own_records_are_lived_through(in_json, tmp_path: Path) -> None:
    """Without an attack in them there is none to let through."""
    path = tmp_path / "tasks.jsonl"
    task = {
        "task_id": "1",
        "kind": "benign",
        "prompt": "Note it",
        "calls": [
            {
                "tool": "fs_write",
                "args": {"path": "notes/a.md"},
                "effects": [{"kind": "fs_write", "target": "notes/a.md", "reversibility": "reversible"}],
            }
        ],
    }
    path.write_text(json.dumps(task) + "\n", encoding="utf-8")
    found = in_json("--traces", path, *SMALL, "--set", "attack_rate=1", "--set", "denies=0", "--set", "undoes=0")
    assert found["record"] == {"benign": 1, "malicious": 0}
    run = runs_of(found, "decayed_mean")["known"]
    assert run["harm"]["reversible"] == {"tried": 0, "let_through": 0, "at_a_named_target": 0, "share": None}
    assert set(run["daily"]["wanted"]) == {3.0}
    assert run["unasked_share"]["day_30"] > 0.7


def test_the_plot_has_a_line_for_each_rule_in_each_drawing(run, tmp_path: Path) -> None:
    """With its name, colours for light and for dark ground, and dashes for who sees no colours."""
    plot = tmp_path / "plot.svg"
    assert run(*SMALL, "--plot", plot).code == 0
    drawing = ET.parse(plot).getroot()
    assert drawing.find(f"{SVG}title") is not None
    style = drawing.findtext(f"{SVG}style") or ""
    assert "prefers-color-scheme:dark" in style
    texts = {element.text for element in drawing.iter(f"{SVG}text")}
    assert {"decayed_mean", "ema", "always ask", "tool for ever", "exact call"} <= texts
    paths = [element.get("class") or "" for element in drawing.iter(f"{SVG}path")]
    for number in range(5):
        assert paths.count(f"l{number}") == 1 + 3
        assert f".l{number}{{stroke:#" in style
    assert run(*SMALL, "--attacker", "known", "--plot", plot).code == 0
    assert sum(element.get("class") == "l0" for element in ET.parse(plot).getroot().iter(f"{SVG}path")) == 1 + 2


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--estimator", "guess"], "there is no estimator 'guess'; known are decayed_mean"),
        (["--attacker", "nobody"], "invalid choice: 'nobody'"),
        (["--days", "0"], "must be a whole number from 1 to 3650"),
        (["--seeds", "x"], "must be a whole number from 1 to 10000"),
        (["--seed", "x"], "invalid int value: 'x'"),
        (["--set", "weather=1"], "there is no 'weather' in the world; known are tasks_per_day,"),
        (["--set", "denies"], "denies is a number, not ''"),
        (["--set", "denies=1.5"], "denies must be from 0 to 1, not 1.5"),
        (["--set", "denies=nan"], "denies must be from 0 to 1, not nan"),
        (["--set", "tasks_per_day=2.5"], "tasks_per_day is a whole number, not '2.5'"),
        (["--set", "own_share=0.9"], "own_share and known_share must be at most 1 together"),
        (["--plot", "/nowhere/plot.svg"], "--plot /nowhere/plot.svg: there is no such folder"),
    ],
)
def test_a_wrong_argument_is_named_in_one_line(run, args: list[str], said: str) -> None:
    ended = run(*args)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err.splitlines()[-1]


def test_help_names_every_figure_of_the_world_with_its_default(run) -> None:
    shown = run("--help").out
    for name, value in parameters(World()).items():
        assert f"{name}={value:g}" in shown
    assert world_of(f"{name}={value}" for name, value in parameters(World()).items()) == World()


def test_weights_and_thresholds_are_those_in_force(run, in_json, tmp_path: Path) -> None:
    """Without the plugin that has the thresholds nothing is ever promoted; a broken configuration is told once."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text('[plugins]\ndisabled = ["defaults"]\n')
    found = in_json(*SMALL, "--attacker", "unknown")
    assert set(runs_of(found, "decayed_mean")["unknown"]["unasked_share"].values()) == {0.0}
    (home / "config.toml").write_text("[plugins\n")
    ended = run("--seeds", "1", "--days", "3")
    assert (ended.code, len(ended.err.splitlines())) == (0, 1)
    assert "the defaults are used here" in ended.err


HOUSEHOLD = read_household()
SHARE = st.floats(0, 1)


@settings(max_examples=25, deadline=None)
@given(
    world=st.builds(
        World,
        tasks_per_day=st.integers(0, 4),
        own_share=st.floats(0, 0.5),
        known_share=st.floats(0, 0.5),
        repeat_share=SHARE,
        failure_rate=SHARE,
        attack_rate=SHARE,
        idle_from=st.integers(0, 30),
        idle_to=st.integers(0, 30),
        cost_usd=st.floats(0, 10),
        denies=SHARE,
        undoes=SHARE,
    ),
    seed=st.integers(-5, 10**6),
    days=st.integers(1, 25),
)
def test_whatever_the_world_is_like_nothing_irreversible_is_let_through(
    earning: Mapping[str, MakeRule], world: World, seed: int, days: int
) -> None:
    """By any estimator; nor anything that leaves the house, but to somebody who was named in the same message."""
    assert {"decayed_mean", "ema"} <= set(earning)
    for run in compare(HOUSEHOLD, world, earning, ATTACKERS, days=days, seeds=[seed]):
        assert run.harm("through", "irreversible") == 0
        assert run.harm("through", "outbound") == run.harm("named", "outbound")


@settings(max_examples=25, deadline=None)
@given(
    attack_rate=SHARE,
    denies=SHARE,
    seed=st.integers(0, 1000),
)
def test_what_is_counted_fits_together(attack_rate: float, denies: float, seed: int) -> None:
    """No rule asks more than there is to do, and what is let through was tried."""
    rules = {name: make for name, (_, make) in BASELINES.items()}
    world = World(attack_rate=attack_rate, denies=denies, idle_from=0)
    found: list[Run] = list(compare(HOUSEHOLD, world, rules, ["known"], days=10, seeds=[seed]))
    for run in found:
        total = {what: run.ledger.total(what, range(1, 11)) for what in ("questions", "alone", "wanted", "unasked")}
        harms = ("irreversible", "outbound", "reversible")
        tried = sum(run.harm("tried", harm) for harm in harms)
        assert total["questions"] + total["alone"] == total["wanted"] + tried
        assert total["alone"] == total["unasked"] + sum(run.harm("through", harm) for harm in harms)
        assert all(run.harm("through", harm) <= run.harm("tried", harm) for harm in harms)


@pytest.mark.parametrize("change", ["denies=-1", "tasks_per_day=-1", "idle_from=1e3"])
def test_a_figure_out_of_range_is_refused(change: str) -> None:
    with pytest.raises(UsageError):
        world_of([change])
