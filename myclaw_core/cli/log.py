"""What the program logs reaches a person as single lines on stderr: each once, never with a traceback."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    import asyncio

__all__ = ["LogLines"]


class LogLines(logging.Handler):
    """Prints warnings and errors; while the agent starts they are held back, since its notices say most of them.

    Use it as `with LogLines(hold=…) as lines`: it listens inside the block only.

    Args:
        hold: Whether to hold lines back until `unhold`.
    """

    def __init__(self, *, hold: bool) -> None:
        super().__init__(logging.WARNING)
        self._held: list[str] | None = [] if hold else None
        self._told: set[str] = set()
        self._show: Callable[[str], None] = _to_stderr
        self._loop: asyncio.AbstractEventLoop | None = None

    def __enter__(self) -> Self:
        """Begin to listen."""
        logging.getLogger().addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        """Stop listening."""
        logging.getLogger().removeHandler(self)
        self.close()

    def emit(self, record: logging.LogRecord) -> None:
        """Print the line of a record, or hold it."""
        line = record.getMessage()
        if self._held is not None:
            self._held.append(line)
        else:
            self._tell(line)

    def unhold(self, told: Iterable[str] = (), show: Callable[[str], None] | None = None) -> None:
        """Print what was held back, without the lines that were `told` otherwise.

        Args:
            show: Prints each line from now on where a screen must not be torn; called in the running loop's thread.
        """
        held, self._held = self._held or [], None
        if show is not None:
            import asyncio

            self._show, self._loop = show, asyncio.get_running_loop()
        self._told.update(told)
        for line in held:
            self._tell(line)

    def _tell(self, line: str) -> None:
        if line not in self._told:
            self._told.add(line)
            if self._loop is None or self._loop.is_closed():
                _to_stderr(f"myclaw: {line}")
            elif threading.current_thread() is threading.main_thread():
                self._show(f"myclaw: {line}")
            else:
                self._loop.call_soon_threadsafe(self._show, f"myclaw: {line}")


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr)
