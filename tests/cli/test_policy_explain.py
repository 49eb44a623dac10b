"""`myclaw policy explain`: how recorded actions were decided, in the words of `/why` and `policy check`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


@pytest.fixture
def turn(home: Path, run):
    """Run one message as a turn whose model makes these tool calls; return the trace's id."""

    def turn(*calls: tuple[str, dict[str, str]]) -> str:
        home.mkdir(exist_ok=True)
        script = home / "script.json"
        replies = [{"tool_calls": [{"tool": tool, "args": args} for tool, args in calls]}] if calls else []
        script.write_text(json.dumps([*replies, {"text": "Done."}]))
        (home / "config.toml").write_text(f'[agent]\nprovider = "scripted"\n[scripted]\nfile = "{script}"\n')
        return json.loads(run("ask", "--json", "Do it").out)["trace"]

    return turn


def test_the_newest_trace_is_told_step_by_step_as_policy_check_would(run, turn) -> None:
    call = ("fs_list", {})
    older = turn(call)
    newest = turn(call, ("fs_write", {"path": "a.md", "content": "x"}))
    ended = run("policy", "explain")
    assert ended.code == 0
    told, listing, writing = ended.out.rstrip().split("\n\n")
    assert told == f"trace {newest}"
    assert listing.endswith("\nthen: done")
    assert "\nthen: expired by core, " in writing
    checked = run("policy", "check", "--explain", stdin=json.dumps({"tool": "fs_list", "args": {}}).encode())
    assert listing.removesuffix("\nthen: done") == checked.out.rstrip().removeprefix("line 1: ")
    assert run("policy", "explain", older[:13]).out.startswith(f"trace {older}\n\nallow (via autonomy): fs_list")


def test_json_holds_what_policy_check_prints_and_how_each_step_ended(run, turn) -> None:
    trace = turn(("fs_write", {"path": "a.md", "content": "x"}))
    found = json.loads(run("policy", "explain", "--json").out)
    (step,) = found["steps"]
    assert found["trace"] == trace
    line = json.dumps({"tool": "fs_write", "args": {"path": "a.md", "content": "x"}}).encode()
    checked = json.loads(run("policy", "check", stdin=line).out)
    assert {key: step[key] for key in checked.keys() - {"line"}} == {
        key: value for key, value in checked.items() if key != "line"
    }
    assert step["answer"]["verdict"] == "expired"
    assert (step["step"], step["state"], step["error"]["kind"]) == (0, "failed", "denied")


def test_a_trace_without_an_action_and_an_empty_record_say_so(run, turn) -> None:
    assert run("policy", "explain").out == "Nothing is recorded yet.\n"
    assert json.loads(run("policy", "explain", "--json").out) == {"trace": None, "steps": []}
    trace = turn()
    assert run("policy", "explain").out == f"trace {trace}: no action was decided\n"


def test_a_trace_that_is_not_there_is_an_error_of_one_line(run, turn) -> None:
    turn()
    ended = run("policy", "explain", "xyz")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "myclaw: no trace starts with 'xyz'; see 'myclaw audit list'\n"
