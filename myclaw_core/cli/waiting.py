"""What takes seconds shows on a terminal that it goes on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

__all__ = ["waiting"]

_ERASE = "\r\x1b[K"


@contextmanager
def waiting(told: str) -> Iterator[Callable[[str], None]]:
    """Show a line while something lasts, and take it away afterwards; where nobody reads, show nothing.

    What it gives prints a line meanwhile, above the one that is shown.
    """
    if not sys.stderr.isatty():
        yield partial(print, flush=True)
        return

    def tell(line: str) -> None:
        _on_screen(_ERASE)
        print(line, flush=True)
        _on_screen(told)

    _on_screen(told)
    try:
        yield tell
    finally:
        _on_screen(_ERASE)


def _on_screen(text: str) -> None:
    print(text, end="", file=sys.stderr, flush=True)
