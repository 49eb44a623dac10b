"""The state machine of requests as the core database keeps it: each transition is part of one transaction.

A request is pending until it is granted or denied, and granted until it is consumed; before that it may expire, and a
yes may be revoked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from attrs import evolve, field, frozen

from myclaw_core import codec
from myclaw_core.approval import deferred
from myclaw_core.approval.types import Approval, ApprovalNote, ApprovalRequest, ApprovalState, Origin
from myclaw_core.errors import StoreError
from myclaw_core.events.log import EventLog, LogTransaction
from myclaw_core.events.types import ApprovalAnswered, ApprovalAsked
from myclaw_core.messages import N_
from myclaw_core.process import this_process
from myclaw_core.types.text import Text

__all__ = [
    "ENDED_KIND",
    "RECORD_KIND",
    "REMEMBERED",
    "ApprovalRecord",
    "EndedRecord",
    "NotGrantedError",
    "end",
    "find_ended",
    "open_records",
]

RECORD_KIND = "approval"
ENDED_KIND = "approval_ended"

REMEMBERED = timedelta(days=7)
"""How long a late answer is told how its question ended; after that it is told only that the question is not open."""


class NotGrantedError(StoreError):
    """Raised when an action is about to run by an approval that does not allow it."""


@frozen(kw_only=True)
class ApprovalRecord:
    """A request that can still change.

    Attributes:
        state: `pending` or `granted`; every other state ends the record.
        step_index: The step of the trace it belongs to.
        owner: The process that waits for the answer, as `process.this_process` names it.
    """

    request: ApprovalRequest
    state: ApprovalState
    step_index: int
    owner: str = ""
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class EndedRecord:
    """How a request ended, kept for a while so that a late answer can be told so.

    Attributes:
        trace_id: The turn that asked; what it was asked to do is found there.
    """

    sender: str
    state: ApprovalState
    note: ApprovalNote
    at: datetime
    trace_id: UUID | None = None
    unknown_fields: Mapping[str, Any] = field(factory=dict)


async def put_pending(tx: LogTransaction, request: ApprovalRequest, step_index: int) -> None:
    """Book that a question is put."""
    record = ApprovalRecord(request=request, state="pending", step_index=step_index, owner=this_process())
    await tx.put(RECORD_KIND, str(request.id), codec.dumps(record, redact=True))
    await tx.append(ApprovalAsked(trace_id=request.draft.action.trace_id, step_index=step_index, request=request))


async def answer(tx: LogTransaction, approval: Approval) -> bool:
    """Book how a pending request was answered; return whether it was still pending.

    What a person answers to a question that a run left for later is booked on that run, too.
    """
    record = await find(tx, approval.request_id)
    if record is None or record.state != "pending":
        return False
    origin = record.request.origin
    if origin is not None and approval.verdict in ("granted", "denied"):
        if not await deferred.is_left(tx, origin):
            return False
        await _answer_origin(tx, origin, approval)
    if approval.verdict == "granted":
        await tx.put(RECORD_KIND, str(approval.request_id), codec.dumps(evolve(record, state="granted")))
        await tx.append(ApprovalAnswered(trace_id=approval.trace_id, approval=approval))
    else:
        await end(tx, record, approval)
    return True


async def _answer_origin(tx: LogTransaction, origin: Origin, approval: Approval) -> None:
    late = evolve(approval, request_id=origin.request_id, trace_id=origin.trace_id, note="")
    await tx.append(ApprovalAnswered(trace_id=origin.trace_id, approval=late))
    if approval.verdict == "denied":
        await deferred.end(tx, origin, "denied", approval.trace_id)


async def end(tx: LogTransaction, record: ApprovalRecord, approval: Approval) -> None:
    """Book that a request ended without being used."""
    await _forget(tx, record, approval.verdict, approval.note, approval.decided_at)
    await tx.append(ApprovalAnswered(trace_id=approval.trace_id, approval=approval))


async def consume(
    tx: LogTransaction, request_id: UUID, args_digest: str, now: datetime, sender: str | None = None
) -> None:
    """Use up a grant inside the transaction that records the intent.

    Args:
        sender: For whom the action runs; an approval is for its own sender alone.

    Raises:
        NotGrantedError: The grant was used, has ended or expired, was never given, or is for other arguments or for
            another sender.
    """
    record = await find(tx, request_id)
    if record is None or record.state != "granted":
        raise NotGrantedError(N_("approval {id} is not open any more; ask again", id=str(request_id)))
    if record.request.draft.action.args_digest != args_digest:
        raise NotGrantedError(N_("approval {id} was given for other arguments; ask again", id=str(request_id)))
    if sender not in (None, record.request.sender):
        raise NotGrantedError(N_("approval {id} was given to another sender; ask again", id=str(request_id)))
    if now >= record.request.expires_at:
        raise NotGrantedError(N_("approval {id} has expired; ask again", id=str(request_id)))
    if (origin := record.request.origin) is not None:
        if not await deferred.is_left(tx, origin):
            raise NotGrantedError(N_("the question that was left has ended meanwhile; it was not done"))
        await deferred.end(tx, origin, "run", record.request.draft.action.trace_id)
    await _forget(tx, record, "consumed", "", now)


async def find(tx: LogTransaction, request_id: UUID) -> ApprovalRecord | None:
    """Return the record of a request that has not ended."""
    raw = await tx.get(RECORD_KIND, str(request_id))
    return None if raw is None else _read(str(request_id), raw)


async def open_records(
    records: EventLog | LogTransaction, wanted: Callable[[ApprovalRecord], bool] = lambda record: True
) -> Sequence[ApprovalRecord]:
    """Return the requests that have not ended."""
    found = (_read(key, raw) for key, raw in await records.scan(RECORD_KIND))
    return [record for record in found if wanted(record)]


async def find_ended(log: EventLog, request_id: UUID) -> EndedRecord | None:
    """Return how a request ended; `None` where it is open, was never put, or ended long ago."""
    raw = await log.get(ENDED_KIND, str(request_id))
    return None if raw is None else _read_ended(str(request_id), raw)


async def late(log: EventLog, request_id: UUID, sender: str) -> Text:
    """Return what is told to somebody who answers a question that is not open any more."""
    ended = await find_ended(log, request_id)
    if ended is None or ended.sender != sender:
        return N_("this question is not open any more")
    if ended.note == "elsewhere":
        return N_("this question is not open any more: it was answered elsewhere")
    if ended.note == "restart":
        return N_("this question is not open any more: the program was started anew; send your message again")
    if ended.state == "expired":
        return N_("this question is not open any more: it has expired; send your message again")
    if ended.state == "denied":
        return N_("this question is not open any more: it was answered with no")
    if ended.state == "revoked":
        return N_("this question is not open any more: the yes was taken back")
    return N_("this question is not open any more: it was answered with yes")


async def prune(tx: LogTransaction, now: datetime) -> None:
    """Forget the questions that ended long ago; their events stay."""
    for key, raw in await tx.scan(ENDED_KIND):
        if _read_ended(key, raw).at < now - REMEMBERED:
            await tx.delete(ENDED_KIND, key)


async def _forget(
    tx: LogTransaction, record: ApprovalRecord, state: ApprovalState, note: ApprovalNote, at: datetime
) -> None:
    key = str(record.request.id)
    await tx.delete(RECORD_KIND, key)
    request = record.request
    ended = EndedRecord(sender=request.sender, state=state, note=note, at=at, trace_id=request.draft.action.trace_id)
    await tx.put(ENDED_KIND, key, codec.dumps(ended))


def _read(key: str, raw: bytes) -> ApprovalRecord:
    return codec.loads(ApprovalRecord, raw, N_("approval record {key}", key=key))


def _read_ended(key: str, raw: bytes) -> EndedRecord:
    return codec.loads(EndedRecord, raw, N_("approval {id}", id=key))
