"""One question on the terminal whose answer is yes or no; where nobody is there, it is not asked."""

from __future__ import annotations

import sys

from myclaw_core.errors import UsageError
from myclaw_core.messages import N_, _

__all__ = ["says_yes"]


def says_yes(question: str) -> bool:
    """Ask and return the answer; anything but a clear yes is no.

    Raises:
        UsageError: Nobody can be asked.
    """
    if not sys.stdin.isatty():
        raise UsageError(N_("nobody can be asked here; read what is said above, then add --yes"))
    try:
        given = input(question).strip().lower()
    except EOFError:
        print()
        return False
    return given in {"y", "yes", *_("y yes").split()} - {"n", "no"}  # no translation makes a no a yes
