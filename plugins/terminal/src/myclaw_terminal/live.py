"""A terminal with colour: streamed Markdown and a spinner that never tear each other."""

from __future__ import annotations

import asyncio
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, TextIO

from rich.cells import chop_cells
from rich.console import Console, RenderableType
from rich.markdown import Markdown
from rich.text import Text as RichText

from myclaw_core.clock import Clock
from myclaw_core.runtime.channel import Status
from myclaw_core.shown.inert import inert, inert_answer
from myclaw_terminal.blocks import BlockSplitter
from myclaw_terminal.hanging import hanging
from myclaw_terminal.lines import Line, Style, layout
from myclaw_terminal.region import Region
from myclaw_terminal.screen import status_words, write

if TYPE_CHECKING:
    from markdown_it.token import Token

__all__ = ["LiveScreen"]

_STYLES: dict[Style, str] = {
    "": "",
    "bold": "bold",
    "dim": "dim",
    "good": "green",
    "bad": "red",
    "warn": "yellow",
    "hunk": "cyan",
}
_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_ASCII_FRAMES = "|/-\\"
_TICK_S = 0.1
_MIN_FRAME_S = 0.05
_LIVE_MARKDOWN_LIMIT = 6_000
"""Characters of an unfinished block above which only its last rows are shown, unrendered, until it is finished."""
_MARKDOWN_LIMIT = 30_000
"""Characters of one block above which highlighting would hold up the turn; such a block is printed as it is."""
_TRAILING_BLANKS = re.compile(r" +(\x1b\[0m)?$", re.MULTILINE)


