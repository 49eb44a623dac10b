"""What commands share that only look or undo: a configuration that does not load must not lock anybody out of them."""

from __future__ import annotations

import sys

from myclaw_core.errors import ConfigError
from myclaw_core.files.visible import visible
from myclaw_core.messages import _

__all__ = ["tell_broken"]


def tell_broken(error: ConfigError) -> None:
    """Say in one line that the defaults are in force, and why."""
    first, *more = error.problems
    told = _("the configuration does not load, the defaults are used here: {problem}", problem=first)
    others = f" ({_('and {n} more', n=len(more))})" if more else ""
    print(f"myclaw: {visible(told + others)}", file=sys.stderr)
