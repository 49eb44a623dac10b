"""Cuts a long answer into messages of the size that Telegram takes, where that hurts least."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator

from attrs import evolve, frozen

__all__ = ["LIMIT_UNITS", "Part", "Rendering", "split", "units"]

LIMIT_UNITS = 4096
"""Most UTF-16 units of one message."""

Rendering = Callable[[str], str]
"""Turns the text of a part into what is sent; it may be longer, and must still fit."""

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_FENCE = re.compile(
    r"(?P<before>[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)"
    r"(?P<marker>`{3,64}(?=[^`]*$)|~{3,64})(?P<info>.*)"
)
_MAX_INFO_CHARS = 32
_MAX_INDENT = 3
_MAX_CLUSTER_CHARS = 64
_LEAST_UNITS = 64
_ZWJ = "\u200d"
_SENTENCE_ENDS = (". ", "! ", "? ", "。", "！", "？")


@frozen
class Fence:
    """A code block that is open.

    Attributes:
        before: What stands before the marker of its first line.
        start: Index of that line in the text that is cut; below 0 where it was opened before.
        inside: Index of the line behind it.
    """

    before: str
    marker: str
    info: str
    start: int
    inside: int

    @property
    def opening(self) -> str:
        """Return the line that opens it again in the next message."""
        return f"{self.before[:_MAX_INDENT] if self.before.isspace() else ''}{self.marker}{self.info}\n"

    @property
    def closing(self) -> str:
        """Return the line that closes it."""
        return f"{' ' * len(self.before.expandtabs(4))}{self.marker}"

    def is_closed_by(self, line: str) -> bool:
        """Return whether a line ends the block."""
        bare = line.strip()
        return len(bare) >= len(self.marker) and set(bare) == {self.marker[0]}


@frozen
class Part:
    """What one message holds.

    Attributes:
        body: Its piece of the text; those of all parts together are the text.
        opening: The fence that is opened again before it, or empty.
        closing: What closes its last fence, or empty.
    """

    body: str
    opening: str = ""
    closing: str = ""

    @property
    def text(self) -> str:
        """Return the piece as it stands alone."""
        line_end = "\n" if self.closing and not self.body.endswith("\n") else ""
        return f"{self.opening}{self.body}{line_end}{self.closing}"


def units(text: str) -> int:
    """Return the length of a text in UTF-16 units."""
    return len(text) + sum(char > "\uffff" for char in text)


def split(text: str, rendering: Rendering = lambda text: text, limit: int = LIMIT_UNITS) -> list[Part]:
    """Return the parts of a text, none of them empty or blank; a blank text has none.

    A code block stays whole where it fits into a message; one that does not is closed, and opened again in the next.
    Else it is cut between paragraphs, lines, sentences or words, and never within what is one character to a reader,
    if that can be.

    Args:
        rendering: What becomes of the text of a part; it stays within the limit, too.
        limit: Most UTF-16 units of a part, 256 or more.
    """
    parts = []
    fence: Fence | None = None
    while text:
        part, fence = _first(text, fence, rendering, limit)
        text = text[len(part.body) :]
        if part.body.strip():
            parts.append(part)
    return parts


def _first(text: str, fence: Fence | None, rendering: Rendering, limit: int) -> tuple[Part, Fence | None]:
    """Return the longest good first part, and the fence that is open behind it."""
    room = limit
    while True:
        part, open_fence = _cut(text, fence, room, limit)
        longest = max(units(part.text), units(rendering(part.text)))
        if longest <= limit or room <= _LEAST_UNITS:
            return part, open_fence
        room = max(_LEAST_UNITS, min(room * 3 // 4, room * limit // longest))


def _cut(text: str, fence: Fence | None, room: int, limit: int) -> tuple[Part, Fence | None]:
    opening = fence.opening if fence else ""
    room = max(1, room - units(opening))
    if units(text[: room + 1]) <= room:
        return Part(text, opening), None  # a fence that is never closed ends with the message
    reserve = _reserve(text[:room], fence)
    end = _best_end(text, fence, _prefix(text, room - reserve), limit)
    open_fence = _fence_after(text[:end], fence)
    if open_fence is not None:
        next_line = _LINE.match(text, end)
        if next_line and len(next_line[0]) <= reserve and open_fence.is_closed_by(next_line[0]):
            return Part(text[: next_line.end()], opening), None
    return Part(text[:end], opening, open_fence.closing if open_fence else ""), open_fence


def _reserve(text: str, fence: Fence | None) -> int:
    """Return the units that closing a fence may need, wherever the text is cut."""
    return max((units(after.closing) + 1 for _start, after in _walk(text, fence) if after), default=0)


def _walk(text: str, fence: Fence | None, start: int = 0) -> Iterator[tuple[int, Fence | None]]:
    """Yield the start of each line, from that at `start` on, with the fence that is open after it."""
    for line in _LINE.finditer(text, start):
        if fence is not None:
            fence = None if fence.is_closed_by(line[0]) else fence
        elif found := _FENCE.fullmatch(line[0].rstrip("\r\n")):
            info = found["info"].strip()[:_MAX_INFO_CHARS]
            fence = Fence(found["before"], found["marker"], info, line.start(), line.end())
        yield line.start(), fence


def _fence_after(text: str, fence: Fence | None) -> Fence | None:
    fence = evolve(fence, start=-1, inside=0) if fence else None
    for _start, after in _walk(text, fence):
        fence = after
    return fence


def _best_end(text: str, fence: Fence | None, most: int, limit: int) -> int:
    """Return where the first part ends, at `most` at the latest."""
    head = text[:most]
    open_fence = _fence_after(head, fence)
    if open_fence is not None:
        if open_fence.start > 0 and _fits_whole(text, open_fence, limit):
            return open_fence.start
        end = head.rfind("\n") + 1
        return end if end > open_fence.inside else _between_characters(text, most)
    for end in (head.rfind("\n\n") + 2, head.rfind("\n") + 1, _sentence_end(head), head.rfind(" ") + 1):
        if end > most // 2 and _fence_after(text[:end], fence) is None:
            return end
    return _between_characters(text, most)


def _fits_whole(text: str, fence: Fence, limit: int) -> bool:
    """Return whether a code block fits into a message of its own, with some room for what it is rendered to."""
    most = limit * 9 // 10
    for start, after in _walk(text, None, fence.start):
        if start - fence.start > most:
            return False
        if after is None:
            return units(text[fence.start : start]) + units(fence.closing) <= most
    return units(text[fence.start :]) <= most


def _sentence_end(head: str) -> int:
    return max(head.rfind(mark) + len(mark) for mark in _SENTENCE_ENDS)


def _prefix(text: str, room: int) -> int:
    """Return how many characters fit into so many units; one at least."""
    head = text[: max(1, room)]
    used = units(head)
    end = len(head)
    while used > room and end > 1:
        end -= 1
        used -= units(text[end])
    return end


def _between_characters(text: str, most: int) -> int:
    """Return the last place up to `most` that is not within a cluster of characters that belong together."""
    for end in range(most, max(0, most - _MAX_CLUSTER_CHARS), -1):
        if not _belong_together(text, end):
            return end
    return most


def _belong_together(text: str, at: int) -> bool:
    if at <= 0 or at >= len(text):
        return False
    before, after = text[at - 1], text[at]
    if _ZWJ in (before, after) or (before, after) == ("\r", "\n"):
        return True
    if unicodedata.category(after) in ("Mn", "Me", "Mc") or "\U0001f3fb" <= after <= "\U0001f3ff":
        return True
    if "\U000e0020" <= after <= "\U000e007f":
        return True
    return _is_regional(after) and _regionals_before(text, at) % 2 == 1


def _is_regional(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _regionals_before(text: str, at: int) -> int:
    start = at
    while start > 0 and _is_regional(text[start - 1]):
        start -= 1
    return at - start