class LiveScreen:
    """Final text goes to the scrollback at once; only the unfinished block and the spinner are repainted."""

    def __init__(self, stdout: TextIO, clock: Clock, counted: Callable[[], Sequence[str]] = tuple) -> None:
        """Write to a terminal.

        Args:
            counted: Returns lines on what is counted down, to stand below an answer as long as a turn runs.
        """
        self._clock = clock
        self._counted = counted
        # It renders only: what writes must bear a terminal that has gone.
        sink = io.TextIOWrapper(io.BytesIO(), encoding=stdout.encoding)
        self._console = Console(
            file=sink, force_terminal=True, legacy_windows=False, highlight=False, markup=False, emoji=False
        )
        self._frames = _FRAMES if "utf" in (stdout.encoding or "").lower() else _ASCII_FRAMES
        self._region = Region(partial(write, stdout))
        self._blocks = BlockSplitter()
        self._streamed = False
        self._tail_rows: list[str] | None = []
        self._above: list[str] = []
        self._draft = ""
        self._words = ""
        self._since_s = 0.0
        self._painted_s = float("-inf")
        self._paused = False
        self._ticker: asyncio.Task[None] | None = None

    def stream(self, chunk: str) -> None:
        """Show the next piece; finished blocks become final."""
        for block in self._blocks.feed(inert_answer(chunk)):
            self._finish(block)
        self._tail_rows = None
        if self._clock.monotonic() - self._painted_s >= _MIN_FRAME_S:
            self._paint()
        self._keep_ticking()

    def end_stream(self) -> None:
        """Make the unfinished block final."""
        self._finish(self._blocks.take())
        self._tail_rows = []
        if self._streamed:
            self._above.append("\n")
            self._streamed = False
        self._paint()

    def status(self, status: Status | None) -> None:
        """Show what goes on with the seconds it has taken."""
        words = status_words(status) if status else ""
        if status is None or status.phase != "thinking":
            self.end_stream()
        if words != self._words:
            self._words, self._since_s = words, self._clock.monotonic()
        self._paint()
        self._keep_ticking()

    def lines(self, lines: Sequence[Line]) -> None:
        """Show `lines` for good."""
        self.end_stream()
        self.aside(lines)

    def aside(self, lines: Sequence[Line]) -> None:
        """Show `lines` above what is unfinished."""
        for line in lines:
            for row in layout(line, self._console.width):
                self._above.append(self._render(RichText(row, style=_STYLES[line.style])))
        self._paint()

    def markdown(self, text: str) -> None:
        """Show a whole Markdown text above what is unfinished."""
        self._above.append(self._render_markdown(hanging(inert_answer(text), self._console.width - 2)))
        self._paint()

    def draft(self, text: str) -> None:
        """Show the end of what is typed in the last row, where the cursor is."""
        self._draft = text
        self._paint()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Clear the spinner and hold everything back."""
        self.end_stream()
        self._region.paint("", [])
        self._paused = True
        try:
            yield
        finally:
            self._paused = False
            self._paint()

    def settle(self) -> None:
        """Print what is unfinished and remove the spinner."""
        self.status(None)

    def _finish(self, block: str) -> None:
        if not block.strip():
            return
        self._above.append(("\n" if self._streamed else "") + self._render_markdown(block))
        self._streamed = True

    def _paint(self) -> None:
        if self._paused:
            return
        rows = [*self._tail(), *self._below(), *self._spinner(), *self._typed()]
        above = "".join(self._above)
        self._above.clear()
        self._region.paint(above, rows[-max(1, self._console.height - 1) :])
        self._painted_s = self._clock.monotonic()

    def _tail(self) -> list[str]:
        if self._tail_rows is None:
            self._tail_rows = self._render_tail(self._blocks.tail)
        return self._tail_rows

    def _render_tail(self, tail: str) -> list[str]:
        if not tail.strip():
            return []
        if len(tail) <= _LIVE_MARKDOWN_LIMIT:
            shown = self._render_markdown(tail)
        else:
            width, height = self._console.size
            shown = self._render(RichText(tail[-width * height :].expandtabs(4)))
        return [*([""] if self._streamed else []), *shown.removesuffix("\n").split("\n")]

    def _spinner(self) -> list[str]:
        if not self._words:
            return []
        elapsed_s = self._clock.monotonic() - self._since_s
        frame = self._frames[int(elapsed_s / _TICK_S) % len(self._frames)]
        text = f"{frame} {self._words}"
        elapsed = f"  {int(elapsed_s)} s" if elapsed_s >= 1 else ""
        room = max(1, self._console.width - 1 - len(elapsed))
        return [f"\x1b[2m{chop_cells(text, room)[0]}{elapsed}\x1b[0m"]

    def _below(self) -> list[str]:
        """Return what is counted down; between turns it stands at the prompt."""
        width = self._console.width - 1
        return [f"\x1b[33m{chop_cells(line, width)[0]}\x1b[0m" for line in self._counted() if self._words]

    def _typed(self) -> list[str]:
        if not self._draft:
            return []
        return ["> " + chop_cells(inert(self._draft)[::-1], max(1, self._console.width - 4))[0][::-1]]

    def _render_markdown(self, text: str) -> str:
        if len(text) > _MARKDOWN_LIMIT:
            return self._render(RichText(text.strip("\n")))
        markdown = Markdown(text, hyperlinks=False, code_theme="ansi_dark")
        _make_inert(markdown.parsed)
        rendered = self._render(markdown)
        return rendered.strip("\n") + "\n"

    def _render(self, renderable: RenderableType) -> str:
        with self._console.capture() as captured:
            self._console.print(renderable)
        return _TRAILING_BLANKS.sub(r"\1", captured.get())

    def _keep_ticking(self) -> None:
        if self._ticker is not None and not self._ticker.done():
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        self._ticker = loop.create_task(self._tick())

    async def _tick(self) -> None:
        while self._words or self._tail_rows is None:
            await self._clock.sleep(_TICK_S)
            self._paint()


def _make_inert(tokens: Iterable[Token]) -> None:
    """Make visible what became a character only when Markdown was read, such as `&#x202e;`."""
    for token in tokens:
        token.content = inert_answer(token.content)
        _make_inert(token.children or ())
