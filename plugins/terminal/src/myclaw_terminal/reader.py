"""Reads lines without holding up the event loop, from a pipe, a file or a terminal that only prints."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Protocol, TextIO

from myclaw_terminal.screen import is_terminal, write

__all__ = ["Interrupted", "LinePrompt", "Prompt", "Typed", "Watch", "flush_input"]

_CHUNK_BYTES = 65_536


class Interrupted(Exception):  # noqa: N818 - it is a key press, not an error
    """Raised when the person pressed Ctrl-C.

    Attributes:
        empty: Whether nothing was typed yet.
    """

    def __init__(self, *, empty: bool) -> None:
        self.empty = empty
        super().__init__("Ctrl-C")


class Typed(Protocol):
    """Whoever takes what is typed while a turn runs."""

    def line(self, typed: str) -> None:
        """Take a whole line."""
        ...

    def draft(self, text: str) -> None:
        """Take what is typed so far of the next one, at every change."""
        ...

    def unsent(self, text: str) -> None:
        """Take what was typed of a line when a question came; it is no part of a later one."""
        ...

    def ended(self) -> None:
        """Take it that there will be no more."""
        ...


class Prompt(Protocol):
    """A way to get a line from the person; `EOFError` when there will be none, `Interrupted` on Ctrl-C."""

    def chatting(self, commands: Sequence[tuple[str, str]], history: Path | None) -> AbstractContextManager[None]:
        """Learn what can be completed and where messages are remembered, for one conversation."""
        ...

    def typing(self, typed: Typed) -> AbstractContextManager[None]:
        """Hand what a person types during a turn to `typed`; the next prompt goes on with what is unfinished then."""
        ...

    def alone(self) -> AbstractContextManager[None]:
        """Leave the keys to `answer`: none of them is a line of `typing`."""
        ...

    def redraw(self) -> None:
        """Show anew what is counted down."""
        ...

    async def message(self) -> str:
        """Return the next message, without its line end."""
        ...

    async def answer(self, question: str, counted: Callable[[], Sequence[str]] = tuple, *, pasted: bool = False) -> str:
        """Return the answer to `question`, read only from what is typed after it was shown.

        Args:
            counted: Returns lines on what is counted down meanwhile, for a terminal that can repaint them.
            pasted: Whether a paste is part of the answer, for a text; else it is none.
        """
        ...


class Watch:
    """Tells when something was typed, as long as it is on."""

    def __init__(self, stdin: TextIO | None, ready: Callable[[], None]) -> None:
        self._stdin = stdin
        self._ready = ready

    @contextmanager
    def on(self) -> Iterator[None]:
        """Watch, until the end or until `off`."""
        self._start()
        try:
            yield
        finally:
            self.off()

    def off(self) -> None:
        """Watch no more."""
        if (fd := _descriptor(self._stdin)) is not None:
            asyncio.get_running_loop().remove_reader(fd)

    @contextmanager
    def interrupted(self) -> Iterator[None]:
        """Do not watch for a while."""
        self.off()
        try:
            yield
        finally:
            self._start()

    def _start(self) -> None:
        if (fd := _descriptor(self._stdin)) is not None:
            asyncio.get_running_loop().add_reader(fd, self._ready)


class LinePrompt:
    """Plain lines from a descriptor; a prompt is printed only where a terminal reads and shows it."""

    def __init__(self, stdin: TextIO | None, stdout: TextIO | None) -> None:
        self._stdin = stdin
        self._stdout = stdout if is_terminal(stdin) and is_terminal(stdout) else None
        self._buffer = b""
        self._typed: Typed | None = None
        self._watch = Watch(stdin, self._read_ahead)

    def chatting(self, commands: Sequence[tuple[str, str]], history: Path | None) -> AbstractContextManager[None]:
        """Do nothing: there is no completion here."""
        return nullcontext()

    @contextmanager
    def typing(self, typed: Typed) -> Iterator[None]:
        """Read the lines of a person; those of a pipe wait by themselves, and the terminal shows an unfinished one."""
        if self._stdout is None:
            yield
            return
        self._typed = typed
        try:
            with self._watch.on():
                yield
        finally:
            self._typed = None

    def alone(self) -> AbstractContextManager[None]:
        """Read nothing ahead."""
        return nullcontext() if self._typed is None else self._watch.interrupted()

    def redraw(self) -> None:
        """Do nothing: nothing moves here."""

    def _read_ahead(self) -> None:
        data = _read(self._stdin)
        if self._typed is None:
            return
        if not data:
            self._watch.off()
            self._typed.ended()
        self._buffer += data
        while b"\n" in self._buffer:
            line, _, self._buffer = self._buffer.partition(b"\n")
            self._typed.line(self._decode(line))

    async def message(self) -> str:
        """Return the next line."""
        write(self._stdout, "> ")
        return await self._line()

    async def answer(self, question: str, counted: Callable[[], Sequence[str]] = tuple, *, pasted: bool = False) -> str:
        """Forget what was typed before and return the next line."""
        self._buffer = b""
        flush_input(self._stdin)
        write(self._stdout, question)
        return await self._line()

    async def _line(self) -> str:
        while b"\n" not in self._buffer:
            data = await self._read()
            if not data:
                line, self._buffer = self._buffer, b""
                if not line:
                    raise EOFError
                return self._decode(line)
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return self._decode(line)

    async def _read(self) -> bytes:
        fd = _descriptor(self._stdin)
        if fd is None:
            return b""
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        try:
            loop.add_reader(fd, _set, ready)
        except PermissionError:
            # A regular file cannot be waited for: it is always ready.
            return os.read(fd, _CHUNK_BYTES)
        try:
            await ready
        finally:
            loop.remove_reader(fd)
        return _read(self._stdin)

    def _decode(self, line: bytes) -> str:
        encoding = (self._stdin.encoding if self._stdin else None) or "utf-8"
        return line.decode(encoding, "replace").rstrip("\r")


def _set(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


def _read(stream: TextIO | None) -> bytes:
    """Return what is there to be read; nothing where the terminal was hung up."""
    fd = _descriptor(stream)
    try:
        return b"" if fd is None else os.read(fd, _CHUNK_BYTES)
    except OSError:
        return b""


def _descriptor(stream: TextIO | None) -> int | None:
    """Return the descriptor of `stream`, or `None` where it is closed or only in memory."""
    try:
        return None if stream is None else stream.fileno()
    except (OSError, ValueError):
        return None


def flush_input(stdin: TextIO | None) -> None:
    """Drop what was typed ahead: a question is never answered by keys pressed before it was seen."""
    import termios

    if stdin is not None and is_terminal(stdin):
        termios.tcflush(stdin.fileno(), termios.TCIFLUSH)
