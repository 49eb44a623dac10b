"""Answers that hold for more than one question, typed at a real terminal."""

from __future__ import annotations

import re
from typing import Any

import pexpect

from .conftest import finish, shown

PROMPT = re.compile(r"\x1b\[\?2004h")
ANSWER = "yes / no / details >"


def write(*names: str) -> dict[str, Any]:
    return {"tool_calls": [{"tool": "fs_write", "args": {"path": name, "content": f"{name}\n"}} for name in names]}


def say(child: pexpect.spawn[str], text: str) -> None:
    child.expect(PROMPT)
    child.send(f"{text}\r")


def answer(child: pexpect.spawn[str], text: str) -> None:
    child.expect_exact(ANSWER)
    child.send(f"{text}\r")


def test_a_group_is_answered_in_part_together_and_for_a_while(console: Any, script: Any) -> None:
    """No to the first, all of the rest, then the same again without a question until it is revoked."""
    done = {"text": "Done."}
    script(write("1.md", "2.md", "3.md"), done, write("4.md"), done, write("5.md"), done, write("6.md"), done)
    child = console.spawn("--root", console.files)

    say(child, "Write three")
    child.expect_exact("3 actions need an answer:")
    answer(child, "no")
    child.expect_exact("2 of 3:")
    answer(child, "all")
    child.expect_exact("that answers 1 other question, too")
    say(child, "Write one")
    answer(child, "30 min")
    say(child, "Write one more")
    child.expect_exact("done as granted: fs_write")
    say(child, "/status")
    child.expect_exact("(used 1 time)")
    say(child, "/revoke 1")
    child.expect_exact("ended: ")
    say(child, "Write the last")
    answer(child, "never")
    child.expect_exact("you said no")
    say(child, "/never")
    child.expect_exact("takes one off")
    say(child, "/never remove 1")
    answer(child, "yes")
    child.expect_exact("taken off: ")
    child.expect(PROMPT)
    child.sendeof()

    assert finish(child) == 0
    assert sorted(path.name for path in console.files.iterdir()) == ["2.md", "3.md", "4.md", "5.md"]
    output = shown(child)
    assert "similar ones too, fs_write doing fs_write:" in output
    assert f"1: fs_write doing fs_write:{console.files}/* until" in output
    assert f"taken off: fs_write doing fs_write:{console.files}/*" in output
    assert console.run("audit", "verify").code == 0


def test_a_grant_for_good_holds_in_the_next_run_where_nobody_can_be_asked(console: Any, script: Any) -> None:
    """For the same call in the same folder, and no other."""
    script(write("1.md"), {"text": "Done."})
    child = console.spawn("ask", "--root", console.files, "Write")
    answer(child, "always")
    assert finish(child) == 0
    script(write("1.md"), {"text": "Done."})
    assert console.run("ask", "--root", console.files, "Write").code == 0
    script(write("2.md"), {"text": "Done."})
    assert console.run("ask", "--root", console.files, "Write").code == 1


def test_after_some_yeses_the_name_of_the_target_is_wanted(console: Any, script: Any) -> None:
    """The word yes is not enough for that one."""
    rounds = [reply for name in ("1.md", "2.md", "3.md") for reply in (write(name), {"text": "Done."})]
    script(*rounds)
    config = console.home / "config.toml"
    config.write_text(config.read_text().replace("[approval]\n", "[approval]\ntutor_every = 2\n"))
    child = console.spawn("--root", console.files)
    for _ in range(2):
        say(child, "Write")
        answer(child, "yes")
    say(child, "Write")
    child.expect_exact("the target's name for yes / no / details >")
    child.send("yes\r")
    child.expect_exact("this one must be checked")
    child.expect_exact("the target's name for yes / no / details >")
    child.send("3.md\r")
    child.expect_exact("1 step")
    child.expect(PROMPT)
    child.sendeof()
    assert finish(child) == 0
    assert (console.files / "3.md").exists()


def test_what_a_run_left_is_answered_in_a_conversation(console: Any, script: Any) -> None:
    """It says so at its start; `/pending` puts it, and `/undo` takes it back."""
    script(write("1.md"), {"text": "Not done."})
    assert console.run("ask", "--root", console.files, "Write").code == 1
    child = console.spawn("--root", console.files)
    child.expect_exact("questions that runs without you left: 1; /pending shows them")
    child.send("/pending\r")
    child.expect_exact("a run without you wanted it on")
    answer(child, "yes")
    child.expect_exact("done:")
    assert (console.files / "1.md").exists()
    child.send("/undo\r")
    child.expect_exact("undone")
    assert not (console.files / "1.md").exists()
    child.sendeof()
    finish(child)
