"""What spending is counted under, so that a day can be told by tier, purpose, activity, level and model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from attrs import field, frozen

__all__ = ["ACTION", "ACTIVITIES", "Account", "Activity"]

Activity = Literal["turn", "schedule", "heartbeat", "nightly"]
"""What sort of work it is: a person's message, a schedule, a look whether there is anything to do, the night's work."""

ACTIVITIES: tuple[Activity, ...] = get_args(Activity)

ACTION = "action"
"""The purpose of what an action spends by itself, without a model."""


@frozen(kw_only=True)
class Account:
    """Where one booking belongs. Texts, so that a day to which a later version added others can still be read.

    Attributes:
        tier: `local-fast` or `frontier`; empty for an action.
        purpose: Why the model was called, or `action`; empty where that was not written down.
        activity: What sort of work it was.
        level: Autonomy level of the turn; empty where there is none.
        model: The model as it was asked for; empty for an action.
    """

    tier: str = ""
    purpose: str = ""
    activity: str = "turn"
    level: str = ""
    model: str = ""
    unknown_fields: Mapping[str, Any] = field(factory=dict, hash=False)
