"""Questions that a run without anybody there left for later: sealed, few, and gone after a few days."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from attrs import frozen

from myclaw_core import codec
from myclaw_core.approval.types import ApprovalRequest, DeferralEnding, Deferred, Origin, Sealed
from myclaw_core.errors import CodecError
from myclaw_core.events.log import EventLog, LogTransaction
from myclaw_core.events.types import DeferralEnded, QuestionDeferred
from myclaw_core.messages import N_
from myclaw_core.types.canonical import digest_of

__all__ = ["DEFERRED_KIND", "MAX_LEFT", "Deferrals"]

DEFERRED_KIND = "deferred"
"""Kind of the records that keep them, each under the id of the request that nobody was there to answer."""

MAX_LEFT = 20
"""How many one sender may leave; the oldest goes for a new one."""

_log = logging.getLogger("myclaw.approval")


@frozen(kw_only=True)
class Deferrals:
    """The questions that were left.

    A record is written once, with the digest of its bytes in the event log, and never changed. It is deleted in the
    transaction that ends it: that of the intent of its action, of a no, of its expiry.

    Attributes:
        lasts: How long one is kept; nothing is left for later where that is no time at all.
    """

    lasts: timedelta

    async def leave(
        self, tx: LogTransaction, request: ApprovalRequest, step_index: int, sealed: Sealed, now: datetime
    ) -> datetime | None:
        """Leave a question for later and return until when; `None` where it cannot be.

        One that would do exactly the same is left once.
        """
        if not self.lasts:
            return None
        deferred = Deferred(request=request, step_index=step_index, sealed=sealed, expires_at=now + self.lasts)
        raw = codec.dumps(deferred, redact=True)
        if not _is_whole(codec.loads(Deferred, raw, N_("deferred question")), request):
            return None
        known = await self.sweep(tx, now)
        for each in known:
            if _is_same(each, deferred):
                return each.expires_at
        mine = [each for each in known if each.request.sender == request.sender]
        for oldest in sorted(mine, key=lambda each: each.expires_at)[: max(0, len(mine) - MAX_LEFT + 1)]:
            await end(tx, oldest.origin, "crowded out")
        await tx.put(DEFERRED_KIND, str(request.id), raw)
        event = QuestionDeferred(
            trace_id=request.draft.action.trace_id,
            request_id=request.id,
            seal=_seal(raw),
            expires_at=deferred.expires_at,
        )
        await tx.append(event)
        return deferred.expires_at

    async def sweep(self, tx: LogTransaction, now: datetime) -> Sequence[Deferred]:
        """End those whose time is over and return the others."""
        left = []
        for _raw, deferred in _readable(await tx.scan(DEFERRED_KIND)):
            if now < deferred.expires_at:
                left.append(deferred)
            else:
                await end(tx, deferred.origin, "expired")
        return left

    async def drop(self, tx: LogTransaction) -> int:
        """Let go of all of them, of those that cannot be read too; return how many there were."""
        records = await tx.scan(DEFERRED_KIND)
        for _raw, deferred in _readable(records):
            await end(tx, deferred.origin, "dropped")
        for key, _raw in await tx.scan(DEFERRED_KIND):
            await tx.delete(DEFERRED_KIND, key)
        return len(records)

    async def waiting(self, log: EventLog, now: datetime) -> Sequence[Deferred]:
        """Return those that wait for an answer, the oldest first.

        One that is not, byte for byte, what the event log says was left, or that it says has ended, is none.
        """
        found = []
        for raw, deferred in _readable(await log.scan(DEFERRED_KIND)):
            if now < deferred.expires_at and await _is_vouched_for(log, deferred, raw):
                found.append(deferred)
        return sorted(found, key=lambda each: each.expires_at)


async def is_left(tx: LogTransaction, origin: Origin) -> bool:
    """Return whether a question that was left still waits for an answer."""
    return await tx.get(DEFERRED_KIND, str(origin.request_id)) is not None


async def end(tx: LogTransaction, origin: Origin, ending: DeferralEnding, by: UUID | None = None) -> None:
    """End a question that was left.

    Args:
        by: The trace that answered it.
    """
    await tx.delete(DEFERRED_KIND, str(origin.request_id))
    await tx.append(DeferralEnded(trace_id=origin.trace_id, request_id=origin.request_id, ending=ending, by=by))


async def end_where(tx: LogTransaction, is_over: Callable[[Deferred], bool], ending: DeferralEnding) -> int:
    """End the questions that were left for which something has changed; return how many there were."""
    over = [deferred for _raw, deferred in _readable(await tx.scan(DEFERRED_KIND)) if is_over(deferred)]
    for each in over:
        await end(tx, each.origin, ending)
    return len(over)


async def _is_vouched_for(log: EventLog, deferred: Deferred, raw: bytes) -> bool:
    seal, request_id = _seal(raw), deferred.request.id
    told = [event for _, event in await log.events(deferred.origin.trace_id, QuestionDeferred, DeferralEnded)]
    left = any(
        isinstance(each, QuestionDeferred) and (each.request_id, each.seal) == (request_id, seal) for each in told
    )
    ended = any(isinstance(each, DeferralEnded) and each.request_id == request_id for each in told)
    if not left or ended:
        _log.warning("deferred question %s is not the one on record; it is not asked", request_id)
    return left and not ended


def _readable(records: Sequence[tuple[str, bytes]]) -> Sequence[tuple[bytes, Deferred]]:
    found = []
    for key, raw in records:
        try:
            found.append((raw, codec.loads(Deferred, raw, N_("deferred question {key}", key=key))))
        except CodecError as error:
            _log.warning("%s; it is not asked", error)
    return found


def _is_whole(deferred: Deferred, request: ApprovalRequest) -> bool:
    """Return whether the arguments came through writing unmasked, so that they are still those that were judged."""
    return digest_of(dict(deferred.sealed.args)) == request.draft.action.args_digest


def _is_same(left: Deferred, right: Deferred) -> bool:
    def call(deferred: Deferred) -> tuple[str, str, str]:
        action = deferred.request.draft.action
        return action.tool_name, action.args_digest, deferred.sealed.cwd

    return call(left) == call(right)


def _seal(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()
