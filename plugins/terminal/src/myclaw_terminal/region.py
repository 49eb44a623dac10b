"""The part of the screen that is still changing, at the bottom, below everything that is final."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile

__all__ = ["Region"]

_HIDE, _SHOW, _ERASE_BELOW = "\x1b[?25l", "\x1b[?25h", "\x1b[J"


class Region:
    """Repaints a few rows in place.

    Each repaint is one write that hides the cursor and shows it again, so that no way of ending leaves it hidden. Only
    rows from the first changed one on are written: a long answer does not flicker.
    """

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._rows: list[str] = []

    def paint(self, above: str, rows: Sequence[str]) -> None:
        """Put `above` (whole lines, or nothing) over the region for good and let the region show `rows`.

        Args:
            above: Text that ends with a line feed, or is empty.
            rows: The new rows, none wider than the screen and fewer than it is high.
        """
        same = 0 if above else self._unchanged(rows)
        if not above and same == len(rows) == len(self._rows):
            return
        keep = min(same, max(0, len(self._rows) - 1))
        self._write(_HIDE + self._back_to(keep) + above + "\n".join(rows[keep:]) + _SHOW)
        self._rows = list(rows)

    def _unchanged(self, rows: Sequence[str]) -> int:
        pairs = zip(self._rows, rows, strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))

    def _back_to(self, row: int) -> str:
        if not self._rows:
            return ""
        up = len(self._rows) - 1 - row
        return "\r" + (f"\x1b[{up}A" if up else "") + _ERASE_BELOW
