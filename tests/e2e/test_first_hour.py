"""The tutorial is played as it stands: its commands are run, its messages typed, its outputs looked for."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from .conftest import PATIENCE_S, finish, shown

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/tutorial/first-hour.md"
PART = re.compile(r"^```(sh|text)\n(.*?)^```$|^<!-- a day later -->$", re.DOTALL | re.MULTILINE)
TYPED = re.compile(r"^(> |yes / no / details > )(.+)$", re.MULTILINE)

AT_THE_TIME = """#!{python}
import os, sys
from datetime import UTC, datetime
from myclaw_core.clock import SystemClock
begun, now = datetime.now(UTC), SystemClock.now
SystemClock.now = lambda self: datetime.fromisoformat(os.environ["NOW"]) + (now(self) - begun)
from myclaw_core.cli import main
sys.exit(main())
"""
"""The program with its clock put to another time; it runs on from there."""


class Reader:
    """Somebody who does what the page says.

    Attributes:
        output: Everything that was shown so far.
    """

    def __init__(self, folder: Path) -> None:
        program = folder / "bin" / "myclaw"
        program.parent.mkdir()
        program.write_text(AT_THE_TIME.format(python=sys.executable), encoding="utf-8")
        program.chmod(0o755)
        (folder / "you").mkdir()
        self._program = program
        self._day, self._minute = 2, 0
        self._environ = {
            "PATH": f"{program.parent}:/usr/bin:/bin",
            "HOME": str(folder / "you"),
            "LOGNAME": "you",
            "LANG": "C.UTF-8",
            "TERM": "dumb",
        }
        self.output = ""

    def sleep(self) -> None:
        """Let a day pass."""
        self._day, self._minute = self._day + 1, 0

    def run(self, line: str) -> None:
        """Run a line of a shell."""
        done = subprocess.run(
            ["/bin/sh", "-c", line],
            env=self._now(),
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), line
        self.output += done.stdout

    def talk(self, typed: list[tuple[str, str]]) -> None:
        """Have a conversation: wait for each prompt, type, and leave with Ctrl-D."""
        child = pexpect.spawn(
            str(self._program),
            env=self._now(),  # type: ignore[arg-type]
            cwd=str(ROOT),
            encoding="utf-8",
            timeout=PATIENCE_S,
            dimensions=(50, 160),
        )
        child.logfile_read = io.StringIO()
        child.delaybeforesend = None
        for prompt, text in typed:
            child.expect_exact(f"\n{prompt}")
            child.send(f"{text}\r")
        child.expect_exact("\n> ")
        child.sendeof()
        assert finish(child) == 0
        self.output += f"{shown(child)}\n"

    def _now(self) -> dict[str, str]:
        self._minute += 1
        return self._environ | {"NOW": f"2026-03-{self._day:02}T09:{self._minute:02}:00+00:00"}


def parts() -> Iterator[tuple[str, str]]:
    """Yield the page's commands (`sh`) and outputs (`text`) in order, and where a day passes."""
    for found in PART.finditer(PAGE.read_text(encoding="utf-8")):
        yield found[1] or "day", found[2] or ""


def play(reader: Reader) -> None:
    """Do everything the page says; what is typed into a conversation stands in the outputs that follow it."""
    commands: list[str] = []
    typed: list[tuple[str, str]] = []
    for kind, text in [*parts(), ("sh", "")]:
        if kind == "text":
            typed += TYPED.findall(text)
            continue
        if typed:
            assert commands.pop() == "myclaw"
            reader.talk(typed)
            typed = []
        if kind == "day":
            reader.sleep()
        for line in text.splitlines():
            commands.append(line)
            if line.startswith("myclaw "):
                reader.run(line)


def plain(text: str) -> list[str]:
    """Return lines without the layout that depends on the width of a terminal."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    """A reader with an empty home, who needs no time to read a card."""
    reader = Reader(tmp_path)
    reader.run("myclaw config set approval.reading_pause_s 0")
    return reader


def test_what_the_tutorial_shows_is_what_happens(reader: Reader) -> None:
    """Every line of its outputs appears, in this order."""
    play(reader)

    happened = iter(plain(reader.output))
    for kind, text in parts():
        for line in plain(text) if kind == "text" else ():
            assert any(line == other for other in happened), line
    assert "done by itself: fs_write" in reader.output
    assert "undone (`restored ~/.local/share/myclaw/workspace/shopping.md`)" in reader.output
    assert "NOT whole" not in reader.output
