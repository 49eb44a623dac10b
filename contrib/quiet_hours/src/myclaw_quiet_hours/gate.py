"""Whether an action comes at a quiet time."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from myclaw_core.messages import N_
from myclaw_core.policy.types import Finding
from myclaw_core.types.action import PlannedAction

__all__ = ["is_quiet", "quiet_hours"]


def quiet_hours(action: PlannedAction, now: datetime, config: Mapping[str, Any]) -> Finding | None:
    """Return a finding where `action` would change something at a quiet time.

    Args:
        now: The local time.
        config: `from_hour` and `until_hour`, 0 to 23.
    """
    begins, ends = config["from_hour"], config["until_hour"]
    if not is_quiet(now.hour, begins, ends) or not any(effect.is_side_effect for effect in action.effects):
        return None
    text = N_(
        "quiet hours from {begins}:00 until {ends}:00: nothing is changed without a question", begins=begins, ends=ends
    )
    return Finding(verdict="approve_required", text=text)


def is_quiet(hour: int, begins: int, ends: int) -> bool:
    """Return whether `hour` lies in [begins, ends), also where that goes over midnight."""
    return (hour - begins) % 24 < (ends - begins) % 24
