"""Whole sessions on a real pseudo-terminal."""

from __future__ import annotations

import io
import re
import signal
import stat
from collections.abc import Callable
from pathlib import Path

import pexpect
import pytest

Spawn = Callable[..., "pexpect.spawn[str]"]
HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"


def seen(child: pexpect.spawn[str]) -> str:
    """Return everything the terminal got so far."""
    assert isinstance(child.logfile_read, io.StringIO)
    return child.logfile_read.getvalue()


def at_prompt(child: pexpect.spawn[str]) -> None:
    """Wait until the chat takes a message; an editing prompt begins by asking for bracketed pastes."""
    child.expect(r"\x1b\[\?2004h|> ")


def leave(child: pexpect.spawn[str]) -> None:
    """Press Ctrl-D at the prompt and expect a clean end with a cursor."""
    at_prompt(child)
    child.sendcontrol("d")
    child.expect(pexpect.EOF)
    child.wait()
    assert child.exitstatus == 0
    assert_cursor_shown(seen(child))


def assert_cursor_shown(output: str) -> None:
    """Fail where the last thing done to the cursor was hiding it."""
    assert output.rfind(SHOW) >= output.rfind(HIDE)


def test_a_message_is_answered_in_rendered_markdown(spawn: Spawn) -> None:
    """The first sign of work comes before the answer."""
    child = spawn("serve")
    at_prompt(child)
    child.send("hello\r")
    child.expect_exact("thinking")
    child.expect_exact("got 5 characters: \x1b[1mhello")
    leave(child)


def test_ctrl_c_cancels_the_turn_and_not_the_program(spawn: Spawn) -> None:
    """What was streamed before stays, and the next message is answered."""
    child = spawn("serve")
    at_prompt(child)
    child.send("work\r")
    child.expect_exact("fs_search ~/notes")
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


def test_a_question_is_put_and_answered_in_the_language_of_the_person(spawn: Spawn, italian: Path) -> None:
    """With the letter with an accent, as a keyboard gives it."""
    child = spawn("ask 1", LANGUAGE="it", DRIVER_CATALOGUES=str(italian))
    child.expect_exact("perché si chiede")
    child.expect_exact("sì / no / dettagli >")
    child.send("boh\r")
    child.expect_exact("scrivi sì, no o dettagli")
    child.expect_exact("sì / no / dettagli >")
    child.send("sì\r")
    child.expect_exact("<<reply 1 True cli:me>>")
    child.expect(pexpect.EOF)


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
    child = spawn("serve")
    at_prompt(child)
    child.send("fail\r")
    child.expect_exact("no model is set up; run myclaw setup")
    leave(child)
    assert "Traceback" not in seen(child)


def test_a_card_is_answered_after_details_and_a_wrong_key(spawn: Spawn) -> None:
    """Enter alone is no answer."""
    child = spawn("serve")
    at_prompt(child)
    child.send("ask 1\r")
    child.expect_exact("Write file 1")
    child.expect_exact("yes / no / details >")
    child.send("\r")
    child.expect_exact("type yes, no or details")
    child.expect_exact("yes / no / details >")
    child.send("d\r")
    child.expect_exact("sha256")
    child.expect_exact("yes / no / details >")
    child.send("y\r")
    child.expect_exact("<<reply 1 True cli:me>>")
    child.expect_exact("asking is over")
    leave(child)


def test_a_refused_answer_is_asked_again(spawn: Spawn) -> None:
    """The reading pause says how long it still takes."""
    child = spawn("serve", DRIVER_REFUSE="1")
    at_prompt(child)
    child.send("ask 1\r")
    child.expect_exact("yes / no / details >")
    child.send("yes\r")
    child.expect_exact("read first, 3 s left")
    child.expect_exact("yes / no / details >")
    child.send("yes\r")
    child.expect_exact("<<reply 1 True cli:me>>")
    child.expect_exact("asking is over")
    leave(child)


