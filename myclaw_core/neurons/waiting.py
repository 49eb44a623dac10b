"""Names the neurons that nobody has answered about yet: they are not in the folder of neurons until somebody does."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from myclaw_core.approval.deferred import Deferrals
from myclaw_core.events.log import EventLog
from myclaw_core.neurons.questions import ADMIT

__all__ = ["waiting_names"]


async def waiting_names(log: EventLog, now: datetime) -> Sequence[str]:
    """Return the neurons whose adoption waits for an answer, by name.

    Raises:
        StoreError: The log cannot be read.
    """
    left = await Deferrals(lasts=timedelta()).waiting(log, now)
    asked = [each.sealed.args for each in left if each.request.draft.action.tool_name == ADMIT]
    return sorted({str(args.get("name")) for args in asked})
