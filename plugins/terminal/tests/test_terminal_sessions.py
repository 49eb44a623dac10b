"""Whole sessions on a real pseudo-terminal."""

from __future__ import annotations

import re
import signal
import stat
from pathlib import Path

import pexpect
import pytest
from terminal_sessions import Spawn, assert_cursor_shown, at_prompt, chat, leave, seen


def test_a_message_is_answered_in_rendered_markdown(spawn: Spawn) -> None:
    """The first sign of work comes before the answer."""
    child = chat(spawn, "hello", "thinking")
    child.expect_exact("got 5 characters: \x1b[1mhello")
    leave(child)


def test_ctrl_c_cancels_the_turn_and_not_the_program(spawn: Spawn) -> None:
    """What was streamed before stays, and the next message is answered."""
    child = chat(spawn, "work", "fs_search ~/notes")
    child.expect_exact("half an ans")
    child.sendcontrol("c")
    child.expect_exact("<<cancelled>>")
    child.expect_exact("half an ans")
    child.expect_exact("stopped")
    at_prompt(child)
    assert_cursor_shown(seen(child))
    child.send("again\r")
    child.expect_exact("got 5 characters")
    leave(child)


def test_ctrl_c_at_an_empty_prompt_says_how_to_leave(spawn: Spawn) -> None:
    """With text in the line it only clears the line."""
    child = spawn("serve")
    at_prompt(child)
    child.sendcontrol("c")
    child.expect_exact("press Ctrl-D or type /quit")
    at_prompt(child)
    child.send("/quit\r")
    child.expect(pexpect.EOF)
    child.wait()
    assert child.exitstatus == 0


def test_a_crash_leaves_the_text_and_the_cursor(spawn: Spawn) -> None:
    """Even a bug does not lose what was streamed."""
    child = spawn("crash")
    child.expect_exact("RuntimeError: bug")
    child.expect(pexpect.EOF)
    last_frame = seen(child)
    assert "half an ans" in last_frame
    assert_cursor_shown(last_frame)


def test_ctrl_c_outside_the_chat_leaves_the_text_and_the_cursor(spawn: Spawn) -> None:
    """A single question ends by the ordinary interrupt."""
    child = spawn("work")
    child.expect_exact("half an ans")
    child.sendcontrol("c")
    child.expect_exact("<<cancelled>>")
    child.expect(pexpect.EOF)
    assert_cursor_shown(seen(child))
    assert seen(child).count("half an ans") > 1


def test_a_killed_program_leaves_the_cursor(spawn: Spawn) -> None:
    """No handler runs then: every frame itself shows the cursor again."""
    child = spawn("work")
    child.expect_exact("fs_search")
    child.kill(signal.SIGKILL)
    child.expect(pexpect.EOF)
    assert_cursor_shown(seen(child))


def test_an_error_for_people_is_one_line(spawn: Spawn) -> None:
    """No traceback, and the chat goes on."""
    child = chat(spawn, "fail", "no model is set up; run myclaw setup")
    leave(child)
    assert "Traceback" not in seen(child)


@pytest.mark.parametrize("environ", [{"TERM": "dumb"}, {"NO_COLOR": "1"}])
def test_a_plain_terminal_says_once_what_is_held(spawn: Spawn, environ: dict[str, str]) -> None:
    """There is nowhere to count down."""
    child = spawn("serve", **environ)
    at_prompt(child)
    child.send("hold\r")
    child.expect_exact("mail to Ada: sent in 10:00; /undo recalls it")
    leave(child)
    assert seen(child).count("mail to Ada") == 1


@pytest.mark.parametrize("environ", [{"TERM": "dumb"}, {"NO_COLOR": "1"}])
def test_a_plain_terminal_gets_lines_without_any_escape(spawn: Spawn, environ: dict[str, str]) -> None:
    """Status is a line, answers are the Markdown itself."""
    child = spawn("serve", **environ)
    at_prompt(child)
    child.send("hello\r")
    child.expect_exact("… thinking")
    child.expect_exact("got 5 characters: **hello**")
    at_prompt(child)
    child.send("ask 1\r")
    child.expect_exact("details >")
    child.send("y\r")
    child.expect_exact("<<reply 1 True cli:me>>")
    at_prompt(child)
    child.sendcontrol("c")
    child.expect_exact("press Ctrl-D or type /quit")
    leave(child)
    assert "\x1b" not in seen(child)


def test_a_long_paste_is_one_message(spawn: Spawn) -> None:
    """Far longer than a terminal's own line, with line feeds inside."""
    pasted = "word " * 2000 + "\nsecond line"
    child = spawn("serve")
    at_prompt(child)
    child.send(f"\x1b[200~{pasted}\x1b[201~\r")
    child.expect_exact(f"got {len(pasted)} characters")
    leave(child)


def test_messages_are_kept_in_a_private_history(spawn: Spawn, tmp_path: Path) -> None:
    """The next session finds them with the up key."""
    first = spawn("serve")
    at_prompt(first)
    first.send("remember\r")
    first.expect_exact("got 8 characters")
    leave(first)
    history = tmp_path / "state" / "history"
    assert stat.S_IMODE(history.stat().st_mode) == 0o600
    second = spawn("serve")
    at_prompt(second)
    second.send("\x1b[A\r")
    second.expect_exact("got 8 characters")
    leave(second)


def test_slash_commands_complete(spawn: Spawn) -> None:
    """The tab key fills in the only command that fits."""
    child = spawn("serve")
    at_prompt(child)
    child.send("/sta\t")
    child.expect_exact("tus")
    child.send("\r")
    child.expect_exact("ran /status")
    leave(child)


def test_a_turn_closes_with_what_was_done(spawn: Spawn) -> None:
    """Answer first, then the steps, then the sums."""
    child = chat(spawn, "steps", "Done.")
    child.expect_exact("done: fs_write /srv/notes/a.md (undo: /undo)")
    child.expect_exact("1 step")
    leave(child)


def test_the_spinner_is_gone_from_the_final_screen(spawn: Spawn) -> None:
    """Each spinner row is erased before the answer becomes final."""
    child = chat(spawn, "hello", "got 5 characters")
    leave(child)
    frames = re.findall(r"\x1b\[\?25l(.*?)\x1b\[\?25h", seen(child), re.DOTALL)
    after = frames[max(n for n, frame in enumerate(frames) if "thinking" in frame) + 1]
    assert after.startswith("\r")
    assert "\x1b[J" in after
