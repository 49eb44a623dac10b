"""What turns failed at for want of a skill, remembered for a month, so that what fails again and again is seen."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from attrs import field, frozen

from myclaw_core import codec
from myclaw_core.errors import CodecError
from myclaw_core.events.log import EventLog, LogTransaction
from myclaw_core.messages import N_
from myclaw_core.runtime.types import ExecutionTrace
from myclaw_core.synthesis.goals import plain_goal
from myclaw_core.synthesis.triggers import tools_tried

__all__ = ["FAILED_GOAL_KIND", "REMEMBERED", "FailedGoal", "failed_goals", "note_failure"]

FAILED_GOAL_KIND = "failed_goal"
"""Kind of the records in the core database, each under the id of its trace."""
REMEMBERED = timedelta(days=30)
_MOST = 500

_log = logging.getLogger("myclaw.synthesis")


@frozen(kw_only=True)
class FailedGoal:
    """What one turn failed at.

    Attributes:
        sender: Who asked for it.
        tools: What was tried.
    """

    trace_id: UUID
    goal: str
    sender: str
    tools: tuple[str, ...]
    at: datetime
    unknown_fields: Mapping[str, Any] = field(factory=dict)


async def note_failure(tx: LogTransaction, trace: ExecutionTrace, goal: str, now: datetime) -> None:
    """Remember in `tx` what a turn failed at; a trace is remembered once, of too many the oldest go.

    Args:
        goal: What the person typed; it is kept as `plain_goal`.

    Raises:
        StoreError: It cannot be recorded.
    """
    failed = FailedGoal(
        trace_id=trace.id,
        goal=plain_goal(goal),
        sender=trace.sender,
        tools=tools_tried(trace),
        at=now,
    )
    if not failed.goal or await tx.get(FAILED_GOAL_KIND, str(trace.id)) is not None:
        return
    await tx.put(FAILED_GOAL_KIND, str(trace.id), codec.dumps(failed))
    await _prune(tx, now)


async def failed_goals(records: EventLog | LogTransaction, now: datetime) -> Sequence[FailedGoal]:
    """Return what is remembered, the oldest first; what cannot be read is told in the log and left out.

    Raises:
        StoreError: The log cannot be read.
    """
    found = [_read(key, raw) for key, raw in await records.scan(FAILED_GOAL_KIND)]
    return sorted((each for each in found if each and _is_recent(each, now)), key=_order)


async def _prune(tx: LogTransaction, now: datetime) -> None:
    """Forget what is over; where there are still too many, what cannot be read goes first and then the oldest."""
    kept: list[tuple[bool, datetime, str]] = []
    for key, raw in await tx.scan(FAILED_GOAL_KIND):
        each = _read(key, raw)
        if each is not None and not _is_recent(each, now):
            await tx.delete(FAILED_GOAL_KIND, key)
        else:
            kept.append((each is not None, each.at if each else now, key))
    for _, _, key in sorted(kept)[:-_MOST]:
        await tx.delete(FAILED_GOAL_KIND, key)


def _is_recent(each: FailedGoal, now: datetime) -> bool:
    """Return whether it is remembered still; a clock that was set back makes nothing last for years."""
    return abs(now - each.at) < REMEMBERED


def _order(each: FailedGoal) -> tuple[datetime, str]:
    return each.at, str(each.trace_id)


def _read(key: str, raw: bytes) -> FailedGoal | None:
    try:
        return codec.loads(FailedGoal, raw, N_("failed goal {key}", key=key))
    except CodecError as error:
        _log.warning("%s; it is left out", error)
        return None
