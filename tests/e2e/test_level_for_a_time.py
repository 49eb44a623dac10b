"""A level for a time, at a real terminal and from two processes."""

from __future__ import annotations

import json
import re

import pytest

from .conftest import finish, shown

PROMPT = re.compile(r"\x1b\[\?2004h")
RAISE = ("session", "--level", "full", "--for", "24h")


def write(name: str) -> dict[str, object]:
    return {"tool_calls": [{"tool": "fs_write", "args": {"path": name, "content": "- bread\n"}}]}


@pytest.mark.parametrize(("answer", "code", "level"), [("y", 0, "full"), ("n", 1, "supervised"), ("", 1, "supervised")])
def test_a_person_is_asked_after_the_cost_was_stated(console, answer: str, code: int, level: str) -> None:
    """Only a clear yes is one."""
    child = console.spawn(*RAISE)
    child.expect_exact("Start? [y/N]")
    assert "estimate: none, there was no use in your last 14 days" in shown(child)
    child.send(f"{answer}\r")
    assert finish(child) == code
    assert console.json("session", "--json")["level"] == level
    assert ("nothing was changed" in shown(child)) is bool(code)


def test_a_running_conversation_follows_what_is_set_and_ended_elsewhere(console, script) -> None:
    """Asked, then not asked, then asked again; each start of a conversation says which level stands."""
    script(write("a.md"), {"text": "First."}, write("b.md"), {"text": "Second."}, write("c.md"), {"text": "Third."})
    child = console.spawn("--root", console.files)
    child.expect(PROMPT)
    child.send("Write a\r")
    child.expect_exact("yes / no / details >")
    child.send("yes\r")
    child.expect_exact("First.")
    assert console.run(*RAISE, "--yes").code == 0
    child.expect(PROMPT)
    child.send("Write b\r")
    child.expect_exact("Second.")
    assert (console.files / "b.md").exists()
    assert console.run("session", "--end").code == 0
    child.expect(PROMPT)
    child.send("Write c\r")
    child.expect_exact("yes / no / details >")
    child.send("no\r")
    child.expect_exact("Third.")
    child.expect(PROMPT)
    child.sendeof()
    assert finish(child) == 0
    assert not (console.files / "c.md").exists()


def test_one_message_follows_it_and_says_so(console, script) -> None:
    """On stderr, where it disturbs no answer."""
    script(write("a.md"), {"text": "Done."}, write("b.md"), {"text": "Done."})
    console.run(*RAISE, "--yes")
    ended = console.run("ask", "--root", console.files, "Write a")
    assert (ended.code, ended.out) == (0, "Done.\n")
    assert re.search(r"^level: full until .*, then supervised$", ended.err, re.MULTILINE)
    script(write("b.md"), {"text": "Done."})
    console.run("session", "--end")
    assert "level:" not in console.run("ask", "--root", console.files, "Write b").err
    assert not (console.files / "b.md").exists()


def test_a_level_on_the_command_line_states_its_cost_in_one_line(console, script) -> None:
    """On stderr, also for a program; less than stands anyway needs none."""
    script(write("a.md"), {"text": "Done."})
    ended = console.run("ask", "--level", "full", "--root", console.files, "Write a")
    assert (ended.code, ended.out) == (0, "Done.\n")
    assert ended.said[0] == "estimate: none, there was no use in your last 14 days; the hard cap is 5.00 € a day"
    script({"text": "Hello."})
    ended = console.run("ask", "--json", "--level", "full", "Hi")
    assert json.loads(ended.out)["answer"] == "Hello."
    assert len(ended.said) == 1
    assert ended.said[0].startswith("estimate: 0.00 € a day, from your last 14 days (a rough one, only 1 of them used)")
    script({"text": "Hello."})
    assert console.run("ask", "--level", "supervised", "Hi").err.count("estimate") == 0
    console.run(*RAISE, "--yes")
    script({"text": "Hello."})
    assert console.run("ask", "--level", "full", "Hi").err.count("estimate") == 0


def test_a_policy_check_judges_at_the_level_that_stands(console) -> None:
    """As a session would; a level in the line or on the command line goes before it."""
    line = json.dumps({"tool": "fs_write", "args": {"path": "a.md", "content": "x"}}) + "\n"
    console.run(*RAISE, "--yes")
    assert console.json("policy", "check", stdin=line)["via"] == "autonomy_full"
    assert console.json("policy", "check", "--level", "read_only", stdin=line)["verdict"] == "deny"
