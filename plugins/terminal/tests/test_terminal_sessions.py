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
    """A yes that nobody had read when the card came is dropped."""
    child = spawn("serve", TERM=term)
    at_prompt(child)
    child.send("blocked\r")
    child.expect_exact("<<busy>>")
    child.send("y\r")
    child.expect_exact("details >")
    child.send("n\r")
    child.expect_exact("<<reply 1 False cli:me>>")
    leave(child)
    assert "True" not in seen(child)


@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_a_line_typed_before_a_card_was_seen_is_a_message_and_no_answer(spawn: Spawn, term: str) -> None:
    """It is queued and told so; it runs once the turn is over."""
    child = spawn("serve", TERM=term)
    at_prompt(child)
    child.send("late\r")
    child.expect_exact("<<busy>>")
    child.send("yes\r")
    child.expect_exact("queued: yes; /stop stops what runs and drops what waits")
    child.kill(signal.SIGUSR1)
    child.expect_exact("details >")
    child.send("n\r")
    child.expect_exact("<<reply 1 False cli:me>>")
    child.expect_exact("got 3 characters")
    leave(child)
    assert "True" not in seen(child)


def test_what_is_half_typed_when_a_card_comes_is_no_part_of_a_later_line(spawn: Spawn) -> None:
    """It neither answers the card nor is it lost: the up key brings it back."""
    child = spawn("serve")
    at_prompt(child)
    child.send("late\r")
    child.expect_exact("<<busy>>")
    child.send("half a line")
    child.expect_exact("> half a line")
    child.kill(signal.SIGUSR1)
    child.expect_exact("not sent: half a line; the up key brings it back")
    child.expect_exact("details >")
    child.send("n\r")
    child.expect_exact("<<reply 1 False cli:me>>")
    child.expect_exact("asking is over")
    at_prompt(child)
    child.send("other\r")
    child.expect_exact("got 5 characters")
    at_prompt(child)
    child.send("\x1b[A\x1b[A\r")
    child.expect_exact("got 11 characters")
    leave(child)


@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_a_command_typed_at_a_question_is_run_and_the_question_is_shown_again(spawn: Spawn, term: str) -> None:
    """It is no answer."""
    child = spawn("serve", TERM=term)
    at_prompt(child)
    child.send("ask 1\r")
    child.expect_exact("details >")
    child.send("/status\r")
    child.expect_exact("ran /status")
    child.expect_exact("Write file 1")
    child.expect_exact("details >")
    child.send("/nonsense\r")
    child.expect_exact("type yes, no or details, or never")
    child.expect_exact("details >")
    child.send("y\r")
    child.expect_exact("<<reply 1 True cli:me>>")
    leave(child)


@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
@pytest.mark.parametrize("command", ["/stop", "/undo"])
def test_stop_and_undo_at_a_question_stop_the_turn(spawn: Spawn, term: str, command: str) -> None:
    """No answer is a no; what is to be taken back is taken back afterwards."""
    child = spawn("serve", TERM=term)
    at_prompt(child)
    child.send("ask 2\r")
    child.expect_exact("details >")
    child.send(f"{command}\r")
    child.expect_exact("<<cancelled>>")
    child.expect_exact("stopped")
    if command == "/undo":
        child.expect_exact("ran /undo")
    leave(child)
    assert "<<reply" not in seen(child)


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
    """It is queued in order and told so, not lost."""
    child = spawn("serve", TERM=term)
    at_prompt(child)
    child.send("slow\r")
    child.expect_exact("<<busy>>")
    child.send("next one\r")
    child.expect_exact("queued: next one; /stop stops what runs and drops what waits")
    child.send("\r  \rthe third\r")
    child.expect_exact("queued: the third; /stop stops what runs and drops what waits")
    child.kill(signal.SIGUSR1)
    child.expect_exact("got 4 characters")
    child.expect_exact("> next one")
    child.expect_exact("got 8 characters")
    child.expect_exact("> the third")
    child.expect_exact("got 9 characters")
    leave(child)


@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_stop_stops_what_runs_and_drops_what_waits(spawn: Spawn, term: str) -> None:
    """It is told, and the history has it."""
    child = spawn("serve", TERM=term)
    at_prompt(child)
    child.send("work\r")
    child.expect_exact("half an ans")
    child.send("next one\r")
    child.expect_exact("queued: next one")
    child.send("/stop\r")
    child.expect_exact("1 message that waited was dropped")
    child.expect_exact("<<cancelled>>")
    child.expect_exact("stopped")
    leave(child)
    assert "got 8" not in seen(child)


