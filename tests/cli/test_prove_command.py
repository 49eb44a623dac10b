"""`myclaw doctor --prove` as it is typed: what was tried, 1 with a line to replay where a promise is broken."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from myclaw_core.cli.prove import DEFAULT_CASES
from myclaw_core.doctor.prove.run import PROPERTIES
from myclaw_core.policy import engine
from myclaw_core.policy.checks import Opinion
from myclaw_core.types.text import Text


@pytest.fixture
def fails_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a check that fails have no opinion."""
    monkeypatch.setattr(engine, "_fault", lambda name, error, verdict: Opinion("pass", Text("never mind"), "fault"))


def test_each_promise_is_told_with_its_cases_and_the_seed(run, home: Path) -> None:
    ended = run("doctor", "--prove", "--cases", "40", "--seed", "3")
    lines = ended.out.splitlines()
    assert (ended.code, ended.err) == (0, "")
    assert lines[0] == "ok    what cannot be undone never runs by itself, whatever trust says"
    assert lines[1].startswith("      40 cases, ")
    assert sum(line.startswith("ok ") for line in lines) == len(PROPERTIES)
    assert lines[-2:] == ["seed 3; '--seed 3' draws the same cases again", "No case breaks a promise."]
    assert run("doctor", "--prove", "--cases", "40", "--seed", "3").out == ended.out
    assert not home.exists()


def test_json_names_the_seed_and_counts_the_cases(run) -> None:
    found = json.loads(run("doctor", "--prove", "--cases", "5", "--json").out)
    assert 0 <= found["seed"] < 10**9
    assert [each["property"] for each in found["properties"]] == [
        "irreversible",
        "actors",
        "explained",
        "plugins",
        "places",
        "faults",
    ]
    for each in found["properties"]:
        assert set(each) == {"property", "claim", "held", "cases", "telling", "problem", "case"}
        assert (each["held"], each["cases"], each["problem"], each["case"]) == (True, 5, "", None)


def test_a_broken_promise_gives_1_and_a_line_that_shows_it_again(run, fails_open: None) -> None:
    ended = run("doctor", "--prove", "--cases", "200", "--seed", "3")
    lines = ended.out.splitlines()
    at = lines.index("fail  nothing is allowed where a check fails")
    assert (ended.code, ended.err) == (1, "")
    assert ", made as small as it goes: " in lines[at + 1]
    assert lines[-1] == "1 promise is broken here"
    program, *arguments = shlex.split(lines[at + 2])
    assert program == "myclaw"
    again = run(*arguments)
    assert again.code == 1
    assert again.out.splitlines()[2] == lines[at + 2]
    found = json.loads(run("doctor", "--prove", "--cases", "200", "--seed", "3", "--json").out)["properties"][-1]
    assert found["case"] == json.loads(arguments[-1])
    assert (found["property"], found["held"]) == ("faults", False)


def test_a_case_that_holds_is_told_in_two_lines(run) -> None:
    ended = run("doctor", "--prove", "--replay", '{"property": "faults", "tool": "fs_list", "fault": "gate 0"}')
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines() == [
        "ok    nothing is allowed where a check fails",
        "      1 case, 1 to the point",
        "No case breaks a promise.",
    ]


def test_a_promise_that_no_case_could_have_broken_is_not_called_held(run) -> None:
    """Nothing was shown then, and 0 would say that all is well."""
    ended = run("doctor", "--prove", "--cases", "1", "--seed", "1")
    assert (ended.code, ended.err) == (1, "")
    lines = ended.out.splitlines()
    untried = [lines[at - 1] for at, line in enumerate(lines) if line.endswith("not to the point: this shows nothing")]
    assert untried
    assert all(line.startswith("warn  ") for line in untried)
    assert " not put to the test; try more with --cases" in lines[-1]


@pytest.mark.parametrize("alone", [("--seed", "1"), ("--cases", "1"), ("--replay", "{}")])
def test_options_of_a_proof_do_not_stand_alone(run, alone: tuple[str, str]) -> None:
    ended = run("doctor", *alone)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "myclaw: --seed, --cases and --replay belong to --prove\n"


@pytest.mark.parametrize("wrong", [("--seed", "-1"), ("--seed", "x"), ("--cases", "0"), ("--replay", "{")])
def test_a_number_or_a_case_that_is_none_is_an_error_of_usage(run, wrong: tuple[str, str]) -> None:
    ended = run("doctor", "--prove", *wrong)
    assert (ended.code, ended.out) == (2, "")
    assert "Traceback" not in ended.err


def test_a_configuration_that_does_not_load_is_told_and_nothing_is_tried(run, home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text("[agent]\nmodle = 1\n")
    ended = run("doctor", "--prove")
    assert (ended.code, ended.out) == (2, "")
    assert "unknown key 'modle'" in ended.err


def test_the_help_names_the_number_of_cases_that_are_tried(run) -> None:
    assert f"{DEFAULT_CASES} unless told" in run("doctor", "--help").out
