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
from myclaw_core.approval.types import Approval, ApprovalNote, ApprovalRequest, ApprovalState
from myclaw_core.errors import StoreError
from myclaw_core.events.log import EventLog, LogTransaction
from myclaw_core.events.types import ApprovalAnswered, ApprovalAsked
from myclaw_core.messages import N_
from myclaw_core.process import this_process
from myclaw_core.types.text import Text

__all__ = ["ENDED_KIND", "RECORD_KIND", "ApprovalRecord", "EndedRecord", "NotGrantedError", "end", "open_records"]

RECORD_KIND = "approval"
ENDED_KIND = "approval_ended"

_REMEMBERED = timedelta(days=7)
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
    """How a request ended, kept for a while so that a late answer can be told so."""

    sender: str
    state: ApprovalState
    note: ApprovalNote
    at: datetime
    unknown_fields: Mapping[str, Any] = field(factory=dict)


async def put_pending(tx: LogTransaction, request: ApprovalRequest, step_index: int) -> None:
    """Book that a question is put."""
    record = ApprovalRecord(request=request, state="pending", step_index=step_index, owner=this_process())
    await tx.put(RECORD_KIND, str(request.id), codec.dumps(record, redact=True))
    await tx.append(ApprovalAsked(trace_id=request.draft.action.trace_id, step_index=step_index, request=request))


async def answer(tx: LogTransaction, approval: Approval) -> bool:
    """Book how a pending request was answered; return whether it was still pending."""
    record = await find(tx, approval.request_id)
    if record is None or record.state != "pending":
        return False
    if approval.verdict == "granted":
        await tx.put(RECORD_KIND, str(approval.request_id), codec.dumps(evolve(record, state="granted")))
        await tx.append(ApprovalAnswered(trace_id=approval.trace_id, approval=approval))
    else:
        await end(tx, record, approval)
    return True


async def end(tx: LogTransaction, record: ApprovalRecord, approval: Approval) -> None:
    """Book that a request ended without being used."""
    await _forget(tx, record, approval.verdict, approval.note, approval.decided_at)
    await tx.append(ApprovalAnswered(trace_id=approval.trace_id, approval=approval))


async def consume(tx: LogTransaction, request_id: UUID, args_digest: str, now: datetime) -> None:
    """Use up a grant inside the transaction that records the intent.

    Raises:
        NotGrantedError: The grant was used, has ended or expired, was never given, or is for other arguments.
    """
    record = await find(tx, request_id)
    if record is None or record.state != "granted":
        raise NotGrantedError(N_("approval {id} is not open any more; ask again", id=str(request_id)))
    if record.request.draft.action.args_digest != args_digest:
        raise NotGrantedError(N_("approval {id} was given for other arguments; ask again", id=str(request_id)))
    if now >= record.request.expires_at:
        raise NotGrantedError(N_("approval {id} has expired; ask again", id=str(request_id)))
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


async def late(log: EventLog, request_id: UUID, sender: str) -> Text:
    """Return what is told to somebody who answers a question that is not open any more."""
    raw = await log.get(ENDED_KIND, str(request_id))
    ended = None if raw is None else codec.loads(EndedRecord, raw, N_("approval {id}", id=str(request_id)))
    if ended is None or ended.sender != sender:
        return N_("this question is not open any more")
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
        if codec.loads(EndedRecord, raw, N_("approval {id}", id=key)).at < now - _REMEMBERED:
            await tx.delete(ENDED_KIND, key)


async def _forget(
    tx: LogTransaction, record: ApprovalRecord, state: ApprovalState, note: ApprovalNote, at: datetime
) -> None:
    key = str(record.request.id)
    await tx.delete(RECORD_KIND, key)
    ended = EndedRecord(sender=record.request.sender, state=state, note=note, at=at)
    await tx.put(ENDED_KIND, key, codec.dumps(ended))


def _read(key: str, raw: bytes) -> ApprovalRecord:
    return codec.loads(ApprovalRecord, raw, N_("approval record {key}", key=key))
