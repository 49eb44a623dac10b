"""What is typed on a real pseudo-terminal while a turn runs, and what waits to be sent."""

from __future__ import annotations

import signal

import pexpect
import pytest
from terminal_sessions import Spawn, at_prompt, chat, leave, seen


@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_a_message_typed_during_a_turn_is_the_next_one(spawn: Spawn, term: str) -> None:
    """It is queued in order and told so, not lost."""
    child = chat(spawn, "slow", "<<busy>>", TERM=term)
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
    child = chat(spawn, "work", "half an ans", TERM=term)
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
    child = chat(spawn, "work", "half an ans")
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
    child = chat(spawn, "work", "half an ans", TERM=term)
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
    child = chat(spawn, "slow", "<<busy>>", TERM=term)
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
    child = chat(spawn, "slow", "<<busy>>", TERM=term)
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
    child = chat(spawn, "work", "half an ans")
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
    child = chat(spawn, "slow", "<<busy>>")
    child.send("\x1b[200~one\rtwo\x1b[201~\r")
    child.expect_exact("queued: one␊two")
    child.kill(signal.SIGUSR1)
    child.expect_exact("got 7 characters")
    leave(child)


def test_a_command_beside_the_turn_does_not_tear_the_answer(spawn: Spawn) -> None:
    """A block of code that grows stays one block."""
    child = chat(spawn, "code", "<<busy>>")
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
