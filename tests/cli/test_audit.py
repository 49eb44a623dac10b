"""`myclaw audit`: the newest traces and events, followed as they happen, also on a damaged record."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from myclaw_core.cli import main

PROGRAM = Path(sys.executable).with_name("myclaw")


@pytest.fixture
def turns(home: Path, run):
    """Run messages as turns of a scripted model."""

    def turns(*messages: str) -> None:
        home.mkdir(exist_ok=True)
        script = home / "script.json"
        script.write_text(json.dumps([{"text": "Done."}]))
        (home / "config.toml").write_text(f'[agent]\nprovider = "scripted"\n[scripted]\nfile = "{script}"\n')
        for message in messages:
            assert run("ask", message).code == 0

    return turns


def test_list_names_the_newest_traces_first(run, turns) -> None:
    turns("First   message\nwith lines", "Second message")
    head, second, first = run("audit", "list").out.splitlines()
    assert head.split()[0] == "trace"
    assert second.split()[4:] == ["success", "0", "Second", "message"]
    assert first.endswith("First message with lines")
    newest, _ = json.loads(run("audit", "list", "--json").out)
    assert (newest["outcome"], newest["steps"], newest["text"]) == ("success", 0, "Second message")
    assert newest["trace"] == second.split()[0]
    assert len(json.loads(run("audit", "list", "-n", "1", "--json").out)) == 1
    assert newest["trace"] in run("audit", "show", newest["trace"][:13]).out


def test_list_of_nothing_says_so(run) -> None:
    assert run("audit", "list").out == "Nothing is recorded yet.\n"
    assert json.loads(run("audit", "list", "--json").out) == []
    assert run("audit", "tail").out == ""


@pytest.mark.parametrize("count", ["0", "-1", "x", "1" + 20 * "0", "9" * 5000])
def test_a_count_is_a_positive_number(run, count: str) -> None:
    assert run("audit", "list", "-n", count).code == 2


def test_tail_shows_the_last_events(run, turns) -> None:
    turns("Hello")
    lines = [json.loads(line) for line in run("audit", "tail", "-n", "2", "--json").out.splitlines()]
    assert [line["type"] for line in lines] == ["model_called", "trace_closed"]
    text = run("audit", "tail", "-n", "1").out
    assert "trace_closed: success, steps 0" in text


def test_an_unknown_trace_leads_to_the_list(run, turns) -> None:
    turns("Hello")
    assert "see 'myclaw audit list'" in run("audit", "show", "ffff").err


def test_a_damaged_event_is_told_and_the_others_are_shown(run, turns, home: Path) -> None:
    turns("Remember the oranges", "Again")
    database = home / "workspace" / "state" / "events.db"
    data = database.read_bytes()
    database.write_bytes(data.replace(b"Remember the oranges", b"Remember the orangeS"))
    ended = run("audit", "tail", "-n", "50")
    assert ended.code == 0
    assert "its body was changed after it was written" in ended.out
    assert "Again" in ended.out
    assert "damaged" in run("audit", "list").out
    assert any("error" in json.loads(line) for line in run("audit", "tail", "-n", "50", "--json").out.splitlines())


def test_verify_compares_the_exported_files(run, turns, home: Path) -> None:
    turns("Hello")
    assert run("audit", "verify").out.splitlines()[2] == "export:      3 checked, whole"
    (file,) = (home / "workspace" / ".audit").glob("*.jsonl")
    file.write_bytes(file.read_bytes().replace(b"Hello", b"Hullo"))
    ended = run("audit", "verify")
    assert ended.code == 1
    assert "NOT whole: " in ended.out
    summary = json.loads(run("audit", "verify", "--json").out)
    assert (summary["events"]["ok"], summary["export"]["ok"], summary["export"]["first_bad"]) == (True, False, 1)


def test_a_start_tells_of_a_changed_line_and_the_turn_goes_on(run, turns, home: Path) -> None:
    turns("Hello")
    (file,) = (home / "workspace" / ".audit").glob("*.jsonl")
    file.write_bytes(file.read_bytes().replace(b"Hello", b"Hullo"))
    ended = run("ask", "Again")
    assert (ended.code, ended.out) == (0, "Done.\n")
    assert f"the audit files differ from the log: {file.name}:1 is not what the log holds as event 1" in ended.err


def test_follow_goes_on_with_what_happens_until_ctrl_c(turns, run, home: Path, tmp_path: Path) -> None:
    turns("Before")
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "MYCLAW_HOME": str(home)}
    follow = subprocess.Popen(
        [PROGRAM, "audit", "tail", "-n", "1", "--follow", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environ,
    )
    watchdog = threading.Timer(60, follow.kill)
    watchdog.start()
    assert follow.stdout is not None
    assert json.loads(follow.stdout.readline())["event"]["trace"]["messages"][0]["text"] == "Before"
    assert main(["config", "set", "agent.language", "de"]) == 0
    assert json.loads(follow.stdout.readline())["event"]["key"] == "agent.language"
    follow.send_signal(signal.SIGINT)
    out, err = follow.communicate()
    watchdog.cancel()
    assert (follow.returncode, out, err) == (0, "", "")
