"""`myclaw plugins enable | disable --json`: one object says what became of the plugin; nobody is asked, which is no."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

MANIFEST = 'name = "{name}"\nsummary = "A test."\nhooks = ["myclaw_config"]\ncapabilities = ["net"]\n'


def switched(run, *args: str) -> tuple[int, Any]:
    ended = run("plugins", *args, "--json")
    assert ended.err == ""
    return ended.code, json.loads(ended.out)


def test_what_would_be_agreed_to_is_told_and_nobody_is_asked(run, install, home: Path) -> None:
    install("weather", "myclaw-weather", manifest=MANIFEST)
    code, found = switched(run, "enable", "weather")
    assert code == 1
    assert found.pop("hint").startswith("not yet enabled, nothing of it was run; ")
    assert found == {
        "plugin": "weather",
        "state": "new",
        "changed": False,
        "error": "",
        "declares": {
            "hooks": ["myclaw_config"],
            "tools": [],
            "commands": [],
            "config": [],
            "capabilities": ["net"],
        },
    }
    assert run("plugins", "list", "--json").code == 0


def test_a_plugin_is_enabled_once_and_disabled_once(run, install, home: Path) -> None:
    install("weather", "myclaw-weather", manifest=MANIFEST)
    seen = [
        (code, found["state"], found["changed"])
        for args in (["enable", "weather", "--yes"], ["enable", "weather"], ["disable", "weather"]) * 2
        for code, found in [switched(run, *args)]
    ]
    assert seen == [(0, "on", True), (0, "on", False), (0, "new", True)] * 2
    assert switched(run, "disable", "weather")[1]["changed"] is False


def test_our_own_plugin_is_switched_in_the_configuration(run, home: Path) -> None:
    assert switched(run, "disable", "files")[1]["state"] == "off"
    assert switched(run, "enable", "files")[1]["state"] == "on"
    assert not (home / "config.toml").read_text().count("files")


def test_a_plugin_that_fails_once_it_is_loaded_is_a_problem_found(run, install, home: Path) -> None:
    install("weather", "myclaw-weather", "raise RuntimeError('rain')", manifest=MANIFEST)
    code, found = switched(run, "enable", "weather", "--yes")
    assert (code, found["state"]) == (1, "failed")
    assert "RuntimeError: rain" in found["error"]


def test_a_plugin_that_is_not_there_is_an_error_on_stderr(run, home: Path) -> None:
    ended = run("plugins", "enable", "fils", "--json")
    assert (ended.code, ended.out) == (2, "")
    assert "there is 'files'" in ended.err
