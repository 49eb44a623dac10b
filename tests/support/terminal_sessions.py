"""What tests of whole sessions on a pseudo-terminal share."""

from __future__ import annotations

import io
from collections.abc import Callable

import pexpect

__all__ = ["HIDE", "SHOW", "Spawn", "assert_cursor_shown", "at_prompt", "chat", "leave", "seen"]

Spawn = Callable[..., "pexpect.spawn[str]"]
HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"


def seen(child: pexpect.spawn[str]) -> str:
    """Return everything the terminal got so far."""
    assert isinstance(child.logfile_read, io.StringIO)
    return child.logfile_read.getvalue()


def at_prompt(child: pexpect.spawn[str]) -> None:
    """Wait until the chat takes a message; an editing prompt begins by asking for bracketed pastes."""
    child.expect(r"\x1b\[\?2004h|> ")


def chat(spawn: Spawn, typed: str, shown: str, **environ: str) -> pexpect.spawn[str]:
    """Begin a chat with a line and return once what it brings is shown."""
    child = spawn("serve", **environ)
    at_prompt(child)
    child.send(f"{typed}\r")
    child.expect_exact(shown)
    return child


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
