"""Where output goes; here as plain lines, for a pipe and for a terminal that only prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Protocol, TextIO

from myclaw_core.messages import _
from myclaw_core.runtime.channel import Status
from myclaw_core.shown.inert import inert, inert_answer
from myclaw_terminal.hanging import hanging
from myclaw_terminal.lines import Line, layout

__all__ = ["DumbScreen", "PipeScreen", "Screen", "is_terminal", "status_words", "write"]


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether `stream` is an open terminal."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def write(stream: TextIO | None, text: str) -> None:
    """Print `text`; what the encoding lacks is escaped, and a reader that has gone never breaks a turn."""
    if stream is None or not text:
        return
    try:
        _write_encodable(stream, text)
    except BrokenPipeError:
        _silence(stream)
    except (OSError, ValueError):
        return


def _write_encodable(stream: TextIO, text: str) -> None:
    try:
        stream.write(text)
    except UnicodeEncodeError:
        encoding = stream.encoding or "ascii"
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()


def _silence(stream: TextIO) -> None:
    """Let the stream lead nowhere, so that what is buffered does not fail once more at exit."""
    import os

    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def status_words(status: Status) -> str:
    """Return what is going on in a few words; empty when nothing is."""
    if status.phase == "thinking":
        return _("thinking")
    if status.phase == "waiting":
        return _("waiting for you")
    if status.phase == "tool":
        return inert(f"{status.tool} {status.detail}".strip())
    return ""


class Screen(Protocol):
    """Everything the channel can show."""

    def stream(self, chunk: str) -> None:
        """Show the next piece of the answer."""
        ...

    def end_stream(self) -> None:
        """Make all that was streamed final."""
        ...

    def status(self, status: Status | None) -> None:
        """Show what is going on, or nothing."""
        ...

    def lines(self, lines: Sequence[Line]) -> None:
        """Show lines that are not part of the answer."""
        ...

    def aside(self, lines: Sequence[Line]) -> None:
        """Show lines without ending the answer that grows."""
        ...

    def markdown(self, text: str) -> None:
        """Show a whole text at once, without ending the answer that grows."""
        ...

    def draft(self, text: str) -> None:
        """Show what is typed while a turn runs; empty is nothing."""
        ...

    def paused(self) -> AbstractContextManager[None]:
        """Leave the screen to a prompt; what comes meanwhile is shown afterwards."""
        ...

    def settle(self) -> None:
        """Make everything final and leave nothing that moves; safe to call at any time."""
        ...


class PipeScreen:
    """The answer on stdout as it is, everything else on stderr; what goes on only where a person watches stderr."""

    def __init__(self, stdout: TextIO | None, stderr: TextIO | None) -> None:
        self._answers = stdout
        self._notes = stderr
        self._notes_width: int | None = None
        self._shows_status = is_terminal(stderr)
        self._line_open = False
        self._said = ""

    def stream(self, chunk: str) -> None:
        """Print the next piece."""
        if chunk:
            self._write_answer(chunk)
            self._line_open = not chunk.endswith("\n")

    def end_stream(self) -> None:
        """End the line."""
        if self._line_open:
            self._write_answer("\n")
            self._line_open = False

    def status(self, status: Status | None) -> None:
        """Print what changed, once."""
        words = status_words(status) if status else ""
        if words == self._said:
            return
        self._said = words
        self.end_stream()
        if words and self._shows_status:
            write(self._notes, f"… {words}\n")

    def lines(self, lines: Sequence[Line]) -> None:
        """Print `lines`."""
        self.end_stream()
        rows = [row for line in lines for row in layout(line, self._notes_width)]
        write(self._notes, "".join(row + "\n" for row in rows))

    def aside(self, lines: Sequence[Line]) -> None:
        """Print `lines`."""
        self.lines(lines)

    def draft(self, text: str) -> None:
        """Do nothing: the terminal itself shows what is typed."""

    def markdown(self, text: str) -> None:
        """Print `text` as it is."""
        self.end_stream()
        self.stream(text)
        self.end_stream()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """End the line; nothing here moves by itself."""
        self.end_stream()
        yield

    def settle(self) -> None:
        """End the line."""
        self._said = ""
        self.end_stream()

    def _write_answer(self, text: str) -> None:
        write(self._answers, text)


class DumbScreen(PipeScreen):
    """Everything on one terminal that has no colour and moves no cursor."""

    def __init__(self, stdout: TextIO) -> None:
        super().__init__(stdout, stdout)
        self._notes_width = self._columns = _width(stdout)

    def markdown(self, text: str) -> None:
        """Print `text`, its tables no wider than the terminal."""
        super().markdown(hanging(text, self._columns))

    def _write_answer(self, text: str) -> None:
        write(self._answers, inert_answer(text))


def _width(stream: TextIO) -> int:
    import os

    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80
