"""What a run has sent is held until it ends: shown with its time, waited for, and recalled with Ctrl-C."""

from __future__ import annotations

import json
import signal
import subprocess

from .conftest import PROGRAM, finish, shown

LETTER = {"to": ["anna@friends.example"], "subject": "Saturday", "body": "At 10?"}
SEND = {"tool_calls": [{"tool": "mail_send", "args": LETTER}]}
MAIL = '[mail]\nhost = "localhost"\nport = 1\nfrom_address = "rosa@home.example"\n'
WORDS = "Write to anna@friends.example"


def states(console) -> list[str]:
    """Return the states of all messages, as a program reads them."""
    return [message["state"] for message in console.json("outbox", "list", "--json")]


def test_in_a_pipe_it_waits_with_one_line_and_an_interrupt_recalls(console, script) -> None:
    script(SEND, {"text": "Held."}, config=MAIL)
    process = subprocess.Popen(
        [PROGRAM, "ask", "--level", "full", WORDS],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=console.environ,
        cwd=console.person,
    )
    line = next(line for line in process.stderr if "is held" in line)
    assert line.startswith("myclaw: 1 message is held and sent in 1")
    assert states(console) == ["held"]
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "Held.\n")
    assert "recalled: mail_send to anna@friends.example; nothing was sent" in err
    assert states(console) == ["recalled"]
    assert "recalled" in console.run("outbox", "list").out
    assert "mail_send to mail:anna@friends.example: recalled" in console.run("audit", "show").out


def test_on_a_terminal_it_counts_down_and_ctrl_c_recalls(console, script) -> None:
    script(SEND, {"text": "Held."}, config=MAIL)
    child = console.spawn("ask", "--level", "full", WORDS)
    child.expect_exact("1 message is held and sent in")
    child.expect_exact("1 message is held and sent in")
    child.sendintr()
    assert finish(child) == 130
    assert "recalled: mail_send to anna@friends.example" in shown(child)
    assert states(console) == ["recalled"]


def test_a_program_that_is_killed_in_the_hold_sends_nothing_and_the_next_start_says_so(console, script) -> None:
    script(SEND, {"text": "Held."}, config=MAIL)
    child = console.spawn("ask", "--level", "full", WORDS)
    child.expect_exact("1 message is held and sent in")
    child.kill(signal.SIGKILL)
    child.wait()
    assert "the program that held it is gone; it will not be sent" in console.run("outbox", "list").out
    script({"text": "Hello."}, config=MAIL)
    ended = console.run("ask", "Hi")
    assert ended.out == "Hello.\n"
    assert "not sent: mail_send to anna@friends.example: the program ended during its hold" in ended.err
    assert states(console) == ["dropped"]


def test_undo_in_another_shell_recalls(console, script) -> None:
    script(SEND, {"text": "Held."}, config=MAIL)
    child = console.spawn("ask", "--level", "full", WORDS)
    child.expect_exact("1 message is held and sent in")
    undone = console.run("undo", "--json")
    assert undone.code == 0
    assert json.loads(undone.out)
    assert states(console) == ["recalled"]
    child.kill(signal.SIGKILL)
    child.wait()


def test_a_hold_of_nothing_is_refused(console) -> None:
    console.configure("[outbox]\nhold_s = 0\n")
    ended = console.run("outbox", "list")
    assert "hold_s" in ended.err
    ended = console.run("ask", "Hi")
    assert ended.code == 2
    assert "hold_s" in ended.err
