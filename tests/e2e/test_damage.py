"""A record that was changed is noticed, named and never written over."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

WRITE = {"tool_calls": [{"tool": "fs_write", "args": {"path": "list.md", "content": "- bread\n"}}]}


@pytest.fixture
def state(console, script) -> Path:
    """The state after a first turn."""
    script({"text": "Hello."})
    assert console.run("ask", "Remember the oranges").code == 0
    return Path(console.home / "workspace" / "state")


def flip(database: Path) -> None:
    """Change one letter of the first message that is kept."""
    data = database.read_bytes()
    at = data.index(b"oranges")
    database.write_bytes(data[:at] + b"O" + data[at + 1 :])


def test_a_flipped_byte_is_named_and_everything_asks(console, script, state: Path) -> None:
    flip(state / "events.db")
    verified = console.run("audit", "verify")
    assert verified.code == 1
    events, trust, export = verified.out.splitlines()
    number = int(re.fullmatch(r"events: +\d+ checked, NOT whole: the body of event (\d+) was changed", events)[1])
    assert trust.split() == ["trust:", "1", "checked,", "whole"]
    assert export.split() == ["export:", "3", "checked,", "whole"]
    assert verified.err == ""
    summary = json.loads(console.run("audit", "verify", "--json").out)
    assert (summary["events"]["ok"], summary["events"]["first_bad"]) == (False, number)
    assert summary["trust"] == {"ok": True, "checked": 1, "first_bad": None, "problem": ""}
    script(WRITE, {"text": "Not done."})
    ended = console.run("ask", "--root", console.files, "Add bread")
    assert (ended.code, ended.out) == (1, "Not done.\n")
    told = f"the event log is not whole: the body of event {number} was changed; every action asks, nothing was changed"
    assert [line for line in ended.said if "not whole" in line] == [f"myclaw: {told}"]


@pytest.mark.parametrize("name", ["events.db", "trust.db"])
def test_garbage_in_place_of_a_database_is_kept_and_named(console, script, state: Path, name: str) -> None:
    (state / name).write_bytes(b"garbage " * 1000)
    first = console.run("ask", "Hi")
    assert (first.code, first.out, len(first.said)) == (1, "", 1)
    assert f"{state / name} is damaged and was kept as {name}.damaged-1" in first.err
    assert (state / f"{name}.damaged-1").read_bytes() == b"garbage " * 1000
    script({"text": "Hello again."})
    second = console.run("ask", "Hi")
    assert (second.code, second.out) == (0, "Hello again.\n")
    assert "every action asks" in second.err
    assert len(second.said) == len(set(second.said))
    assert console.run("audit", "verify").code == 1


@pytest.mark.parametrize("name", ["events.key", "trust.key"])
def test_a_key_that_others_can_read_stops_the_start(console, state: Path, name: str) -> None:
    key = state / "keys" / name
    key.chmod(0o644)
    for command in (["ask", "Hi"], ["audit", "verify"]):
        ended = console.run(*command)
        assert (ended.code, ended.out) == (1, "")
        assert ended.err == f"myclaw: {key} can be read by others; run `chmod 600 {key}`\n"


def test_a_key_that_is_lost_is_noticed(console, script, state: Path) -> None:
    (state / "keys" / "events.key").unlink()
    verified = console.run("audit", "verify")
    assert verified.code == 1
    assert "0 checked, NOT whole: event 1 was changed" in verified.out


def test_a_record_that_was_cut_to_nothing_is_noticed(console, state: Path) -> None:
    """The heads beside the databases remember, and so do the exported files."""
    for database in state.glob("*.db"):
        database.unlink()
    verified = console.run("audit", "verify")
    assert verified.code == 1
    assert "the log ends at event 0 and once held 3" in verified.out
    assert verified.out.count("0 checked, NOT whole") == 3


def test_a_copy_elsewhere_is_whole(console, state: Path, tmp_path: Path) -> None:
    """A backup is the folder."""
    shutil.copytree(console.home, tmp_path / "copy")
    assert console.run("audit", "verify", MYCLAW_HOME=str(tmp_path / "copy")).code == 0
