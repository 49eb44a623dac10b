"""What the program logs reaches a person as single lines on stderr: each once, never with a traceback."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable

__all__ = ["LogLines"]


class LogLines(logging.Handler):
    """Prints warnings and errors; while the agent starts they are held back, since its notices say most of them.

    Args:
        hold: Whether to hold lines back until `unhold`.
    """

    def __init__(self, *, hold: bool) -> None:
        super().__init__(logging.WARNING)
        self._held: list[str] | None = [] if hold else None
        self._told: set[str] = set()
        logging.getLogger().addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Print the line of a record, or hold it."""
        line = record.getMessage()
        if self._held is not None:
            self._held.append(line)
        else:
            self._tell(line)

    def unhold(self, told: Iterable[str] = ()) -> None:
        """Print what was held back, without the lines that were `told` otherwise."""
        held, self._held = self._held or [], None
        self._told.update(told)
        for line in held:
            self._tell(line)

    def _tell(self, line: str) -> None:
        if line not in self._told:
            self._told.add(line)
            print(f"myclaw: {line}", file=sys.stderr)
