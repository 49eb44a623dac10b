"""Wraps the lines of a code block inside their last column, so that a table stays one on a narrow screen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import wrap

__all__ = ["hanging"]

_LAST_COLUMN = re.compile(r"(?:.*\S)?\s{2,}(?=\S)")
_LEAST_COLUMNS = 20


def hanging(markdown: str, width: int) -> str:
    """Return `markdown` with the lines of its fenced blocks broken at `width` columns."""
    return "\n".join(_lines(markdown.split("\n"), width))


def _lines(lines: list[str], width: int) -> Iterator[str]:
    fence = ""
    for line in lines:
        if line.startswith("```"):
            ticks = line[: len(line) - len(line.lstrip("`"))]
            fence = "" if fence and len(ticks) >= len(fence) else fence or ticks
        if fence and len(line) > width and not line.startswith("```"):
            yield from wrap(line, width, subsequent_indent=" " * _indent(line, width), break_on_hyphens=False)
        else:
            yield line


def _indent(line: str, width: int) -> int:
    """Return where the last column begins, or a little more than the line's own indentation where no room is left."""
    column = _LAST_COLUMN.match(line[: max(width, 1)])
    if column and column.end() <= width - _LEAST_COLUMNS:
        return column.end()
    return min(len(line) - len(line.lstrip()) + 2, max(0, width - _LEAST_COLUMNS))
