"""The person at this terminal: who they are to the policy, and what they are told once an agent has opened."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from myclaw_core.types.text import Text

__all__ = ["sender", "tell_notices"]


def sender() -> str:
    """Return who types here."""
    import getpass

    return f"cli:{getpass.getuser()}"


def tell_notices(notices: Iterable[Text]) -> None:
    """Print each notice as a line that no program takes for output."""
    from myclaw_core.files.visible import visible
    from myclaw_core.messages import render

    for notice in notices:
        print(f"myclaw: {visible(render(notice))}", file=sys.stderr)
