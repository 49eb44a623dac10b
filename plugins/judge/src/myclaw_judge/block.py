"""Shows a draft to a model as data: nothing in it can end the block that it stands in, or begin another."""

from __future__ import annotations

from myclaw_core.files.visible import visible
from myclaw_core.judging.types import JudgedItem

__all__ = ["BEGIN", "END", "block"]

BEGIN = "===== DATA ====="
END = "===== END OF DATA ====="
_MARGIN = "| "
_SIGN = "=="


def block(item: JudgedItem) -> str:
    """Return the lines of an item between two marks.

    Each of its lines begins with a margin, which no mark has, and none holds the sign that the marks are made of three
    times in a row; what cannot be seen is written as an escape.
    """
    rights = ", ".join(item.capabilities) or "nothing but compute"
    lines = [f"purpose: {item.purpose}", f"may: {rights}", *item.body.split("\n")]
    shown = (_MARGIN + _unmarked(visible(line)) for line in lines)
    return "\n".join((BEGIN, *shown, END))


def _unmarked(line: str) -> str:
    while _SIGN + "=" in line:
        line = line.replace(_SIGN + "=", "= = =")
    return line
