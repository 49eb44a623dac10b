"""The command line: parsing is cheap, everything else is imported by the command that needs it."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 fine, 1 found problems, 2 usage, 3 unavailable.

    Args:
        argv: The arguments without the program's name; those of the process by default.
    """
    from myclaw_core.cli.run import run

    return run(list(sys.argv[1:] if argv is None else argv))
