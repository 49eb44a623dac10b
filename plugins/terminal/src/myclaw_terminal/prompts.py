"""A prompt with editing, history and completion, for terminals that can."""

from __future__ import annotations

import os
import termios
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import DummyHistory, FileHistory, History, InMemoryHistory
from prompt_toolkit.input import create_input
from prompt_toolkit.input.typeahead import clear_typeahead
from prompt_toolkit.output import create_output

from myclaw_terminal.reader import Interrupted, flush_input

__all__ = ["CommandCompleter", "EditingPrompt", "open_history"]


class EditingPrompt:
    """Asks through prompt_toolkit, which never blocks the event loop.

    It leaves the signal alone, since its own handler would not give ours back, and the faults of other tasks, since its
    own handler would stop at each until Enter is pressed.
    """

    def __init__(self, stdin: TextIO, stdout: TextIO) -> None:
        self._stdin = stdin
        self._input = create_input(stdin)
        self._output = create_output(stdout)
        self._messages: PromptSession[str] = PromptSession(input=self._input, output=self._output)

    def prepare(self, commands: Sequence[tuple[str, str]], history: Path | None) -> None:
        """Complete `commands` and remember messages in `history`."""
        self._messages = PromptSession(
            history=open_history(history),
            completer=CommandCompleter(commands),
            complete_while_typing=False,
            input=self._input,
            output=self._output,
        )

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Switch the terminal's echo off: keys typed during a turn would tear what is repainted."""
        fd = self._stdin.fileno()
        before = termios.tcgetattr(fd)
        silent = [*before]
        silent[3] &= ~termios.ECHO
        termios.tcsetattr(fd, termios.TCSANOW, silent)
        try:
            yield
        finally:
            termios.tcsetattr(fd, termios.TCSANOW, before)

    async def message(self) -> str:
        """Return the next message; a paste may hold several lines."""
        try:
            return await self._messages.prompt_async("> ", handle_sigint=False, set_exception_handler=False)
        except KeyboardInterrupt:
            raise Interrupted(empty=not self._messages.default_buffer.text) from None

    async def answer(self, question: str) -> str:
        """Return the answer to `question`; keys pressed before it was shown are dropped."""
        clear_typeahead(self._input)
        flush_input(self._stdin)
        session: PromptSession[str] = PromptSession(history=DummyHistory(), input=self._input, output=self._output)
        try:
            return await session.prompt_async(question, handle_sigint=False, set_exception_handler=False)
        except KeyboardInterrupt:
            raise Interrupted(empty=True) from None


class CommandCompleter(Completer):
    """Completes the first word of a message that begins with a slash."""

    def __init__(self, commands: Sequence[tuple[str, str]]) -> None:
        self._commands = [("/" + name.split()[0].lstrip("/"), line) for name, line in commands if name.strip("/ ")]

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Yield the commands that begin like the text before the cursor."""
        typed = document.text_before_cursor
        if typed.startswith("/"):
            for name, line in self._commands:
                if name.startswith(typed):
                    yield Completion(name, start_position=-len(typed), display_meta=line)


class _PrivateHistory(FileHistory):
    """History in a file that only its owner reads; a full disk loses the entry, not the message."""

    def store_string(self, string: str) -> None:
        with suppress(OSError):
            super().store_string(string)


def open_history(path: Path | None) -> History:
    """Return the history kept at `path` (mode 0600), or one in memory where that cannot be written."""
    if path is None:
        return InMemoryHistory()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
        os.fchmod(fd, 0o600)
        os.close(fd)
    except OSError:
        return InMemoryHistory()
    return _PrivateHistory(path)
