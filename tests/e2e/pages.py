"""Plays a page of the tutorial as somebody would who does what it says."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path

import pexpect
from attrs import frozen

from .conftest import PATIENCE_S, finish, shown

__all__ = ["Block", "Reader", "assert_shown", "blocks_of", "play"]

_BLOCK = re.compile(
    r"(?:`(?P<file>[\w./]+)`[^`]*\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$|^<!-- (?P<day>a day later) -->$",
    re.DOTALL | re.MULTILINE,
)
_TYPED = re.compile(r"^(> |yes / no / details > )(.+)$", re.MULTILINE)
_MEASURED = re.compile(r"\d+(?:\.\d+)? (?:ms|s|MB|MiB)\b")

_AT_THE_TIME = """#!{python}
import os, sys
from datetime import UTC, datetime
from myclaw_core.clock import SystemClock
begun, now = datetime.now(UTC), SystemClock.now
SystemClock.now = lambda self: datetime.fromisoformat(os.environ["NOW"]) + (now(self) - begun)
from myclaw_core.cli import main
sys.exit(main())
"""
"""The program with its clock put to another time; it runs on from there."""


@frozen
class Block:
    """A piece of a page.

    Attributes:
        kind: `sh` for commands, `text` for what they show, `day` where a day passes, else the language of a file.
        file: The file that it is put into; the last one named before it.
    """

    kind: str
    text: str = ""
    file: str = ""


def blocks_of(page: Path) -> Iterator[Block]:
    """Yield the pieces of a page in order."""
    for found in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        yield Block("day") if found["day"] else Block(found["kind"], found["text"], found["file"] or "")


class Reader:
    """Somebody who does what a page says.

    Args:
        folder: Where their home is made, `you` in it.
        cwd: Where they work; their home by default.

    Attributes:
        home: Their home folder.
        output: Everything that was shown so far.
    """

    def __init__(self, folder: Path, cwd: Path | None = None) -> None:
        program = folder / "bin" / "myclaw"
        program.parent.mkdir()
        program.write_text(_AT_THE_TIME.format(python=sys.executable), encoding="utf-8")
        program.chmod(0o755)
        self.home = folder / "you"
        self.home.mkdir()
        self.output = ""
        self._cwd = cwd or self.home
        self._day, self._minute = 2, 0
        self._environ = {
            "PATH": f"{program.parent}:/usr/bin:/bin",
            "HOME": str(self.home),
            "LOGNAME": "you",
            "LANG": "C.UTF-8",
            "TERM": "dumb",
        }

    def sleep(self) -> None:
        """Let a day pass."""
        self._day, self._minute = self._day + 1, 0

    def write(self, file: str, text: str) -> None:
        """Put a file where they work."""
        (self._cwd / file).write_text(text, encoding="utf-8")

    def run(self, line: str, *, may_complain: bool = False) -> None:
        """Run a line of a shell; where it may complain, that is shown like the rest and its exit code may be 1."""
        done = subprocess.run(
            ["/bin/sh", "-c", line],
            env=self._now(),
            cwd=self._cwd,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert may_complain or done.stderr == "", line
        assert done.returncode in ((0, 1) if may_complain else (0,)), line
        self.output += done.stderr + done.stdout

    def talk(self, line: str, typed: Sequence[tuple[str, str]]) -> None:
        """Run a line on a terminal: wait for each prompt and type; leave a conversation with Ctrl-D."""
        child = pexpect.spawn(
            "/bin/sh",
            ["-c", f"exec {line}"],
            env=self._now(),  # type: ignore[arg-type]
            cwd=str(self._cwd),
            encoding="utf-8",
            timeout=PATIENCE_S,
            dimensions=(50, 160),
        )
        child.logfile_read = io.StringIO()
        child.delaybeforesend = None
        for prompt, text in typed:
            child.expect_exact(f"\n{prompt}")
            child.send(f"{text}\r")
        if any(prompt == "> " for prompt, _ in typed):
            child.expect_exact("\n> ")
            child.sendeof()
        assert finish(child) == 0
        self.output += f"{shown(child)}\n"

    def _now(self) -> dict[str, str]:
        self._minute += 1
        return self._environ | {"NOW": f"2026-03-{self._day:02}T09:{self._minute:02}:00+00:00"}


def play(reader: Reader, page: Path, *, only: str = "", may_complain: bool = False) -> None:
    """Do everything a page says; what is typed stands in the outputs that follow the command.

    Args:
        only: Commands that begin otherwise are left out.
        may_complain: Whether commands may, as `Reader.run` has it.
    """
    blocks = list(blocks_of(page))
    for number, block in enumerate(blocks):
        if block.kind == "day":
            reader.sleep()
        elif block.kind == "sh":
            outputs = takewhile(lambda each: each.kind == "text", blocks[number + 1 :])
            typed = [each for output in outputs for each in _TYPED.findall(output.text)]
            *lines, last = block.text.splitlines()
            for line in lines if typed else [*lines, last]:
                if line.startswith(only):
                    reader.run(line, may_complain=may_complain)
            if typed:
                reader.talk(last, typed)
        elif block.kind != "text":
            reader.write(block.file, block.text)


def assert_shown(reader: Reader, page: Path) -> None:
    """Fail where a line of the page's outputs did not appear, in their order; what was measured may differ."""
    happened = iter(_plain(reader.output))
    for block in blocks_of(page):
        for line in _plain(block.text) if block.kind == "text" else ():
            assert any(line == other for other in happened), line


def _plain(text: str) -> list[str]:
    """Return lines without measured figures and the layout that depends on the width of a terminal."""
    return [" ".join(_MEASURED.sub("N", line).split()) for line in text.splitlines() if line.strip()]
