"""What a rule of the constitution is: a named function that belongs to one law."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from myclaw_core.constitution.types import Law
from myclaw_core.types.action import PlannedAction
from myclaw_core.types.text import Text

__all__ = ["Ground", "Rule", "RuleCheck"]


@frozen(kw_only=True)
class Ground:
    """What a rule may know besides the action.

    Attributes:
        user_home: Real path of the person's home folder; empty where it is not known.
        roots: Real paths the person opened.
        unrecordable: Why nothing can be recorded now, or `None`.
    """

    user_home: str = ""
    roots: tuple[str, ...] = ()
    unrecordable: Text | None = None


RuleCheck = Callable[[PlannedAction, Ground], Text | None]
"""Returns one line for people where the action breaks the rule; pure apart from looking at the file system."""


@frozen
class Rule:
    """One rule of one law.

    Attributes:
        name: Unique over all rules.
        check: Finds a violation.
    """

    name: str
    law: Law
    check: RuleCheck
