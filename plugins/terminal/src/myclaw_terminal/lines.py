"""One line for people, laid out so that long or hostile values cannot pass for a line of ours."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

__all__ = ["Line", "Style", "layout"]

Style = Literal["", "bold", "dim", "good", "bad", "warn", "hunk"]


@frozen
class Line:
    """A line that may need several rows.

    Attributes:
        text: What it says; already inert.
        style: How it looks where there is colour.
        label: Stands in the indent of its first row.
        indent: Columns that every row leaves free, so that a wrapped value never starts at the margin.
    """

    text: str
    style: Style = ""
    label: str = ""
    indent: int = 0


def layout(line: Line, width: int | None) -> list[str]:
    """Return the rows of `line` on a screen of `width` columns; `None` does not wrap."""
    rows = [line.text.expandtabs(4)] if width is None else _wrap(line.text.expandtabs(4), max(8, width - line.indent))
    first = line.label.ljust(line.indent) + rows[0]
    return [first.rstrip(), *(" " * line.indent + row for row in rows[1:])]


def _wrap(text: str, width: int) -> list[str]:
    if len(text) <= width and text.isascii():
        return [text]
    from rich.console import Console
    from rich.text import Text as RichText

    rows = RichText(text).wrap(Console(width=width), width, overflow="fold")
    return [row.plain.rstrip() for row in rows] or [""]