def test_ctrl_c_drops_what_waits_too_but_not_the_wish_to_leave(spawn: Spawn) -> None:
    """The up key brings a message back."""
    child = spawn("serve")
    at_prompt(child)
    child.send("work\r")
    child.expect_exact("half an ans")
    child.send("next one\r")
    child.expect_exact("queued: next one")
    child.sendcontrol("c")
    child.expect_exact("1 message that waited was dropped")
    child.expect_exact("stopped")
    at_prompt(child)
    child.send("\x1b[A\r")
    child.expect_exact("got 8 characters")
    child.send("work\r")
    child.expect_exact("half an ans")
    child.sendcontrol("d")
    child.expect_exact("queued: /quit")
    child.sendcontrol("c")
    child.expect(pexpect.EOF)


@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_undo_stops_what_runs_and_then_takes_back(spawn: Spawn, term: str) -> None:
    """Before anything that is queued."""
    child = spawn("serve", TERM=term)
    at_prompt(child)
    child.send("work\r")
    child.expect_exact("half an ans")
    child.send("next one\r")
    child.expect_exact("queued: next one")
    child.send("/undo --force\r")
    child.expect_exact("<<cancelled>>")
    child.expect_exact("ran /undo --force")
    child.expect_exact("got 8 characters")
    leave(child)


@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_other_commands_answer_beside_the_turn(spawn: Spawn, term: str) -> None:
    """One that is not known says so, and the turn goes on."""
    child = spawn("serve", TERM=term)
    at_prompt(child)
    child.send("slow\r")
    child.expect_exact("<<busy>>")
    child.send("/status\r")
    child.expect_exact("ran /status")
    child.send("/odd\r")
    child.expect_exact("there is no command /odd")
    child.kill(signal.SIGUSR1)
    child.expect_exact("got 4 characters")
    leave(child)
    assert "cancelled" not in seen(child)


@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_ctrl_d_during_a_turn_leaves_after_it(spawn: Spawn, term: str) -> None:
    """And after what was queued before."""
    child = spawn("serve", TERM=term)
    at_prompt(child)
    child.send("slow\r")
    child.expect_exact("<<busy>>")
    child.send("next one\r")
    child.expect_exact("queued: next one")
    child.sendcontrol("d")
    child.expect_exact("queued: /quit")
    child.kill(signal.SIGUSR1)
    child.expect_exact("got 4 characters")
    child.expect_exact("got 8 characters")
    child.expect(pexpect.EOF)
    child.wait()
    assert child.exitstatus == 0


def test_what_is_typed_during_a_turn_stands_in_the_last_row_and_can_be_changed(spawn: Spawn) -> None:
    """The next prompt begins with what was not sent; keys that mean nothing there change nothing."""
    child = spawn("serve")
    at_prompt(child)
    child.send("work\r")
    child.expect_exact("half an ans")
    child.send("gone\x15one tow\x17he\x1b[A\x1b[Dk\x7fll")
    child.expect_exact("> one hell")
    child.sendcontrol("c")
    child.expect_exact("stopped")
    at_prompt(child)
    child.send("o\r")
    child.expect_exact("got 9 characters")
    leave(child)


def test_several_lines_pasted_during_a_turn_are_one_message(spawn: Spawn) -> None:
    """As they are at the prompt."""
    child = spawn("serve")
    at_prompt(child)
    child.send("slow\r")
    child.expect_exact("<<busy>>")
    child.send("\x1b[200~one\rtwo\x1b[201~\r")
    child.expect_exact("queued: one␊two")
    child.kill(signal.SIGUSR1)
    child.expect_exact("got 7 characters")
    leave(child)


def asked_after(spawn: Spawn, typed: str) -> pexpect.spawn[str]:
    """Type something during a turn that asks afterwards; return once the question is there."""
    child = spawn("serve")
    at_prompt(child)
    child.send("late\r")
    child.expect_exact("<<busy>>")
    child.send(f"seen{typed}")
    child.expect_exact("> seen")
    child.kill(signal.SIGUSR1)
    child.expect_exact("yes / no")
    return child


