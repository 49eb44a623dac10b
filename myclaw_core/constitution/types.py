"""What the constitution reports."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from attrs import field, frozen

from myclaw_core.types.text import Text

__all__ = ["Law", "ViolationReport"]

Law = Literal["law.0", "law.1", "law.2", "law.3", "law.4"]


@frozen(kw_only=True)
class ViolationReport:
    """One law that an action would break.

    Attributes:
        law: The law, `law.0` (perimeter) to `law.4` (frugality).
        rule: Name of the rule that found it.
        reason: One line for people.
        action_digest: `args_digest` of the action.
        at: Aware UTC.
    """

    law: Law
    rule: str
    reason: Text
    action_digest: str
    at: datetime
    unknown_fields: Mapping[str, Any] = field(factory=dict)