def test_several_cards_are_numbered_and_ctrl_d_is_no(spawn: Spawn) -> None:
    """Each is answered alone."""
    child = spawn("serve")
    at_prompt(child)
    child.send("ask 3\r")
    child.expect_exact("3 actions need an answer")
    child.expect_exact("1 of 3")
    child.expect_exact("details >")
    child.send("n\r")
    child.expect_exact("<<reply 1 False cli:me>>")
    child.expect_exact("2 of 3")
    child.expect_exact("details >")
    child.sendcontrol("d")
    child.expect_exact("<<reply 2 False cli:me>>")
    child.expect_exact("3 of 3")
    child.expect_exact("details >")
    child.send("y\r")
    child.expect_exact("<<reply 3 True cli:me>>")
    leave(child)


@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_ctrl_c_at_a_card_cancels_the_turn(spawn: Spawn, term: str) -> None:
    """No answer is handed in, the chat goes on, and a later Ctrl-C still cancels."""
    child = spawn("serve", TERM=term)
    at_prompt(child)
    child.send("ask 2\r")
    child.expect_exact("details >")
    child.sendcontrol("c")
    child.expect_exact("<<cancelled>>")
    child.expect_exact("stopped")
    at_prompt(child)
    child.send("work\r")
    child.expect_exact("half an ans")
    child.sendcontrol("c")
    child.expect_exact("<<cancelled>>")
    child.expect_exact("stopped")
    leave(child)
    assert "<<reply" not in seen(child)


def test_ctrl_c_still_cancels_after_a_card_was_answered(spawn: Spawn) -> None:
    """The prompt of the card gives the signal back to the turn."""
    child = spawn("serve")
    at_prompt(child)
    child.send("ask 1\r")
    child.expect_exact("details >")
    child.send("y\r")
    child.expect_exact("asking is over")
    at_prompt(child)
    child.send("work\r")
    child.expect_exact("half an ans")
    child.kill(signal.SIGINT)
    child.expect_exact("<<cancelled>>")
    leave(child)


@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_keys_pressed_before_a_card_was_seen_do_not_answer_it(spawn: Spawn, term: str) -> None:
    """A yes typed ahead is dropped."""
    child = spawn("serve", TERM=term)
    at_prompt(child)
    child.send("late\r")
    child.expect_exact("<<busy>>")
    child.send("y\r")
    child.expect_exact("details >")
    child.send("n\r")
    child.expect_exact("<<reply 1 False cli:me>>")
    leave(child)
    assert "True" not in seen(child)


def test_a_fault_in_the_background_does_not_take_the_question_away(spawn: Spawn) -> None:
    child = spawn("serve")
    at_prompt(child)
    child.send("stray\r")
    child.expect_exact("ZeroDivisionError")
    child.send("yes\r")
    child.expect_exact("<<reply 1 True cli:me>>")
    assert "Press ENTER" not in seen(child)
    leave(child)


@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_a_message_typed_during_a_turn_is_the_next_one(spawn: Spawn, term: str) -> None:
    """It is queued, not lost."""
    child = spawn("serve", TERM=term)
    at_prompt(child)
    child.send("slow\r")
    child.expect_exact("<<busy>>")
    child.send("next one\r")
    child.expect_exact("got 4 characters")
    child.expect_exact("got 8 characters")
    leave(child)


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
    child = spawn("serve")
    at_prompt(child)
    child.send("steps\r")
    child.expect_exact("Done.")
    child.expect_exact("done: fs_write /srv/notes/a.md (undo: /undo)")
    child.expect_exact("1 step")
    leave(child)


def test_the_spinner_is_gone_from_the_final_screen(spawn: Spawn) -> None:
    """Each spinner row is erased before the answer becomes final."""
    child = spawn("serve")
    at_prompt(child)
    child.send("hello\r")
    child.expect_exact("got 5 characters")
    leave(child)
    frames = re.findall(r"\x1b\[\?25l(.*?)\x1b\[\?25h", seen(child), re.DOTALL)
    after = frames[max(n for n, frame in enumerate(frames) if "thinking" in frame) + 1]
    assert after.startswith("\r")
    assert "\x1b[J" in after
