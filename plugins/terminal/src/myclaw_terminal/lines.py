"""One line for people, laid out so that long or hostile values cannot pass for a line of ours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attrs import frozen

from myclaw_core.shown.said import Tone

__all__ = ["Line", "Style", "columns", "layout", "said"]

Style = Tone

_LEAST_COLUMNS = 7
_NARROW_INDENT = 4


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


def said(label: str, text: str, style: Style = "") -> Line:
    """Return a line whose text stands beside its label, however long that is."""
    return Line(text, style, label=label, indent=columns(label) + 1)


def columns(text: str) -> int:
    """Return how many columns `text` takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def layout(line: Line, width: int | None) -> list[str]:
    """Return the rows of `line` on a screen of `width` columns; `None` does not wrap.

    Where the indent leaves too little room, the text stands below the label.
    """
    label = line.label + " " * (line.indent - columns(line.label))
    text = line.text.expandtabs(4)
    if width is None:
        return [(label + text).rstrip()]
    if width - line.indent < _LEAST_COLUMNS and line.indent > _NARROW_INDENT:
        above = [row for row in _wrap(line.label, width) if row]
        return [*above, *_indented(_wrap(text, max(_LEAST_COLUMNS, width - _NARROW_INDENT)), _NARROW_INDENT)]
    first, *rest = _wrap(text, max(_LEAST_COLUMNS, width - line.indent))
    return [(label + first).rstrip(), *_indented(rest, line.indent)]


def _indented(rows: Iterable[str], indent: int) -> Iterator[str]:
    return (" " * indent + row for row in rows)


def _wrap(text: str, width: int) -> list[str]:
    if len(text) <= width and text.isascii():
        return [text]
    from rich.console import Console
    from rich.text import Text as RichText

    rows = RichText(text).wrap(Console(width=width), width, overflow="fold")
    return [row.plain.rstrip() for row in rows] or [""]
