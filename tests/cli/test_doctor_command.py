"""`myclaw doctor` as it is typed: 1 where something does not work, JSON for programs, never a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path


def test_what_fails_gives_1_and_stands_in_a_line_with_what_to_do(run, home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text("[agent]\nmodle = 1\n")
    ended = run("doctor")
    assert (ended.code, ended.err) == (1, "")
    lines = ended.out.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("fail  configuration"))
    assert "unknown key 'modle'" in lines[at]
    assert lines[at + 1].strip().startswith("mend ")
    assert " to mend, " in lines[-1]


def test_json_lists_every_check(run, home: Path) -> None:
    ended = run("doctor", "--json")
    checks = {each["check"]: each for each in json.loads(ended.out)}
    assert {"python", "sqlite", "folders", "keys", "disk", "clock", "plugins", "event log", "undo", "model"} <= set(
        checks
    )
    assert set(checks["python"]) == {"check", "state", "what", "todo"}
    assert checks["python"]["todo"] == ""
    assert ended.code == (1 if any(each["state"] == "fail" for each in checks.values()) else 0)
    assert not home.exists()


def test_a_home_that_is_a_file_is_told_line_by_line(run, home: Path) -> None:
    home.write_text("mine")
    ended = run("doctor")
    assert (ended.code, ended.err) == (1, "")
    assert f"{home} is no folder" in ended.out
    assert "this check failed" not in ended.out
    assert home.read_text() == "mine"


def test_a_disk_that_can_only_be_read_is_told_once(run, home: Path) -> None:
    """With what to do; its files are not called damaged."""
    run("config", "set", "limits.steps", "7")
    bwrap = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    program = [sys.executable, "-m", "myclaw_core", "doctor", "--json"]
    environ = os.environ | {"MYCLAW_HOME": str(home)}
    ended = subprocess.run([*bwrap, *program], capture_output=True, text=True, env=environ, check=False)
    checks = json.loads(ended.stdout)
    told = [each for each in checks if each["state"] == "fail" and each["check"] not in ("model", "sandbox")]
    assert [(each["check"], each["todo"]) for each in told] == [
        ("disk", "make it writable, or set MYCLAW_HOME to another folder")
    ]
    assert not any("backup" in each["todo"] for each in checks)
