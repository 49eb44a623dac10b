"""A prompt with editing, history and completion, for terminals that can."""

from __future__ import annotations

import asyncio
import os
import select
import termios
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TextIO

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import DummyHistory, FileHistory, History, InMemoryHistory
from prompt_toolkit.input import create_input
from prompt_toolkit.input.typeahead import clear_typeahead, get_typeahead
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import Keys
from prompt_toolkit.output import create_output

from myclaw_terminal.reader import Interrupted, Typed, Watch

__all__ = ["CommandCompleter", "EditingPrompt", "open_history"]

_REFRESH_S = 1.0
_QUIET_S = 0.1
"""Seconds without a key after which what was typed before has come; a paste has no such gap."""
_MOST_READS = 2_000


class EditingPrompt:
    """Asks through prompt_toolkit, which never blocks the event loop.

    It leaves the signal alone, since its own handler would not give ours back, and the faults of other tasks, since its
    own handler would stop at each until Enter is pressed.
    """

    def __init__(self, stdin: TextIO, stdout: TextIO, counted: Callable[[], Sequence[str]] = tuple) -> None:
        """Ask on a terminal.

        Args:
            counted: Returns lines on what is counted down, to stand above the prompt for messages.
        """
        self._stdin = stdin
        self._counted = counted
        self._typed: Typed | None = None
        self._draft = ""
        self._watch = Watch(stdin, self._read_ahead)
        self._input = create_input(stdin)
        self._output = create_output(stdout)
        self._messages: PromptSession[str] = PromptSession(input=self._input, output=self._output)

    @contextmanager
    def chatting(self, commands: Sequence[tuple[str, str]], history: Path | None) -> Iterator[None]:
        """Complete `commands`, remember messages in `history`, and let no key be lost or shown between two prompts."""
        self._messages = PromptSession(
            history=open_history(history),
            completer=CommandCompleter(commands),
            complete_while_typing=False,
            input=self._input,
            output=self._output,
        )
        with _key_by_key(self._stdin):
            yield

    @contextmanager
    def typing(self, typed: Typed) -> Iterator[None]:
        """Read key by key; the terminal's own echo would tear what is repainted."""
        self._typed = typed
        try:
            with self._pasting(), self._watch.on():
                self._take(get_typeahead(self._input))
                yield
        finally:
            self._input.flush_keys()  # half an escape sequence is no key of the next prompt
            typed.draft("")
            self._typed = None

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Read nothing ahead; a line that is unfinished is put into the history, and never a part of a later one."""
        if self._typed is None:
            yield
            return
        with self._watch.interrupted():
            self._put_away(self._typed)
            yield
        self._output.enable_bracketed_paste()  # a prompt has switched it off
        self._output.flush()

    def _put_away(self, typed: Typed) -> None:
        draft, self._draft = self._draft, ""
        if draft.strip():
            self._messages.history.append_string(draft)
            typed.draft("")
            typed.unsent(draft)

    def redraw(self) -> None:
        """Show the lines above the prompt anew."""
        self._messages.app.invalidate()

    async def message(self) -> str:
        """Return the next message, begun with what was typed before; a paste may hold several lines."""
        draft, self._draft = self._draft, ""
        shown = partial(_above, self._messages, self._counted, "> ")
        try:
            return await self._messages.prompt_async(
                shown, default=draft, handle_sigint=False, set_exception_handler=False
            )
        except KeyboardInterrupt:
            raise Interrupted(empty=not self._messages.default_buffer.text) from None

    @contextmanager
    def _pasting(self) -> Iterator[None]:
        """Let the terminal mark what is pasted, so that several lines are one message."""
        self._output.enable_bracketed_paste()
        self._output.flush()
        try:
            yield
        finally:
            self._output.disable_bracketed_paste()
            self._output.flush()

    def _read_ahead(self) -> None:
        self._take(self._input.read_keys())
        if self._input.closed:
            self._watch.off()
            self._end()

    def _take(self, presses: Iterable[KeyPress]) -> None:
        for press in presses:
            self._press(press)
        if self._typed is not None:
            self._typed.draft(self._draft)

    def _press(self, press: KeyPress) -> None:
        if press.key in (Keys.ControlM, Keys.ControlJ):
            self._send()
        elif press.key == Keys.ControlH:
            self._draft = self._draft[:-1]
        elif press.key == Keys.ControlU:
            self._draft = ""
        elif press.key == Keys.ControlW:
            self._draft = "".join(self._draft.rstrip().rpartition(" ")[:2])
        elif press.key == Keys.ControlD and not self._draft:
            self._end()
        elif press.key == Keys.BracketedPaste:
            self._draft += press.data.replace("\r\n", "\n").replace("\r", "\n")
        elif not isinstance(press.key, Keys):
            self._draft += press.data

    def _send(self) -> None:
        line, self._draft = self._draft, ""
        if self._typed is not None and line.strip():
            self._messages.history.append_string(line)
            self._typed.line(line)

    def _end(self) -> None:
        if self._typed is not None:
            self._typed.ended()

    async def answer(self, question: str, counted: Callable[[], Sequence[str]] = tuple, *, pasted: bool = False) -> str:
        """Return the answer to `question`; keys pressed before it was shown are dropped.

        A paste is no answer, unless a text is asked for: there its lines become one.
        """
        await self._forget_keys()
        session: PromptSession[str] = PromptSession(
            history=DummyHistory(),
            input=self._input,
            output=self._output,
            refresh_interval=_REFRESH_S,
            key_bindings=_pastes_in_one_line() if pasted else _without_pastes(),
        )
        shown = partial(_above, session, counted, question)
        try:
            return await session.prompt_async(shown, handle_sigint=False, set_exception_handler=False)
        except KeyboardInterrupt:
            raise Interrupted(empty=True) from None

    async def _forget_keys(self) -> None:
        """Drop the keys that have come, and those of a paste that still comes.

        They are read and not flushed, so that the end of a paste is seen; if it does not come, the paste is over too.
        """
        clear_typeahead(self._input)
        for _ in range(_MOST_READS):
            if not self._has_keys() or self._input.closed:
                break
            self._input.read_keys()
            if not self._has_keys():
                await asyncio.sleep(_QUIET_S)
        if isinstance(self._input, Vt100Input):
            self._input.vt100_parser.reset()

    def _has_keys(self) -> bool:
        return bool(select.select([self._stdin], [], [], 0)[0])


def _without_pastes() -> KeyBindings:
    """Return bindings by which a paste ends the answer without one, together with the keys that came with it.

    What was pasted was not typed for this question, and may hold the mark of its own end.
    """
    bindings = KeyBindings()

    @bindings.add(Keys.BracketedPaste)
    def _drop(event: KeyPressEvent) -> None:
        event.key_processor.empty_queue()
        event.app.exit(result="")

    return bindings


def _pastes_in_one_line() -> KeyBindings:
    """Return bindings by which a paste is inserted and ends nothing."""
    bindings = KeyBindings()

    @bindings.add(Keys.BracketedPaste)
    def _insert(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text(" ".join(event.data.split()))

    return bindings


def _above(session: PromptSession[str], counted: Callable[[], Sequence[str]], question: str) -> str:
    """Return the prompt with what is counted down above it, as long as it waits."""
    return "\n".join([*(() if session.app.is_done else counted()), question])


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


@contextmanager
def _key_by_key(stdin: TextIO) -> Iterator[None]:
    """Let each key be read as it is pressed and show none; Ctrl-C stays a signal."""
    fd = stdin.fileno()
    before = termios.tcgetattr(fd)
    silent = [*before]
    silent[3] &= ~(termios.ECHO | termios.ICANON)
    silent[6] = [*before[6]]
    silent[6][termios.VMIN], silent[6][termios.VTIME] = 1, 0
    termios.tcsetattr(fd, termios.TCSANOW, silent)
    try:
        yield
    finally:
        termios.tcsetattr(fd, termios.TCSANOW, before)


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