@pytest.mark.parametrize("typed", ["\x1b[200~half of a paste", "\x1b[200~half\x1b[20", "\x1b[", "\x1b[200", "\x1bO"])
def test_a_question_in_the_middle_of_a_paste_or_of_a_key_can_be_answered(spawn: Spawn, typed: str) -> None:
    """The rest never comes; the first key of the answer counts."""
    child = asked_after(spawn, typed)
    child.send("n\r")
    child.expect_exact("<<reply 1 False cli:me>>")


@pytest.mark.parametrize(
    "pasted", ["\x1b[200~yes\x1b[201~\r", "\x1b[200~yes\ry\r\x1b[201~", "\x1b[200~milk\x1b[201~\x15yes\r\x1b[201~"]
)
def test_what_is_pasted_answers_no_question(spawn: Spawn, pasted: str) -> None:
    """Not even where it holds the mark of its own end; what is typed afterwards does."""
    child = asked_after(spawn, "")
    child.send(pasted)
    child.expect_exact("type yes, no or details")
    child.expect_exact("yes / no")
    child.send("n\r")
    child.expect_exact("<<reply 1 False cli:me>>")
    assert "True" not in seen(child)


def test_a_command_beside_the_turn_does_not_tear_the_answer(spawn: Spawn) -> None:
    """A block of code that grows stays one block."""
    child = spawn("serve")
    at_prompt(child)
    child.send("code\r")
    child.expect_exact("<<busy>>")
    child.send("/status\r")
    child.expect_exact("ran /status")
    child.kill(signal.SIGUSR1)
    child.expect_exact("last")
    leave(child)
    assert "`" not in seen(child)


def test_what_is_held_is_counted_down_at_the_prompt_until_it_is_recalled(spawn: Spawn) -> None:
    """With how to recall it; only the digits that changed are written again."""
    child = spawn("serve")
    at_prompt(child)
    child.send("hold\r")
    child.expect(r"mail to Ada: sent in \d+:\d\d; /undo recalls it")
    at_prompt(child)
    child.expect(r"mail to Ada: sent in \d+:\d\d; /undo recalls it")
    child.expect(r"\x1b\[0m\d+\x1b")
    child.send("/recall\r")
    child.expect_exact("ran /recall")
    at = len(seen(child))
    at_prompt(child)
    child.send("hello\r")
    child.expect_exact("got 5 characters")
    leave(child)
    assert "mail to Ada" not in seen(child)[at:]


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


def test_a_card_counts_down_its_reading_pause_and_its_expiry(spawn: Spawn) -> None:
    """Only the part that changed is written again; neither stays in what was answered."""
    child = spawn("serve", DRIVER_PAUSE="600")
    at_prompt(child)
    child.send("ask 1\r")
    child.expect(r"read first: a yes counts in \d+:\d\d · open for \d+:\d\d; no answer is no")
    child.expect_exact("yes / no / details >")
    child.expect(r"\x1b\[0m\d+\x1b")
    child.send("n\r")
    child.expect_exact("<<reply 1 False cli:me>>")
    leave(child)


@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_a_card_that_must_be_checked_takes_the_targets_name_alone(spawn: Spawn, term: str) -> None:
    """A plain yes asks again."""
    child = spawn("serve", TERM=term, DRIVER_TUTOR="1")
    at_prompt(child)
    child.send("ask 1\r")
    child.expect_exact("the target's name for yes / no / details >")
    child.send("yes\r")
    child.expect_exact("this one must be checked")
    child.expect_exact("the target's name for yes / no / details >")
    child.send("a.md\r")
    child.expect_exact("<<reply 1 True cli:me>>")
    leave(child)


@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_one_no_among_three_answers_only_its_own_card(spawn: Spawn, term: str) -> None:
    """The others are seen together and granted together."""
    child = spawn("serve", TERM=term, DRIVER_BATCH="1")
    at_prompt(child)
    child.send("ask 3\r")
    child.expect_exact("3 actions need an answer:")
    child.expect_exact("1 of 3")
    child.expect_exact("details >")
    child.send("no\r")
    child.expect_exact("<<reply 1 False cli:me>>")
    child.expect_exact("2 of 3")
    child.expect_exact("details >")
    child.send("all\r")
    child.expect_exact("<<reply 2 True cli:me also 3>>")
    leave(child)
