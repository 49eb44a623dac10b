"""What should be otherwise about a draft, typed at its question on a real pseudo-terminal."""

from __future__ import annotations

import pexpect
import pytest
from terminal_sessions import Spawn, chat, leave, seen

QUESTION = "yes / no / details / revise >"
STAGE = "what is made anew: spec / draft >"
TEXT = "what should be otherwise, in one line >"
both = pytest.mark.parametrize("term", ["xterm-256color", "dumb"])


def revising(spawn: Spawn, term: str = "xterm-256color", **environ: str) -> pexpect.spawn[str]:
    """Answer a question about a draft with `r`; return once it is asked what is made anew."""
    child = chat(spawn, "ask 1", QUESTION, TERM=term, DRIVER_REVISE="1", **environ)
    child.send("r\r")
    child.expect_exact(STAGE)
    return child


@both
def test_a_draft_is_revised_by_two_further_lines(spawn: Spawn, term: str) -> None:
    """The stage by its word or letter, then a text."""
    child = revising(spawn, term)
    child.send("other\r")
    child.expect_exact("type spec or draft; enter alone goes back")
    child.expect_exact(STAGE)
    child.send("D\r")
    child.expect_exact(TEXT)
    child.send("  yes, but shorter \r")
    child.expect_exact("<<reply 1 False cli:me draft: yes, but shorter>>")
    child.expect_exact("asking is over")
    leave(child)


@both
def test_enter_alone_goes_back_to_the_question(spawn: Spawn, term: str) -> None:
    """From both of them; the card is shown once more."""
    child = revising(spawn, term)
    child.send("\r")
    child.expect_exact("Write file 1")
    child.expect_exact(QUESTION)
    child.send("revise\r")
    child.expect_exact(STAGE)
    child.send("spec\r")
    child.expect_exact(TEXT)
    child.send("\r")
    child.expect_exact("Write file 1")
    child.expect_exact(QUESTION)
    child.send("y\r")
    child.expect_exact("<<reply 1 True cli:me>>")
    leave(child)


@pytest.mark.parametrize("key", ["c", "d"])
def test_ctrl_c_and_ctrl_d_go_back_to_the_question(spawn: Spawn, key: str) -> None:
    """Neither stops the turn nor answers; at the question itself Ctrl-D is no, as ever."""
    child = revising(spawn)
    child.sendcontrol(key)
    child.expect_exact(QUESTION)
    child.send("r\r")
    child.expect_exact(STAGE)
    child.send("s\r")
    child.expect_exact(TEXT)
    child.send("half of it")
    child.sendcontrol("c")
    child.expect_exact(QUESTION)
    child.sendcontrol("d")
    child.expect_exact("<<reply 1 False cli:me>>")
    leave(child)
    assert "<<cancelled>>" not in seen(child)


def test_ctrl_c_stops_the_turn_where_the_terminal_only_prints(spawn: Spawn) -> None:
    """There it is the signal, as at the question itself; nothing was answered."""
    child = revising(spawn, "dumb")
    child.sendcontrol("c")
    child.expect_exact("<<cancelled>>")
    leave(child)
    assert "<<reply" not in seen(child)


def test_a_pasted_text_counts_as_one_line(spawn: Spawn) -> None:
    """It is a text and no answer; what the keys after it say is a part of it."""
    child = revising(spawn)
    child.send("s\r")
    child.expect_exact(TEXT)
    child.send("\x1b[200~say it\r  in two\nlines\x1b[201~ at most\r")
    child.expect_exact("<<reply 1 False cli:me spec: say it in two lines at most>>")
    leave(child)


@both
def test_a_command_in_place_of_the_text_is_run(spawn: Spawn, term: str) -> None:
    """It is no text; `/stop` stops the turn there, too."""
    child = revising(spawn, term)
    child.send("spec\r")
    child.expect_exact(TEXT)
    child.send("/status\r")
    child.expect_exact("ran /status")
    child.expect_exact(QUESTION)
    child.send("r\r")
    child.expect_exact(STAGE)
    child.send("/stop\r")
    child.expect_exact("<<cancelled>>")
    leave(child)
    assert "<<reply" not in seen(child)


def test_a_text_that_is_too_long_is_asked_for_again(spawn: Spawn) -> None:
    child = revising(spawn)
    child.send("s\r")
    child.expect_exact(TEXT)
    child.send("x" * 2001 + "\r")
    child.expect_exact("this text has 2001 characters, at most 2000 are taken")
    child.expect_exact(TEXT)
    child.send("shorter\r")
    child.expect_exact("<<reply 1 False cli:me spec: shorter>>")
    leave(child)


def test_a_refused_revision_leaves_the_question(spawn: Spawn) -> None:
    child = revising(spawn, DRIVER_REFUSE="1")
    child.send("s\r")
    child.expect_exact(TEXT)
    child.send("other\r")
    child.expect_exact("read first, 3 s left")
    child.expect_exact(QUESTION)
    child.send("n\r")
    child.expect_exact("<<reply 1 False cli:me>>")
    leave(child)


def test_any_other_question_takes_no_revision(spawn: Spawn) -> None:
    child = chat(spawn, "ask 1", "yes / no / details >")
    child.send("r\r")
    child.expect_exact("type yes, no or details, or never")
    child.expect_exact("details >")
    child.send("n\r")
    child.expect_exact("<<reply 1 False cli:me>>")
    leave(child)
