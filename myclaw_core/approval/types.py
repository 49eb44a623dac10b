"""Questions put to a person and their answers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from attrs import field, frozen

from myclaw_core.types.action import ApprovalRequestDraft
from myclaw_core.types.text import Text

__all__ = ["Approval", "ApprovalCard", "ApprovalNote", "ApprovalRequest", "ApprovalState", "Reply"]

ApprovalNote = Literal["", "unattended", "no answer", "timeout", "turn ended", "restart"]
ApprovalState = Literal["pending", "granted", "consumed", "denied", "expired", "revoked"]


@frozen(kw_only=True)
class ApprovalRequest:
    """A question, bound to its sender, its arguments and its expiry; only the gateway makes one.

    Attributes:
        not_before: Answers before this moment are refused (reading pause).
        tutor: Whether it must be granted by typing the target's name.
        batchable: Whether similar actions may be granted with it.
    """

    id: UUID
    draft: ApprovalRequestDraft
    channel: str
    sender: str
    created_at: datetime
    expires_at: datetime
    not_before: datetime
    tutor: bool = False
    batchable: bool = False
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class Approval:
    """How a request ended.

    Attributes:
        decided_by: The sender that answered, or `core` for expiry, restart and unattended runs.
        scope: `once`, or `batch` when one answer covered several.
        note: Why, where it was not a person's plain answer; empty where it was.
    """

    request_id: UUID
    trace_id: UUID
    verdict: Literal["granted", "denied", "expired", "revoked"]
    decided_by: str
    decided_at: datetime
    scope: Literal["once", "batch"] = "once"
    note: ApprovalNote = ""
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class ApprovalCard:
    """What a channel shows for one request; all of it is built after resolution.

    Attributes:
        request: The request.
        diff: Unified diff of a file change, or empty.
        record: How this actor has done so far, one entry a subject.
    """

    request: ApprovalRequest
    diff: str = ""
    record: tuple[Text | str, ...] = ()


@frozen(kw_only=True)
class Reply:
    """A person's answer to one card.

    Attributes:
        granted: Yes or no; no answer at all is no.
        by: The sender that answered.
    """

    request_id: UUID
    granted: bool
    by: str
