"""Makes the standard streams safe to use: open, able to print any text, and quiet once nobody reads them."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

__all__ = ["drop_output", "mend_streams"]


def mend_streams() -> None:
    """Open what was closed as an empty stream, and let characters that an encoding lacks be printed as escapes."""
    nowhere = Path(os.devnull)
    sys.stdin = sys.stdin or nowhere.open(encoding="utf-8")
    sys.stdout = sys.stdout or nowhere.open("w", encoding="utf-8")
    sys.stderr = sys.stderr or nowhere.open("w", encoding="utf-8")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def drop_output() -> None:
    """Let stdout lead nowhere, so that what is still buffered does not fail once more at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
