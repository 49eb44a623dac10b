"""The command line in this process, on a home of the test's own, and small records."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from myclaw_defaults.signals import five_signals
from myclaw_defaults.thresholds import threshold_for
from myclaw_simulate.earned import Earned
from myclaw_simulate.installed import earning_rules
from myclaw_simulate.places import USER_HOME, WORKSPACE
from myclaw_simulate.records import RecordedTask, read_tasks
from myclaw_simulate.rules import MakeRule

from myclaw_core.cli import main
from myclaw_core.trust.decayed_mean import DecayedMean
from myclaw_core.trust.thresholds import Thresholds


@frozen
class Ended:
    """What a command left."""

    code: int
    out: str
    err: str


Run = Callable[..., Ended]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run `myclaw simulate` with the plugins of this repository only."""
    monkeypatch.setenv("MYCLAW_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "120")

    def run(*args: str | Path) -> Ended:
        try:
            code = main(["simulate", *map(str, args)])
        except SystemExit as end:
            code = int(end.code or 0)
        shown = capsys.readouterr()
        return Ended(code, shown.out, shown.err)

    return run


@pytest.fixture
def in_json(run: Run) -> Callable[..., Any]:
    """Run it with `--json` and return the object."""

    def run_json(*args: str | Path) -> Any:
        ended = run(*args, "--json")
        assert (ended.code, ended.err) == (0, "")
        return json.loads(ended.out)

    return run_json


@pytest.fixture
def tasks(tmp_path: Path) -> Callable[..., Sequence[RecordedTask]]:
    """Return a function that writes tasks as lines and reads them."""

    def written(*lines: dict[str, Any]) -> Sequence[RecordedTask]:
        path = tmp_path / "tasks.jsonl"
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
        return read_tasks(path)

    return written


@pytest.fixture(scope="session")
def earning(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, MakeRule]:
    """Return what makes the rule of each estimator that there is, as the command finds them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MYCLAW_HOME", str(tmp_path_factory.mktemp("home")))
        return earning_rules()


@pytest.fixture(scope="session")
def earned() -> Callable[[], Earned]:
    """Return what makes the rule that earns trust, with the default estimator, thresholds and signals."""
    thresholds = Thresholds(threshold_for, "~" + WORKSPACE.removeprefix(USER_HOME))
    return lambda: Earned(DecayedMean(), thresholds, five_signals)
