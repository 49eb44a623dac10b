"""The chat loop: one message after the other until the person leaves."""

from __future__ import annotations

import asyncio
from pathlib import Path

from attrs import define

from myclaw_core.errors import MyclawError
from myclaw_core.runtime.channel import Desk, Status
from myclaw_terminal.inert import inert
from myclaw_terminal.lines import Line
from myclaw_terminal.reader import Interrupted, Prompt, on_sigint
from myclaw_terminal.screen import Screen

__all__ = ["Chat"]

_WELCOME = "myclaw: type a message; /help lists the commands, Ctrl-D leaves."
_HOW_TO_LEAVE = "to leave, press Ctrl-D or type /quit"
_QUIT = ("/quit", "leave")


@define
class Chat:
    """Reads messages and runs them.

    Attributes:
        attended: Whether a person types here; without one the exit code tells of errors.
        history: File of earlier messages.
        turn_closed: Set by the channel once the end of the running turn was shown.
    """

    screen: Screen
    prompt: Prompt
    attended: bool
    history: Path | None
    turn_closed: bool = False

    async def run(self, desk: Desk) -> int:
        """Hand messages to `desk` until there are no more; return the exit code."""
        self.prompt.prepare([*desk.commands, _QUIT], self.history)
        if self.attended:
            self.screen.lines([Line(_WELCOME, "dim")])
        worst = 0
        while (text := await self._next()) is not None:
            worst = max(worst, await self._turn(desk, text))
        return 0 if self.attended else worst

    async def _next(self) -> str | None:
        while True:
            try:
                with self.screen.paused():
                    text = (await self.prompt.message()).strip()
            except EOFError:
                return None
            except Interrupted as pressed:
                if pressed.empty:
                    self.screen.lines([Line(_HOW_TO_LEAVE, "dim")])
                continue
            if text == _QUIT[0]:
                return None
            if text:
                return text

    async def _turn(self, desk: Desk, text: str) -> int:
        if not text.startswith("/"):
            self.screen.status(Status(phase="thinking"))
        self.turn_closed = False
        turn = asyncio.ensure_future(desk.handle(text))
        try:
            with self.prompt.quiet(), on_sigint(turn.cancel):
                await turn
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            if not self.turn_closed:
                self._say("stopped")
        except MyclawError as error:
            self._say(inert(str(error)))
            return error.exit_code
        finally:
            self.screen.settle()
        return 0

    def _say(self, line: str) -> None:
        self.screen.settle()
        self.screen.lines([Line(line, "bad")])
