"""Questions on a real pseudo-terminal: cards, answers, keys and commands at them."""

from __future__ import annotations

import signal
from pathlib import Path

import pexpect
import pytest
from terminal_sessions import Spawn, at_prompt, chat, leave, seen


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


def test_a_card_is_answered_after_details_and_a_wrong_key(spawn: Spawn) -> None:
    """Enter alone is no answer."""
    child = chat(spawn, "ask 1", "Write file 1")
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


def test_what_a_change_adds_and_takes_away_has_a_colour(spawn: Spawn) -> None:
    """Where there is one."""
    child = chat(spawn, "ask 1", "changes")
    child.expect(r"\x1b\[[\d;]*32m *\+a")
    child.expect(r"\x1b\[[\d;]*31m *-b")
    child.expect_exact("details >")
    child.send("n\r")
    leave(child)


def test_a_refused_answer_is_asked_again(spawn: Spawn) -> None:
    """The reading pause says how long it still takes."""
    child = chat(spawn, "ask 1", "yes / no / details >", DRIVER_REFUSE="1")
    child.send("yes\r")
    child.expect_exact("read first, 3 s left")
    child.expect_exact("yes / no / details >")
    child.send("yes\r")
    child.expect_exact("<<reply 1 True cli:me>>")
    child.expect_exact("asking is over")
    leave(child)


def test_several_cards_are_numbered_and_ctrl_d_is_no(spawn: Spawn) -> None:
    """Each is answered alone."""
    child = chat(spawn, "ask 3", "3 actions need an answer")
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
    child = chat(spawn, "ask 2", "details >", TERM=term)
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
    child = chat(spawn, "ask 1", "details >")
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
    child = chat(spawn, "blocked", "<<busy>>", TERM=term)
    child.send("y\r")
    child.expect_exact("details >")
    child.send("n\r")
    child.expect_exact("<<reply 1 False cli:me>>")
    leave(child)
    assert "True" not in seen(child)


@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_a_line_typed_before_a_card_was_seen_is_a_message_and_no_answer(spawn: Spawn, term: str) -> None:
    """It is queued and told so; it runs once the turn is over."""
    child = chat(spawn, "late", "<<busy>>", TERM=term)
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
    child = chat(spawn, "late", "<<busy>>")
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
    child = chat(spawn, "ask 1", "details >", TERM=term)
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
    child = chat(spawn, "ask 2", "details >", TERM=term)
    child.send(f"{command}\r")
    child.expect_exact("<<cancelled>>")
    child.expect_exact("stopped")
    if command == "/undo":
        child.expect_exact("ran /undo")
    leave(child)
    assert "<<reply" not in seen(child)


def test_a_fault_in_the_background_does_not_take_the_question_away(spawn: Spawn) -> None:
    child = chat(spawn, "stray", "ZeroDivisionError")
    child.send("yes\r")
    child.expect_exact("<<reply 1 True cli:me>>")
    assert "Press ENTER" not in seen(child)
    leave(child)


def asked_after(spawn: Spawn, typed: str) -> pexpect.spawn[str]:
    """Type something during a turn that asks afterwards; return once the question is there."""
    child = chat(spawn, "late", "<<busy>>")
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
    child = chat(spawn, "ask 1", "the target's name for yes / no / details >", TERM=term, DRIVER_TUTOR="1")
    child.send("yes\r")
    child.expect_exact("this one must be checked")
    child.expect_exact("the target's name for yes / no / details >")
    child.send("a.md\r")
    child.expect_exact("<<reply 1 True cli:me>>")
    leave(child)


@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_one_no_among_three_answers_only_its_own_card(spawn: Spawn, term: str) -> None:
    """The others are seen together and granted together."""
    child = chat(spawn, "ask 3", "3 actions need an answer:", TERM=term, DRIVER_BATCH="1")
    child.expect_exact("1 of 3")
    child.expect_exact("details >")
    child.send("no\r")
    child.expect_exact("<<reply 1 False cli:me>>")
    child.expect_exact("2 of 3")
    child.expect_exact("details >")
    child.send("all\r")
    child.expect_exact("<<reply 2 True cli:me also 3>>")
    leave(child)
