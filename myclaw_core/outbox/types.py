"""What waits to be sent: its record, from the moment it is held to how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from attrs import field, frozen

from myclaw_core.types.text import Text

__all__ = ["OutboxMessage", "OutboxState"]

OutboxState = Literal["held", "sending", "sent", "failed", "unknown", "recalled", "dropped"]
"""`held → recalled | dropped | failed | sending`, `sending → sent | failed | unknown`; nothing leaves the last ones."""


@frozen(kw_only=True)
class OutboxMessage:
    """Something that is sent once its hold is over.

    Attributes:
        key: Made once; whatever is delivered under the same key is the same message.
        tool: Name of the tool that delivers it.
        args: What is sent, as it was judged and unmasked; empty once it has ended.
        targets: To whom, as its effects name them.
        sender: Who had it sent, and alone can recall it.
        channel: Name of the channel it was ordered on.
        due_at: When the hold is over, for people; the process that holds it measures by its monotonic clock.
        owner: The process that holds it, as `process.this_process` names it.
        ended_at: When it was sent, recalled or given up.
        reason: Why it was not sent, or what its delivery told.
        owed: Whether its sender is still to be told how it ended: the program had ended, or was about to.
    """

    id: UUID
    key: UUID
    tool: str
    args: Mapping[str, Any]
    targets: tuple[str, ...]
    sender: str
    channel: str
    trace_id: UUID
    step_index: int
    held_at: datetime
    due_at: datetime
    owner: str
    state: OutboxState = "held"
    ended_at: datetime | None = None
    reason: Text | None = None
    owed: bool = False
    unknown_fields: Mapping[str, Any] = field(factory=dict)
