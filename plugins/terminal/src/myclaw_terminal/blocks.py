"""Cuts growing Markdown where what came before cannot change any more, so that it is rendered once."""

from __future__ import annotations

import re

__all__ = ["BlockSplitter"]

_LIST_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:\s|$)")
_FENCE = re.compile(r"\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)*(`{3,}(?=[^`]*$)|~{3,})")


class BlockSplitter:
    """Takes text in pieces of any size and gives back whole blocks.

    A block ends before a line at the margin that follows a blank line, outside a code fence and outside a list.
    Where it is unsure it does not cut: the block only grows longer.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._line: list[str] = []
        self._fence = ""
        self._in_list = False

    @property
    def tail(self) -> str:
        """Return the text of the block that is not finished."""
        return "".join(self._lines) + "".join(self._line)

    def feed(self, chunk: str) -> list[str]:
        """Take the next piece and return the blocks that it finished."""
        *ends, rest = chunk.split("\n")
        finished = []
        for end in ends:
            line = "".join(self._line) + end + "\n"
            self._line.clear()
            if self._cuts_before(line):
                finished.append(self._take_lines())
            self._add(line)
        self._line.append(rest)
        return finished

    def take(self) -> str:
        """Return the unfinished block and start anew."""
        rest = "".join(self._line)
        self._line.clear()
        return self._take_lines() + rest

    def _cuts_before(self, line: str) -> bool:
        if self._fence or not self._lines or self._lines[-1].strip():
            return False
        if line[0].isspace():
            return False
        return not (self._in_list and _LIST_ITEM.match(line))

    def _add(self, line: str) -> None:
        self._lines.append(line)
        if self._fence:
            bare = line.strip()
            if len(bare) >= len(self._fence) and set(bare) == {self._fence[0]}:
                self._fence = ""
            return
        self._in_list = self._in_list or _LIST_ITEM.match(line.lstrip()) is not None
        opened = _FENCE.match(line)
        if opened:
            self._fence = opened[1]

    def _take_lines(self) -> str:
        block = "".join(self._lines)
        self._lines.clear()
        self._fence = ""
        self._in_list = False
        return block
