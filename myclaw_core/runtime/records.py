"""The small records that turns keep beside their events: which are open, and what a sender changed last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from attrs import field, frozen

__all__ = ["INBOX_KIND", "LAST_KIND", "TURN_KIND", "LastChange", "OpenTurn"]

TURN_KIND = "turn"
LAST_KIND = "last"
INBOX_KIND = "inbox"


@frozen(kw_only=True)
class OpenTurn:
    """A turn that is not closed yet, kept under its id.

    Attributes:
        owner: The process that runs it, as `process.this_process` names it.
    """

    owner: str
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class LastChange:
    """The last trace of a sender that changed something, kept under the sender's name."""

    trace_id: UUID
    unknown_fields: Mapping[str, Any] = field(factory=dict)
