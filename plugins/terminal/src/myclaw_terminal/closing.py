"""What was done in a turn, as lines of the terminal."""

from __future__ import annotations

from myclaw_core.runtime.types import ExecutionTrace
from myclaw_core.shown.closing import closing
from myclaw_terminal.lines import Line, said

__all__ = ["closing_lines"]


def closing_lines(trace: ExecutionTrace, undo: str) -> list[Line]:
    """Return the lines that close a turn; none for one that succeeded without a step.

    Args:
        undo: How an undo is written where this is read.
    """
    shown = closing(trace, undo)
    return [said(each.label, each.text, each.tone) if each.label else Line(each.text, each.tone) for each in shown]
