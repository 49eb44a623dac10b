"""What is typed while a turn runs: messages wait in order, commands are run beside it, and `/stop` stops it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from attrs import define, field

from myclaw_core.errors import MyclawError
from myclaw_core.messages import _, n_, render
from myclaw_core.runtime.channel import Desk
from myclaw_core.shown.inert import cut, inert
from myclaw_terminal.lines import Line, Style
from myclaw_terminal.screen import Screen

__all__ = ["QUIT", "STOPPING", "Ahead"]

QUIT = "/quit"
STOPPING = ("/stop", "/undo")
_SHOWN_CHARS = 100


@define(kw_only=True)
class Ahead:
    """Takes the lines of one turn as they are typed.

    Attributes:
        stop: Stops what runs, as Ctrl-C does.
        waiting: What is to be run afterwards, in this order.
    """

    desk: Desk
    screen: Screen
    stop: Callable[[], None]
    waiting: deque[str]
    _commands: list[asyncio.Task[None]] = field(factory=list)

    def line(self, typed: str) -> None:
        """Take a line; what a person sees at once tells what becomes of it."""
        text = typed.strip()
        name = text.partition(" ")[0]
        if name == "/stop":
            self.drop()
            self.stop()
        elif name == "/undo":  # it takes back what is done so far: that must be over
            self.waiting.appendleft(text)
            self.stop()
        elif name.startswith("/") and name != QUIT:
            before = self._commands[-1] if self._commands else None
            self._commands.append(asyncio.ensure_future(self._run(text, before)))
        elif text:
            self.waiting.append(text)
            shown = cut(inert(text), _SHOWN_CHARS)
            self._say(_("queued: {text}; /stop stops what runs and drops what waits", text=shown), "dim")

    def knows(self, typed: str) -> bool:
        """Return whether a line is a command that there is."""
        known = {*STOPPING, QUIT, *(name.partition(" ")[0] for name, _line in self.desk.commands)}
        return typed.strip().partition(" ")[0] in known

    async def command(self, typed: str) -> None:
        """Take a command that was typed at a question and wait until it has answered; cancelling does not cancel it.

        It waits for no earlier one: that may be what asks.
        """
        text = typed.strip()
        if text.partition(" ")[0] in (*STOPPING, QUIT):
            self.line(text)
            return
        running = asyncio.ensure_future(self._run(text, None))
        self._commands.append(running)
        await asyncio.wait({running})

    def unsent(self, text: str) -> None:
        """Say that a line which a question interrupted was not sent."""
        shown = cut(inert(text), _SHOWN_CHARS)
        self._say(_("not sent: {text}; the up key brings it back", text=shown), "dim")

    def drop(self) -> None:
        """Give up the messages that wait; the history has them still."""
        messages = self._messages()
        if messages:
            told = n_("{n} message that waited was dropped", "{n} messages that waited were dropped", len(messages))
            self._say(told, "warn")
        for text in messages:
            self.waiting.remove(text)

    def _messages(self) -> list[str]:
        return [text for text in self.waiting if text != QUIT]

    def draft(self, text: str) -> None:
        """Show what is typed and not sent yet."""
        self.screen.draft(text)

    def ended(self) -> None:
        """Leave once all that waits is done: Ctrl-D was pressed."""
        if QUIT not in self.waiting:
            self.line(QUIT)

    async def settled(self) -> None:
        """Wait for the commands that run; cancelling cancels them."""
        await asyncio.gather(*self._commands)

    async def _run(self, text: str, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.wait({before})
        try:
            await self.desk.handle(text)
            if text == "/status" and (messages := self._messages()):
                self._say(n_("{n} message waits", "{n} messages wait", len(messages)), "dim")
        except MyclawError as error:
            self._say(inert(render(error)), "bad")

    def _say(self, text: str, style: Style) -> None:
        self.screen.aside([Line(text, style)])
