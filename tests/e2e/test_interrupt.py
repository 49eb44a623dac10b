"""Ctrl-C wherever it comes leaves the terminal as it was: text kept, cursor shown, typed letters visible."""

from __future__ import annotations

import json

import pytest

from .conftest import PROGRAM, finish, shown

WRITE = {"tool_calls": [{"tool": "fs_write", "args": {"path": "list.md", "content": "- bread\n"}}]}
IN_A_SHELL = f"trap : INT; stty -g; {PROGRAM} $*; echo code $?; stty -g"


def in_a_shell(console, *args: str, **environ: str):
    """Run the program as a shell does, between two looks at the settings of the terminal."""
    return console.spawn(*args, program=("/bin/sh", "-c", IN_A_SHELL, "sh"), **environ)


def assert_left_as_it_was(child, code: int) -> None:
    finish(child)
    before, *_, ended, after = shown(child).split()
    assert (ended, after) == (str(code), before)
    raw = child.logfile_read.getvalue()
    assert raw.rfind("\x1b[?25h") >= raw.rfind("\x1b[?25l")
    assert raw.rfind("\x1b[?2004l") >= raw.rfind("\x1b[?2004h")


def test_ctrl_c_during_the_spinner_restores_the_terminal(console, model) -> None:
    """The model's server sees that nobody waits any more."""
    server = model([{"silent": True}])
    child = in_a_shell(console, "ask", "Hi")
    child.expect_exact("thinking")
    assert server.waiting.wait(60)
    child.sendintr()
    child.expect_exact("stopped; what was done until then is recorded")
    assert server.client_left.wait(60)
    assert_left_as_it_was(child, 130)


@pytest.mark.parametrize("stopped_by", ["/stop\r", "\x03"])
def test_a_chat_goes_on_after_a_turn_that_was_stopped(console, model, stopped_by: str) -> None:
    """By a word or by the key; what was typed meanwhile is dropped, and the terminal is left as it was."""
    server = model([{"silent": True}, {"text": "Hello."}])
    child = in_a_shell(console)
    child.expect_exact("type a message")
    child.send("Hi\r")
    assert server.waiting.wait(60)
    child.send("again\r")
    child.expect_exact("queued: again; /stop stops what runs and drops what waits")
    child.send("/status\r")
    child.expect_exact("spent today")
    child.send(stopped_by)
    child.expect_exact("1 message that waited was dropped")
    child.expect_exact("the turn was stopped")
    assert server.client_left.wait(60)
    child.send("once more\r")
    child.expect_exact("Hello.")
    child.sendeof()
    assert_left_as_it_was(child, 0)


def test_undo_during_a_turn_stops_it_and_takes_back_what_it_did(console, model) -> None:
    """The file that was granted and written is gone again, and nothing of the turn runs on."""
    server = model([WRITE, {"silent": True}])
    child = in_a_shell(console, "--root", str(console.files))
    child.expect_exact("type a message")
    child.send("Add\r")
    child.expect_exact("yes / no / details >")
    child.send("y\r")
    assert server.waiting.wait(60)
    assert (console.files / "list.md").exists()
    child.send("/undo\r")
    child.expect_exact("the turn was stopped")
    child.expect_exact("undone")
    assert server.client_left.wait(60)
    assert list(console.files.iterdir()) == []
    child.sendeof()
    assert_left_as_it_was(child, 0)


@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_ctrl_c_at_a_question_restores_the_terminal(console, script, term: str) -> None:
    script(WRITE, {"text": "Done."})
    child = in_a_shell(console, "ask", "--root", str(console.files), "Add", TERM=term)
    child.expect_exact("yes / no / details >")
    child.sendintr()
    child.expect_exact("stopped")
    assert_left_as_it_was(child, 130)
    assert list(console.files.iterdir()) == []


@pytest.mark.parametrize(("answer", "code", "state"), [("\x03", 130, "new"), ("no\r", 1, "new"), ("y\r", 0, "on")])
def test_only_a_yes_enables_a_plugin(console, install, answer: str, code: int, state: str) -> None:
    """Ctrl-C at the question is none, and restores the terminal."""
    site = {"PYTHONPATH": str(install("weather", "myclaw-weather").parent)}
    child = in_a_shell(console, "plugins", "enable", "weather", **site)
    child.expect_exact("Enable it? [y/N] ")
    child.send(answer)
    assert_left_as_it_was(child, code)
    by_name = {row["name"]: row for row in json.loads(console.run("plugins", "list", "--json", **site).out)}
    assert by_name["weather"]["state"] == state


def test_a_plain_terminal_gets_no_escape(console, script) -> None:
    """TERM=dumb: neither in a turn nor in a list."""
    script(WRITE, {"text": "**Done.**"})
    child = console.spawn("ask", "--root", console.files, "Add bread", TERM="dumb")
    child.expect_exact("yes / no / details >")
    child.send("yes\r")
    assert finish(child) == 0
    for args in (["trust", "list"], ["audit", "show"], ["--help"]):
        listed = console.spawn(*args, TERM="dumb")
        assert finish(listed) == 0
        assert "\x1b" not in listed.logfile_read.getvalue()
    assert "\x1b" not in child.logfile_read.getvalue()
