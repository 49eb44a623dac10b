"""Rows as text whose columns line up, however long the words of a language are."""

from __future__ import annotations

from collections.abc import Collection, Sequence

__all__ = ["columns"]


def columns(rows: Sequence[Sequence[str]], *, right: Collection[int] = ()) -> list[str]:
    """Return one line a row, each column as wide as its widest cell, two blanks between them.

    Args:
        rows: Cells of one line each; all rows have as many.
        right: The columns, from 0, that end at the same place (numbers) instead of beginning there.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(_padded(row, widths, right)).rstrip() for row in rows]


def _padded(row: Sequence[str], widths: Sequence[int], right: Collection[int]) -> list[str]:
    return [
        cell.rjust(width) if index in right else cell.ljust(width)
        for index, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]
