"""What takes seconds shows on a terminal that it goes on."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["waiting"]

_ERASE = "\r\x1b[K"


@contextmanager
def waiting(told: str) -> Iterator[None]:
    """Show a line while something lasts, and take it away afterwards; where nobody reads, show nothing."""
    if not sys.stderr.isatty():
        yield
        return
    print(told, end="", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        print(_ERASE, end="", file=sys.stderr, flush=True)
