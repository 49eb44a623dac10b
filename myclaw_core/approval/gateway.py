"""The only maker of approval requests: it asks, enforces the reading pause, and keeps the state machine durable."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from attrs import evolve, field, frozen

from myclaw_core import codec
from myclaw_core.approval.types import Approval, ApprovalCard, ApprovalNote, ApprovalRequest, ApprovalState, Reply
from myclaw_core.clock import Clock
from myclaw_core.errors import StoreError
from myclaw_core.events.log import EventLog, LogTransaction
from myclaw_core.events.types import ApprovalAnswered, ApprovalAsked
from myclaw_core.messages import N_
from myclaw_core.runtime.channel import Channel
from myclaw_core.runtime.types import Turn
from myclaw_core.types.action import ApprovalRequestDraft
from myclaw_core.types.text import Text

__all__ = ["ApprovalRecord", "Gateway", "Question"]

RECORD_KIND = "approval"


@frozen(kw_only=True)
class ApprovalRecord:
    """A request that can still change; a request that ended leaves only its events.

    Attributes:
        state: `pending` or `granted`; every other state ends the record.
        step_index: The step of the trace it belongs to.
    """

    request: ApprovalRequest
    state: ApprovalState
    step_index: int
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class Question:
    """One draft on its way to the person.

    Attributes:
        step_index: The step that needs the answer.
        diff: What the change looks like, or empty.
        record: How the actor has done so far.
    """

    draft: ApprovalRequestDraft
    step_index: int
    diff: str = ""
    record: tuple[Text | str, ...] = ()


class Gateway:
    """Puts questions to the person of one turn and books the answers.

    Args:
        log: The event log; the store is the truth, the turn only waits in memory.
        clock: Time.
        reading_pause_s: Seconds during which an answer is refused.
        expires_s: Seconds after which no answer is a no.
    """

    def __init__(self, log: EventLog, clock: Clock, *, reading_pause_s: float, expires_s: float) -> None:
        self._log = log
        self._clock = clock
        self._pause = timedelta(seconds=max(0.0, reading_pause_s))
        self._expiry = timedelta(seconds=expires_s)

    async def ask(self, questions: Sequence[Question], turn: Turn, channel: Channel) -> list[Approval]:
        """Ask all questions together and return one approval each, in the same order.

        Where nobody is there to answer, the verdict comes at once as `expired` with the note `unattended`.
        """
        requests = [self._request(question.draft, turn) for question in questions]
        await self._book_questions(questions, requests)
        if not (turn.attended and channel.attended):
            approvals = [self._unanswered(request, "unattended") for request in requests]
        else:
            replies, note = await self._collect(questions, requests, channel)
            approvals = [
                self._answered(request, replies[request.id])
                if request.id in replies
                else self._unanswered(request, note)
                for request in requests
            ]
        await self._book_answers(approvals)
        return approvals

    async def consume(self, tx: LogTransaction, request_id: UUID, args_digest: str) -> None:
        """Use up a grant inside the transaction that records the intent.

        Args:
            args_digest: Digest of the arguments that are about to run; a grant is for these alone.

        Raises:
            StoreError: The grant was used, has ended or expired, was never given, or is for other arguments.
        """
        record = await self._record(tx, request_id)
        if record is None or record.state != "granted":
            raise StoreError(N_("approval {id} is not open any more; ask again", id=str(request_id)))
        if record.request.draft.action.args_digest != args_digest:
            raise StoreError(N_("approval {id} was given for other arguments; ask again", id=str(request_id)))
        if self._clock.now() >= record.request.expires_at:
            raise StoreError(N_("approval {id} has expired; ask again", id=str(request_id)))
        await tx.delete(RECORD_KIND, str(request_id))

    async def expire_dead(self, tx: LogTransaction, trace_id: UUID, note: ApprovalNote) -> list[tuple[int, Approval]]:
        """End every open request of a turn that is gone; return the step each was about, and how it ended."""
        ended = []
        for key, raw in await tx.scan(RECORD_KIND):
            record = codec.loads(ApprovalRecord, raw, N_("approval record {key}", key=key))
            if record.request.draft.action.trace_id != trace_id:
                continue
            approval = self._unanswered(record.request, note)
            await tx.delete(RECORD_KIND, key)
            await tx.append(ApprovalAnswered(trace_id=trace_id, approval=approval))
            ended.append((record.step_index, approval))
        return ended

    async def pending(self) -> list[ApprovalRequest]:
        """Return the requests that wait for an answer."""
        records = [
            codec.loads(ApprovalRecord, raw, N_("approval record {key}", key=key))
            for key, raw in await self._log.scan(RECORD_KIND)
        ]
        return [record.request for record in records if record.state == "pending"]

    def _request(self, draft: ApprovalRequestDraft, turn: Turn) -> ApprovalRequest:
        now = self._clock.now()
        return ApprovalRequest(
            id=self._clock.new_id(),
            draft=draft,
            channel=turn.channel,
            sender=turn.sender,
            created_at=now,
            expires_at=now + self._expiry,
            not_before=now + self._pause,
        )

    async def _book_questions(self, questions: Sequence[Question], requests: Sequence[ApprovalRequest]) -> None:
        async with self._log.transaction() as tx:
            for question, request in zip(questions, requests, strict=True):
                record = ApprovalRecord(request=request, state="pending", step_index=question.step_index)
                await tx.put(RECORD_KIND, str(request.id), codec.dumps(record, redact=True))
                await tx.append(
                    ApprovalAsked(
                        trace_id=request.draft.action.trace_id, step_index=question.step_index, request=request
                    )
                )

    async def _collect(
        self, questions: Sequence[Question], requests: Sequence[ApprovalRequest], channel: Channel
    ) -> tuple[dict[UUID, Reply], ApprovalNote]:
        """Return the replies that came, and why others did not."""
        replies: dict[UUID, Reply] = {}
        open_requests = {request.id: request for request in requests}
        cards = [
            ApprovalCard(request=request, diff=question.diff, record=question.record)
            for question, request in zip(questions, requests, strict=True)
        ]
        try:
            async with self._clock.timeout(self._expiry.total_seconds()):
                await channel.ask(cards, self._submitter(open_requests, replies))
        except TimeoutError:
            channel.notice(N_("no answer within {seconds} s counts as no", seconds=self._expiry.total_seconds()))
            return replies, "timeout"
        return replies, "no answer"

    def _submitter(
        self, requests: Mapping[UUID, ApprovalRequest], replies: dict[UUID, Reply]
    ) -> Callable[[Reply], Text | None]:
        def submit(reply: Reply) -> Text | None:
            request = requests.get(reply.request_id)
            if request is None or request.id in replies:
                return N_("this question is not open any more")
            if reply.by != request.sender:
                return N_("only {sender} can answer this", sender=request.sender)
            now = self._clock.now()
            if now >= request.expires_at:
                return N_("this question has expired; ask again")
            if reply.granted and now < request.not_before:
                left = f"{(request.not_before - now).total_seconds():.1f}"
                return N_("read first: a yes counts in {left} s", left=left)
            replies[request.id] = reply
            return None

        return submit

    async def _book_answers(self, approvals: Sequence[Approval]) -> None:
        async with self._log.transaction() as tx:
            for approval in approvals:
                record = await self._record(tx, approval.request_id)
                if record is None or record.state != "pending":
                    problem = N_("approval {id} was ended by another process; ask again", id=str(approval.request_id))
                    raise StoreError(problem)
                if approval.verdict == "granted":
                    granted = evolve(record, state="granted")
                    await tx.put(RECORD_KIND, str(approval.request_id), codec.dumps(granted))
                else:
                    await tx.delete(RECORD_KIND, str(approval.request_id))
                await tx.append(ApprovalAnswered(trace_id=approval.trace_id, approval=approval))

    async def _record(self, tx: LogTransaction, request_id: UUID) -> ApprovalRecord | None:
        raw = await tx.get(RECORD_KIND, str(request_id))
        return (
            None if raw is None else codec.loads(ApprovalRecord, raw, N_("approval record {key}", key=str(request_id)))
        )

    def _answered(self, request: ApprovalRequest, reply: Reply) -> Approval:
        return Approval(
            request_id=request.id,
            trace_id=request.draft.action.trace_id,
            verdict="granted" if reply.granted else "denied",
            decided_by=reply.by,
            decided_at=self._clock.now(),
        )

    def _unanswered(self, request: ApprovalRequest, note: ApprovalNote) -> Approval:
        return Approval(
            request_id=request.id,
            trace_id=request.draft.action.trace_id,
            verdict="expired",
            decided_by="core",
            decided_at=self._clock.now(),
            note=note,
        )
