"""The chat loop: one message after the other until the person leaves."""

from __future__ import annotations

import asyncio
import signal
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from attrs import define, field

from myclaw_core.errors import MyclawError
from myclaw_core.messages import _, render
from myclaw_core.runtime.channel import Desk, Status
from myclaw_core.runtime.types import ExecutionTrace
from myclaw_core.shown.inert import cut, inert
from myclaw_terminal.ahead import QUIT, Ahead
from myclaw_terminal.lines import Line
from myclaw_terminal.reader import Interrupted, Prompt
from myclaw_terminal.screen import Screen

__all__ = ["Chat"]

_T = TypeVar("_T")

_INTERRUPTED = 130
_SHOWN_CHARS = 200


@define
class Chat:
    """Reads messages and runs them.

    Attributes:
        attended: Whether a person types here; without one Ctrl-C leaves and the exit code tells of errors.
        history: File of earlier messages.
        turn_closed: Set by the channel once the end of the running turn was shown.
    """

    screen: Screen
    prompt: Prompt
    attended: bool
    history: Path | None
    turn_closed: bool = False
    _waiting: deque[str] = field(factory=deque)
    _running: asyncio.Future[Any] | None = None
    _ahead: Ahead | None = None

    @property
    def ahead(self) -> Ahead | None:
        """Return what takes the lines that are typed while something runs; `None` where nothing does."""
        return self._ahead

    async def run(self, desk: Desk) -> int:
        """Hand messages to `desk` until there are no more; return the exit code."""
        if self.attended:
            welcome = _("myclaw: type a message; /help lists the commands, Ctrl-D leaves.")
            self.screen.lines([Line(welcome, "dim")])
        worst = 0
        with self.prompt.chatting([*desk.commands, (QUIT, _("leave"))], self.history), _on_sigint(self._interrupt):
            try:
                while (text := await self._next()) is not None:
                    worst = max(worst, await self._turn(desk, text))
            except Interrupted:
                return _INTERRUPTED
        return 0 if self.attended else worst

    async def _next(self) -> str | None:
        """Return what is to be run next: what was typed ahead, else what is typed now; `None` to leave."""
        text = self._typed_ahead() if self._waiting else await self._prompted()
        return None if text == QUIT else text

    def _typed_ahead(self) -> str:
        text = self._waiting.popleft()
        self.screen.lines([Line(f"> {cut(inert(text), _SHOWN_CHARS)}", "dim")])
        return text

    async def _prompted(self) -> str:
        while True:
            try:
                with self.screen.paused():
                    text = (await self._interruptible(self.prompt.message())).strip()
            except EOFError:
                return QUIT
            except Interrupted as pressed:
                if not self.attended:
                    raise
                if pressed.empty:
                    self.screen.lines([Line(_("to leave, press Ctrl-D or type /quit"), "dim")])
                continue
            if text:
                return text

    async def _turn(self, desk: Desk, text: str) -> int:
        if not text.startswith("/"):
            self.screen.status(Status(phase="thinking"))
        self.turn_closed = False
        trace = None
        try:
            trace = await self._read_meanwhile(desk, text)
        except Interrupted:
            if not self.turn_closed:
                self._say(_("stopped"))
        except MyclawError as error:
            self._say(inert(render(error)))
            return error.exit_code
        finally:
            self.screen.settle()
        return 0 if trace is None or trace.went_well else 1

    async def _read_meanwhile(self, desk: Desk, text: str) -> ExecutionTrace | None:
        """Run one message or command; what is typed meanwhile is queued or run beside it."""
        self._ahead = ahead = Ahead(desk=desk, screen=self.screen, stop=self._stop, waiting=self._waiting)
        with self.prompt.typing(ahead):
            try:
                return await self._interruptible(desk.handle(text))
            finally:
                self._ahead = None
                await self._interruptible(ahead.settled())

    async def _interruptible(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Return what `work` gives; `Interrupted` where Ctrl-C cancelled it."""
        self._running = running = asyncio.ensure_future(work)
        try:
            return await running
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            raise Interrupted(empty=True) from None
        finally:
            self._running = None

    def _interrupt(self) -> None:
        """Do what Ctrl-C means, which is what `/stop` does."""
        if self._ahead is not None:
            self._ahead.drop()
        self._stop()

    def _stop(self) -> None:
        if self._running is not None:
            self._running.cancel()

    def _say(self, line: str) -> None:
        self.screen.settle()
        self.screen.lines([Line(line, "bad")])


@contextmanager
def _on_sigint(action: Callable[[], object]) -> Iterator[None]:
    """Let Ctrl-C call `action` in the event loop instead of ending the program."""
    loop = asyncio.get_running_loop()
    before = signal.getsignal(signal.SIGINT)
    try:
        loop.add_signal_handler(signal.SIGINT, action)
    except (NotImplementedError, RuntimeError, ValueError):
        # Signals reach the main thread only.
        yield
        return
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        if before is not None:
            signal.signal(signal.SIGINT, before)
