"""A conversation at a real terminal."""

from __future__ import annotations

import re

import pexpect

from .conftest import finish, shown

PROMPT = re.compile(r"\x1b\[\?2004h")
WRITE = {"tool_calls": [{"tool": "fs_write", "args": {"path": "list.md", "content": "- bread\n"}}]}


COMMANDS = (
    ("/help", "take back what the last turn"),
    ("/status", "last turn"),
    ("/why", "it was never done before"),
    ("/trust", "fs_write"),
    ("/frob", "there is no command"),
    ("/undo", "undone"),
)
"""Each with some of its answer: what is typed meanwhile is drawn into it."""


def say(child: pexpect.spawn, text: str) -> None:
    child.expect(PROMPT)
    child.send(f"{text}\r")


def test_a_conversation_with_its_commands(console, model) -> None:
    """Two turns, every command, a wrong one, a turn that is stopped, one after it."""
    file = console.files / "list.md"
    file.write_bytes(b"- milk\r\n")
    server = model([WRITE, {"text": "Done."}, {"text": "Second."}, {"text": "half", "hang": True}, {"text": "After."}])
    child = console.spawn("--root", console.files)

    say(child, "Add bread")
    child.expect_exact("yes / no / details >")
    child.send("yes\r")
    child.expect_exact("1 step")
    assert file.read_bytes() == b"- bread\n"
    say(child, "Second message")
    child.expect_exact("Second.")
    for command, told in COMMANDS:
        say(child, command)
        child.expect_exact(told)
    say(child, "Think long")
    child.expect_exact("half")
    child.sendintr()
    child.expect_exact("stopped")
    say(child, "Go on")
    child.expect_exact("After.")
    child.expect(PROMPT)
    child.sendeof()

    assert finish(child) == 0
    assert file.read_bytes() == b"- milk\r\n"
    output = shown(child)
    assert "/undo: take back what the last turn here changed" in output
    assert "last turn: success, 0 steps" in output
    assert re.search(r"^ *trust +approve_required +it was never done before", output, re.MULTILINE)
    assert re.search(rf"^ *0\.\d+ +1 +\S+ +fs_write fs_write:{console.files}/\*", output, re.MULTILINE)
    assert "there is no command /frob; /help lists them" in output
    assert len(server.requests) == 5


def test_leaving_at_once_changes_nothing(console, script) -> None:
    script()
    child = console.spawn()
    child.expect(PROMPT)
    child.sendeof()
    assert finish(child) == 0
    assert console.run("audit", "show").out == "Nothing is recorded yet.\n"


def test_an_unfinished_turn_of_a_killed_program_is_told_at_the_next_start(console, script) -> None:
    """Nothing runs twice, and the record is whole."""
    script(WRITE, {"text": "Done."})
    child = console.spawn("ask", "--root", console.files, "Add bread")
    child.expect_exact("yes / no / details >")
    child.kill(9)
    child.expect(pexpect.EOF)
    child.wait()
    script({"text": "Hello."})
    ended = console.run("ask", "Hi")
    assert (ended.code, ended.out) == (0, "Hello.\n")
    assert "an earlier turn was interrupted" in ended.err
    assert "undo" not in ended.err
    assert not (console.files / "list.md").exists()
    assert console.run("audit", "verify").code == 0
