"""Every benchmark runs and says the same things; how fast anything is, no test asserts."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

Main = Callable[[list[str]], int]
FOLDER = Path(__file__).parents[1] / "benchmarks"
NAMES = sorted({path.stem for path in FOLDER.glob("[a-z]*.py")} - {"timing", "world"})
"""Every file that measures."""


@pytest.fixture
def main(monkeypatch: pytest.MonkeyPatch) -> Main:
    """The command, found as from the folder of the repository."""
    monkeypatch.syspath_prepend(Path(__file__).parents[1])
    command: Main = import_module("benchmarks.__main__").main
    return command


@pytest.mark.parametrize("name", NAMES)
def test_each_line_holds_a_thing_against_its_floor(name: str, main: Main, capsys: pytest.CaptureFixture[str]) -> None:
    """Ratio, median and least of both stand in every line."""
    assert main([name, "--quick", "--json"]) == 0

    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines
    for line in lines:
        assert line["benchmark"] == name
        assert line["what"]
        assert line["floor_is"]
        for timing in (line["thing_s"], line["floor_s"]):
            assert 0 < timing["min"] <= timing["median"]
            assert timing["min"] <= timing["p99"]
        assert line["ratio_median"] == line["thing_s"]["median"] / line["floor_s"]["median"]
        assert line["ratio_min"] == line["thing_s"]["min"] / line["floor_s"]["min"]


def test_people_get_a_table(main: Main, capsys: pytest.CaptureFixture[str]) -> None:
    """Each row has a cell for each heading, so that it can be pasted into the documentation."""
    assert main(["redaction", "--quick"]) == 0

    rows = capsys.readouterr().out.splitlines()
    assert len(rows) > 2
    assert {row.count("|") for row in rows} == {rows[0].count("|")}


def test_every_benchmark_is_offered(main: Main) -> None:
    """A file that measures is a name that can be given."""
    assert sorted(import_module("benchmarks.__main__").NAMES) == NAMES
