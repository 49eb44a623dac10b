"""The terminal as a channel: it ties screen, prompt, approval dialog and chat together."""

from __future__ import annotations

import asyncio
import atexit
import os
import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TextIO

from myclaw_core.approval.cards import Cards
from myclaw_core.clock import Clock
from myclaw_core.files.resolve import display_path
from myclaw_core.host import Host
from myclaw_core.messages import N_, render
from myclaw_core.runtime.channel import Desk, Held, Status, Submit
from myclaw_core.runtime.types import ExecutionTrace
from myclaw_core.shown.inert import inert
from myclaw_core.types.text import Text
from myclaw_terminal.ahead import Ahead
from myclaw_terminal.chat import Chat
from myclaw_terminal.closing import closing_lines
from myclaw_terminal.dialog import Dialog
from myclaw_terminal.faults import FAULTS
from myclaw_terminal.holds import Holds
from myclaw_terminal.lines import Line
from myclaw_terminal.reader import LinePrompt, Prompt
from myclaw_terminal.screen import DumbScreen, PipeScreen, Screen, is_terminal, write

__all__ = ["TerminalChannel"]

_COUNT_S = 1.0


class TerminalChannel:
    """Talks with the person at the terminal, or with the program at the other end of a pipe.

    Three conditions: a real terminal (spinner, colour, rendered Markdown), one that only prints (`TERM=dumb`,
    `NO_COLOR`: plain lines) and a pipe (the answer alone on stdout).
    """

    name = "terminal"

    def __init__(
        self,
        stdin: TextIO | None,
        stdout: TextIO | None,
        stderr: TextIO | None,
        clock: Clock,
        *,
        environ: Mapping[str, str] | None = None,
        history: Path | None = None,
    ) -> None:
        """Look at nothing yet; rich and prompt_toolkit are imported at first use.

        Args:
            environ: Where `TERM` and `NO_COLOR` are read; the process's own by default.
            history: File of earlier messages; `None` keeps them in memory.
        """
        self._stdin = stdin
        self._stdout = stdout
        self._stderr = stderr
        self._clock = clock
        self._environ = os.environ if environ is None else environ
        self._history = history
        self._chat: Chat | None = None
        self._holds = Holds(clock, lambda: self._undo)
        self._counting: asyncio.Task[None] | None = None

    @classmethod
    def from_host(cls, host: Host) -> TerminalChannel:
        """Return the channel of this process's own streams."""
        channel = cls(sys.stdin, sys.stdout, sys.stderr, host.clock, history=host.home.state / "history")
        FAULTS.show = channel.aside
        return channel

    @property
    def attended(self) -> bool:
        """Return whether a person both reads and types here."""
        return is_terminal(self._stdin) and is_terminal(self._stdout)

    def status(self, status: Status) -> None:
        """Show what is going on; the newest wins."""
        self._screen.status(status)

    def text(self, chunk: str) -> None:
        """Show the next piece of the answer."""
        self._screen.stream(chunk)

    def notice(self, text: Text) -> None:
        """Show one line that is not part of the answer."""
        self._screen.lines([Line(inert(render(text)), "dim")])

    def show(self, markdown: str) -> None:
        """Show the whole result of a slash command."""
        self._screen.markdown(markdown)

    def held(self, held: Sequence[Held]) -> None:
        """Show what will be sent and can still be recalled."""
        for line in self._holds.put(held):
            self._screen.aside([Line(line, "warn")])
        if self._holds.rows() and (self._counting is None or self._counting.done()):
            self._counting = asyncio.get_running_loop().create_task(self._count_down())

    async def _count_down(self) -> None:
        """Show the time that is left, second by second; in a turn the screen does so itself."""
        while self._holds.rows():
            self._prompt.redraw()
            await self._clock.sleep(_COUNT_S)
        self._prompt.redraw()

    async def file(self, path: Path, name: str) -> Text | None:
        """Say where the file lies: it is on the machine at which the person sits."""
        self.notice(N_("{name}: {path}", name=name, path=_where(path)))
        return None

    async def ask(self, cards: Cards, submit: Submit) -> None:
        """Put `cards` to the person; where nobody is there, return at once without a reply."""
        if self.attended:
            with self._prompt.alone():
                await Dialog(self._screen, self._prompt, self._clock, cards, submit, self._ahead).ask()

    def end_turn(self, trace: ExecutionTrace) -> None:
        """Show what the turn did; nothing for one that only answered."""
        self._screen.settle()
        lines = closing_lines(trace, undo=self._undo)
        if lines:
            self._screen.lines(lines)
        if self._chat is not None:
            self._chat.turn_closed = True

    async def serve(self, desk: Desk) -> int:
        """Read messages until the person leaves (Ctrl-D, `/quit`) or the pipe ends; return the exit code."""
        self._chat = Chat(self._screen, self._prompt, self.attended, self._history)
        try:
            return await self._chat.run(desk)
        finally:
            self._screen.settle()

    def aside(self, line: str) -> None:
        """Print one line on stderr without tearing what the screen shows."""
        if "_screen" in self.__dict__ and is_terminal(self._stderr):
            self._screen.aside([Line(line, "warn")])
        else:
            write(self._stderr, line + "\n")

    def _ahead(self) -> Ahead | None:
        return self._chat.ahead if self._chat else None

    @property
    def _undo(self) -> str:
        return "/undo" if self._chat else "myclaw undo"

    @property
    def _plain(self) -> bool:
        return self._environ.get("TERM", "dumb") in ("dumb", "unknown", "") or bool(self._environ.get("NO_COLOR"))

    @cached_property
    def _screen(self) -> Screen:
        if self._stdout is None or not is_terminal(self._stdout):
            return PipeScreen(self._stdout, self._stderr)
        if self._plain:
            return DumbScreen(self._stdout)
        from myclaw_terminal.live import LiveScreen

        screen = LiveScreen(self._stdout, self._clock, self._holds.rows)
        atexit.register(screen.settle)
        return screen

    @cached_property
    def _prompt(self) -> Prompt:
        if self._stdin is None or self._stdout is None or not self.attended or self._plain:
            return LinePrompt(self._stdin, self._stdout)
        from myclaw_terminal.prompts import EditingPrompt

        return EditingPrompt(self._stdin, self._stdout, self._holds.rows)


def _where(path: Path) -> str:
    """Return where a file lies that may be named by a handle."""
    return display_path(os.path.realpath(path))
