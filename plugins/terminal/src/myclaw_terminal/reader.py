"""Reads lines without holding up the event loop, from a pipe, a file or a terminal that only prints."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Protocol, TextIO

from myclaw_terminal.screen import is_terminal, write

__all__ = ["Interrupted", "LinePrompt", "Prompt", "flush_input"]

_CHUNK_BYTES = 65_536


class Interrupted(Exception):  # noqa: N818 - it is a key press, not an error
    """Raised when the person pressed Ctrl-C.

    Attributes:
        empty: Whether nothing was typed yet.
    """

    def __init__(self, *, empty: bool) -> None:
        self.empty = empty
        super().__init__("Ctrl-C")


class Prompt(Protocol):
    """A way to get a line from the person; `EOFError` when there will be none, `Interrupted` on Ctrl-C."""

    def prepare(self, commands: Sequence[tuple[str, str]], history: Path | None) -> None:
        """Learn what can be completed and where messages are remembered."""
        ...

    def quiet(self) -> AbstractContextManager[None]:
        """Keep keys that are typed during a turn off the screen; the next prompt reads them."""
        ...

    async def message(self) -> str:
        """Return the next message, without its line end."""
        ...

    async def answer(self, question: str) -> str:
        """Return the answer to `question`, read only from what is typed after it was shown."""
        ...


class LinePrompt:
    """Plain lines from a descriptor; a prompt is printed only where a terminal reads and shows it."""

    def __init__(self, stdin: TextIO | None, stdout: TextIO | None) -> None:
        self._stdin = stdin
        self._stdout = stdout if is_terminal(stdin) and is_terminal(stdout) else None
        self._buffer = b""

    def prepare(self, commands: Sequence[tuple[str, str]], history: Path | None) -> None:
        """Do nothing: there is no completion here."""

    def quiet(self) -> AbstractContextManager[None]:
        """Do nothing: nothing is repainted here that keys could tear."""
        return nullcontext()

    async def message(self) -> str:
        """Return the next line."""
        write(self._stdout, "> ")
        return await self._line()

    async def answer(self, question: str) -> str:
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
        try:
            return os.read(fd, _CHUNK_BYTES)
        except OSError:
            # The terminal was hung up.
            return b""

    def _decode(self, line: bytes) -> str:
        encoding = (self._stdin.encoding if self._stdin else None) or "utf-8"
        return line.decode(encoding, "replace").rstrip("\r")


def _set(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


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
