"""What commands share that only look or undo: a configuration that does not load must not lock anybody out of them."""

from __future__ import annotations

import sys

from myclaw_core.errors import ConfigError

__all__ = ["tell_broken"]


def tell_broken(error: ConfigError) -> None:
    """Say in one line that the defaults are in force, and why."""
    first, *more = str(error).split("\n")
    others = f" (and {len(more)} more)" if more else ""
    print(f"myclaw: the configuration does not load, the defaults are used here: {first}{others}", file=sys.stderr)
