"""Questions put to a person and their answers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from attrs import field, frozen

from myclaw_core.synthesis.types import Revision
from myclaw_core.types.action import ApprovalRequestDraft
from myclaw_core.types.text import Text
from myclaw_core.types.trust import TrustSubject

__all__ = [
    "Approval",
    "ApprovalCard",
    "ApprovalNote",
    "ApprovalRequest",
    "ApprovalState",
    "DeferralEnding",
    "Deferred",
    "Grant",
    "GrantEnding",
    "Origin",
    "Reach",
    "Reply",
    "Sealed",
]

ApprovalNote = Literal["", "unattended", "no answer", "timeout", "turn ended", "restart", "elsewhere", "deferred"]
ApprovalState = Literal["pending", "granted", "consumed", "denied", "expired", "revoked"]
Reach = Literal["once", "10_min", "30_min", "3_times", "always", "keep_asking", "never"]
"""How far an answer goes: this once; similar ones for a time or a number of times, this one included; exactly this from
now on; this once, and trust ends no question of the kind; or, with a no, never again."""
GrantEnding = Literal["over", "used up", "revoked", "paused"]
DeferralEnding = Literal["run", "denied", "expired", "crowded out", "dropped", "outdated"]


@frozen(kw_only=True)
class Origin:
    """Where a question comes from that a run without anybody there left for later.

    Attributes:
        request_id: The request of that run, which nobody was there to answer.
        trace_id: That run; the answer is evidence in it.
        sender: Who ran it.
        at: When it was asked.
    """

    request_id: UUID
    trace_id: UUID
    sender: str
    at: datetime
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class ApprovalRequest:
    """A question, bound to its sender, its arguments and its expiry; only the gateway makes one.

    Attributes:
        not_before: Answers before this moment are refused (reading pause); a channel that shows it later waits longer.
        tutor: Whether it must be granted by typing the target's name.
        batchable: Whether it may be answered together with others, and similar actions be granted with it.
        standing: Whether exactly this may be granted for good.
        completes: Subjects that would be done by themselves from the next time on, if this is granted.
        origin: The run that left it for later; `None` where the turn itself waits for the answer.
        revisable: Whether a no may say what should be otherwise (`Reply.revision`).
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
    standing: bool = False
    completes: tuple[TrustSubject, ...] = ()
    origin: Origin | None = None
    revisable: bool = False
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class Approval:
    """How a request ended.

    Attributes:
        decided_by: The sender that answered, or `core` for expiry, restart and unattended runs.
        scope: `once` for the request that was answered, `batch` for one that the answer to another covered: that is no
            evidence of approval.
        note: Why, where it was not a person's plain answer; empty where it was. `deferred` is an answer that counts as
            evidence in the trace that left the question, `elsewhere` the end of a card whose question was answered on
            another one.
        deferred_until: Until when the question waits for a later answer; `None` where it was not left.
        revision: What should be otherwise, with a no that asks for that.
    """

    request_id: UUID
    trace_id: UUID
    verdict: Literal["granted", "denied", "expired", "revoked"]
    decided_by: str
    decided_at: datetime
    scope: Literal["once", "batch"] = "once"
    note: ApprovalNote = ""
    deferred_until: datetime | None = None
    revision: Revision | None = None
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class Sealed:
    """A call as it would run later: nothing of it is masked, cut or resolved.

    Attributes:
        args: The exact arguments.
        cwd: Absolute folder against which it reads relative paths.
        roots: Real absolute folders that were opened for its run alone.
    """

    args: Mapping[str, Any]
    cwd: str
    roots: tuple[str, ...] = ()
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class Deferred:
    """A question that a run without anybody there left for later.

    Attributes:
        request: The question as that run asked it; its action tells sender, level, taint and trace.
        step_index: The step of that trace.
        sealed: What a yes lets run.
        expires_at: When it ends by itself.
    """

    request: ApprovalRequest
    step_index: int
    sealed: Sealed
    expires_at: datetime
    unknown_fields: Mapping[str, Any] = field(factory=dict)

    @property
    def origin(self) -> Origin:
        """Return where it comes from."""
        request = self.request
        return Origin(
            request_id=request.id,
            trace_id=request.draft.action.trace_id,
            sender=request.sender,
            at=request.created_at,
        )


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
        reach: How far the answer goes; `never` goes with a no, everything beyond `once` else with a yes.
        also: Other requests that are shown and meant by the same yes (`all`).
        typed: The target's name as the person typed or chose it, for a request that must be checked.
        revision: What should be otherwise; goes with a no to a request that is `revisable`.
    """

    request_id: UUID
    granted: bool
    by: str
    reach: Reach = "once"
    also: tuple[UUID, ...] = ()
    typed: str = ""
    revision: Revision | None = None


@frozen(kw_only=True)
class Grant:
    """A yes that holds for later questions too: for similar actions, or for exactly one call.

    Attributes:
        number: What `/revoke N` calls it.
        sender: Whose questions it answers.
        effect_classes: What it covers.
        call_digest: Digest of the one call it is for, with its effects and its folder; empty for similar actions.
        summary: What was granted, for people.
        until: When it ends; `None` where that is not a matter of time.
        until_s: The same on the machine's monotonic clock, for as long as the machine is not started anew.
        boot: The start of the machine which that clock counts from.
        left: Actions it still covers; `None` where they are not counted down.
        used: Actions that ran by it.
        request_id: The request whose answer it is.
        trace_id: The trace in which it was given, where the event log tells of it.
        callers: The neurons on the way to what it covers, outermost first: it is for these together; empty for what a
            model calls, and for the call of a neuron.
        bodies: Hashes of the bodies of the neurons that act: what was granted to one is not for another in its place.
    """

    id: UUID
    number: int
    sender: str
    actor: str
    effect_classes: tuple[str, ...]
    summary: Text
    given_at: datetime
    request_id: UUID
    call_digest: str = ""
    until: datetime | None = None
    until_s: float | None = None
    boot: str = ""
    left: int | None = None
    used: int = 0
    trace_id: UUID | None = None
    callers: tuple[str, ...] = ()
    bodies: tuple[str, ...] = ()
    unknown_fields: Mapping[str, Any] = field(factory=dict)
