"""The only maker of approval requests: it asks, enforces the reading pause, and keeps the state machine durable."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from uuid import UUID

from attrs import evolve, frozen

from myclaw_core.approval import records
from myclaw_core.approval.cards import Asked
from myclaw_core.approval.deferred import Deferrals
from myclaw_core.approval.displays import Displays
from myclaw_core.approval.grants import GrantBook, is_similar
from myclaw_core.approval.press import Press
from myclaw_core.approval.revisions import asks_anew, is_revisable
from myclaw_core.approval.served import require_served
from myclaw_core.approval.tutor import who_is_checked
from myclaw_core.approval.types import (
    Approval,
    ApprovalCard,
    ApprovalNote,
    ApprovalRequest,
    Deferred,
    Grant,
    Reply,
    Sealed,
)
from myclaw_core.approval.vouched import vouched_grants
from myclaw_core.clock import Clock
from myclaw_core.errors import StoreError
from myclaw_core.events.log import EventLog, LogTransaction
from myclaw_core.messages import N_
from myclaw_core.policy.never import NEVER_KIND, NeverList, NeverRecord, about_whom
from myclaw_core.process import is_alive
from myclaw_core.runtime.channel import Channel
from myclaw_core.runtime.types import ActionStep, Turn
from myclaw_core.types.action import PURE_CLASS, ApprovalRequestDraft
from myclaw_core.types.text import Text
from myclaw_core.types.trust import TrustSubject

__all__ = ["Gateway", "Question"]

_TIDY_AFTER = timedelta(days=1)


@frozen(kw_only=True)
class Question:
    """One draft on its way to the person.

    Attributes:
        step_index: The step that needs the answer.
        diff: What the change looks like, or empty.
        record: How the actor has done so far.
        grantable: Whether a grant could answer such questions (`policy.grants.can_be_granted`).
        alone: Whether only exactly this could be granted (`policy.reach.lies_elsewhere`).
        tutor: Whether it must be checked in any case.
        completes: Subjects that would be done by themselves from the next time on, if this is granted.
        sealed: The call itself, where the question may be left for later if nobody is there.
        left: The question of an earlier run that this one puts to the person.
    """

    draft: ApprovalRequestDraft
    step_index: int
    diff: str = ""
    record: tuple[Text | str, ...] = ()
    grantable: bool = False
    alone: bool = False
    tutor: bool = False
    completes: tuple[TrustSubject, ...] = ()
    sealed: Sealed | None = None
    left: Deferred | None = None


class Gateway:
    """Puts questions to the person and books the answers.

    Args:
        log: The event log; the store is the truth, turns only wait in memory.
        clock: Time.
        grants: What was granted for later questions too.
        never: What was denied for later questions too.
        reading_pause_s: Seconds during which an answer is refused.
        expires_s: Seconds after which no answer is a no.
        tutor_every: How many grants in a row are followed by a question that must be checked.
        defer_days: How long a question is kept that was left for later; none is left where that is 0.
    """

    def __init__(
        self,
        log: EventLog,
        clock: Clock,
        *,
        grants: GrantBook,
        never: NeverList,
        reading_pause_s: float,
        expires_s: float,
        tutor_every: int,
        defer_days: float = 0.0,
    ) -> None:
        self._log = log
        self._clock = clock
        self._grants = grants
        self._never = never
        self._press = Press(clock=clock, grants=grants, never=never, pause_s=max(0.0, reading_pause_s))
        self._expires_s = expires_s
        self._tutor_every = tutor_every
        self._deferrals = Deferrals(lasts=timedelta(days=defer_days))
        self._tidied_at = clock.now()
        self._lock = asyncio.Lock()
        self._asked: dict[UUID, Asked] = {}
        self._displays = Displays(clock, self.submit)

    async def ask(self, questions: Sequence[Question], turn: Turn, channel: Channel) -> list[Approval]:
        """Ask all questions together and return one approval each, in the same order.

        Where nobody is there to answer, the verdict comes at once as `expired` with the note `unattended`, and a
        question whose call is sealed is left for later.
        """
        asked = await self._put(questions, turn)
        if not (turn.attended and channel.attended):
            return await self._leave(questions, asked)
        self._asked |= {each.request.id: each for each in asked}
        try:
            return await self._settle(asked, await self._answers(asked, turn.sender, channel))
        finally:
            for each in asked:
                del self._asked[each.request.id]

    async def submit(self, reply: Reply) -> Text | None:
        """Take one answer and return `None` once it is durable, else why it does not count.

        A channel may hand in a press whenever it comes, also one on a question of long ago.

        Raises:
            StoreError: The answer could not be recorded; the question is still open.
        """
        return await asyncio.shield(self._submit(reply))

    async def admit(self, tx: LogTransaction, step: ActionStep, sender: str) -> tuple[UUID, ...]:
        """Use up what lets a step run, in the transaction of its intent; return the grants that it rests on.

        Raises:
            NotGrantedError: Its approval does not allow it; `tx` must be given up, here as below.
            GrantEndedError: A grant that it rests on has ended.
            NeverRefusedError: The sender has said never meanwhile.
            NotServedError: The sender was taken out meanwhile.
        """
        classes = [effect.effect_class for effect in step.effects] or [PURE_CLASS]
        for each in await self._senders(tx, step, sender):
            await require_served(tx, each)
            await self._never.require(tx, each, about_whom(step), classes)
        if step.approval_id is not None:
            await self.consume(tx, step.approval_id, step.args_digest, sender)
            return ()
        grant_ids = step.decision.grant_ids if step.decision else ()
        await self._grants.use(tx, grant_ids)
        return grant_ids

    async def _senders(self, tx: LogTransaction, step: ActionStep, sender: str) -> Sequence[str]:
        """Return whose never-lists count: also that of the run that left the question."""
        record = await records.find(tx, step.approval_id) if step.approval_id else None
        origin = record.request.origin if record else None
        return list(dict.fromkeys((sender, origin.sender if origin else sender)))

    async def consume(self, tx: LogTransaction, request_id: UUID, args_digest: str, sender: str | None = None) -> None:
        """Use up an approval inside `tx`.

        Args:
            args_digest: Digest of the arguments that are about to run; an approval is for these alone.
            sender: For whom it runs.

        Raises:
            NotGrantedError: It was used, has ended or expired, was never given, or is for other arguments or for
                another sender; or it answers a question that was left for later and has ended meanwhile.
        """
        await records.consume(tx, request_id, args_digest, self._grants.time.now(), sender)

    async def expire_dead(self, tx: LogTransaction, trace_id: UUID, note: ApprovalNote) -> list[tuple[int, Approval]]:
        """End every open request of a turn that is gone; return the step each was about, and how it ended."""
        dead = await records.open_records(tx, lambda record: record.request.draft.action.trace_id == trace_id)
        return [(record.step_index, await self._expire(tx, record, note)) for record in dead]

    async def recover(self) -> None:
        """End the requests whose process is gone, and the grants that are over; `expire_dead` comes first."""
        async with self._log.transaction() as tx:
            for record in await records.open_records(tx, lambda record: not is_alive(record.owner)):
                await self._expire(tx, record, "restart")
            await self._tidy(tx)

    async def _tidy(self, tx: LogTransaction) -> None:
        """Forget what is over: how questions ended long ago, grants, and questions that were left for later."""
        self._tidied_at = self._clock.now()
        await records.prune(tx, self._tidied_at)
        await self._grants.prune(tx)
        await self._deferrals.sweep(tx, self._grants.time.now())

    async def refresh(self) -> None:
        """Take over what other processes granted, ended or denied for good."""
        self._grants.load(await vouched_grants(self._log))
        with suppress(StoreError):  # a record that cannot be read was told of at the start; the others count
            self._never.load(await self._log.scan(NEVER_KIND))

    async def pending(self) -> list[ApprovalRequest]:
        """Return the requests that wait for an answer."""
        found = await records.open_records(self._log, lambda record: record.state == "pending")
        return [record.request for record in found]

    def shown_to(self, sender: str) -> list[ApprovalRequest]:
        """Return the requests that this process shows `sender` and that wait for an answer."""
        return [each.request for each in self._asked.values() if each.is_open and each.request.sender == sender]

    async def left(self) -> Sequence[Deferred]:
        """Return the questions that runs without anybody there left for later, the oldest first."""
        return await self._deferrals.waiting(self._log, self._grants.time.now())

    def shows(self, left: Deferred, sender: str) -> bool:
        """Return whether `sender` is being asked a question that was left for later."""
        return any(each.origin == left.origin for each in self.shown_to(sender))

    async def drop_left(self) -> int:
        """Let go of all questions that were left for later; return how many there were."""
        async with self._log.transaction() as tx:
            return await self._deferrals.drop(tx)

    async def standing(self) -> list[Grant]:
        """Return the grants that still cover something, by number."""
        await self.refresh()
        return self._grants.active()

    async def end_grants(self, number: int | None = None) -> list[Grant]:
        """End the grant with a number, or all of them, and return what was ended."""
        async with self._log.transaction() as tx:
            return await self._grants.end(tx, number)

    async def forbidden(self, sender: str) -> list[NeverRecord]:
        """Return the never-list of `sender`, oldest first."""
        await self.refresh()
        return self._never.entries(sender)

    async def allow_again(self, entry: NeverRecord, approval: Approval, args_digest: str) -> None:
        """Take an entry off the never-list by an approval of just that.

        Raises:
            NotGrantedError: The approval does not allow it.
        """
        async with self._log.transaction() as tx:
            await self.consume(tx, approval.request_id, args_digest)
            await self._never.remove(tx, entry, approval.trace_id)

    async def _put(self, questions: Sequence[Question], turn: Turn) -> list[Asked]:
        """Make the requests and book that they are put."""
        asked = []
        async with self._log.transaction() as tx:
            if self._clock.now() - self._tidied_at >= _TIDY_AFTER:  # what runs for months is never recovered
                await self._tidy(tx)
            mine = await records.open_records(tx, lambda record: record.request.sender == turn.sender)
            waiting = sum(record.state == "pending" for record in mine)
            actions = [(question.draft.action, question.tutor) for question in questions]
            checked = await who_is_checked(tx, turn.sender, self._tutor_every, actions, waiting)
            for question, tutor in zip(questions, checked, strict=True):
                request = self._request(question, turn, tutor=tutor)
                await records.put_pending(tx, request, question.step_index)
                await asks_anew(tx, request)
                card = ApprovalCard(request=request, diff=question.diff, record=question.record)
                asked.append(Asked(card=card, cwd=turn.cwd))
        return asked

    def _request(self, question: Question, turn: Turn, *, tutor: bool) -> ApprovalRequest:
        now, left = self._grants.time.now(), question.left
        grantable = question.grantable and not tutor
        expires_at = now + timedelta(seconds=self._expires_s)
        return ApprovalRequest(
            id=self._clock.new_id(),
            draft=question.draft,
            channel=turn.channel,
            sender=turn.sender,
            created_at=now,
            expires_at=min(expires_at, left.expires_at) if left else expires_at,
            not_before=now + timedelta(seconds=self._press.pause_s),
            tutor=tutor,
            batchable=grantable and not question.alone and is_similar(question.draft.action.effects),
            standing=grantable,
            completes=question.completes,
            origin=left.origin if left else None,
            revisable=is_revisable(question.draft.action),
        )

    async def _leave(self, questions: Sequence[Question], asked: Sequence[Asked]) -> list[Approval]:
        """End questions that nobody is there to answer; what may be answered later is left, all in one transaction."""
        async with self._lock, self._log.transaction() as tx:
            for question, each in zip(questions, asked, strict=True):
                approval, now = self._unanswered(each.request, "unattended"), self._grants.time.now()
                if question.sealed is not None:
                    until = await self._deferrals.leave(tx, each.request, question.step_index, question.sealed, now)
                    approval = evolve(approval, deferred_until=until)
                await self._end_pending(tx, approval)
                each.approval = approval
        return [each.approval for each in asked if each.approval is not None]

    async def _answers(self, asked: Sequence[Asked], sender: str, channel: Channel) -> ApprovalNote:
        """Wait for the answers and return why those that are missing did not come."""
        waits_s = self._waits_s(asked)
        try:
            async with self._clock.timeout(waits_s):
                await self._displays.show(asked, sender, channel)
        except TimeoutError:
            channel.notice(N_("no answer within {seconds} s counts as no", seconds=f"{waits_s:g}"))
            return "timeout"
        return "no answer"

    def _waits_s(self, asked: Sequence[Asked]) -> float:
        """Return how long an answer is waited for; a question that was left may end before others do."""
        ends = [each.request.expires_at for each in asked if each.request.origin]
        left_s = [(at - self._grants.time.now()).total_seconds() for at in ends]
        return max(0.0, min(self._expires_s, *left_s)) if left_s else self._expires_s

    async def _submit(self, reply: Reply) -> Text | None:
        async with self._lock:
            asked = self._asked.get(reply.request_id)
            if asked is None or not asked.is_open:
                return await records.late(self._log, reply.request_id, reply.by)
            refusal = self._press.refusal(asked, reply)
            if refusal is not None:
                return refusal
            others = [each for each in self._asked.values() if each.is_open and each is not asked]
            async with self._log.transaction() as tx:
                booked = await self._press.take(tx, asked, reply, others)
            for each in (asked, *others):
                each.approval = booked.get(each.request.id)
            asked.withdrawn = not booked  # somebody else has ended it
            self._displays.tell()
            return None if booked else N_("this question is not open any more")

    async def _settle(self, asked: Sequence[Asked], note: ApprovalNote) -> list[Approval]:
        """Book that what was not answered counts as no, and return how all of it ended."""
        async with self._lock:
            open_ = [each for each in asked if each.approval is None]
            if open_:
                async with self._log.transaction() as tx:
                    expired = [self._unanswered(each.request, note) for each in open_]
                    for approval in expired:
                        await self._end_pending(tx, approval)
                for each, approval in zip(open_, expired, strict=True):
                    each.approval = approval
            return [each.approval for each in asked if each.approval is not None]

    async def _end_pending(self, tx: LogTransaction, approval: Approval) -> None:
        if not await records.answer(tx, approval):
            id_ = str(approval.request_id)
            raise StoreError(N_("approval {id} was ended by another process; ask again", id=id_))

    async def _expire(self, tx: LogTransaction, record: records.ApprovalRecord, note: ApprovalNote) -> Approval:
        approval = self._unanswered(record.request, note)
        await records.end(tx, record, approval)
        return approval

    def _unanswered(self, request: ApprovalRequest, note: ApprovalNote) -> Approval:
        return Approval(
            request_id=request.id,
            trace_id=request.draft.action.trace_id,
            verdict="expired",
            decided_by="core",
            decided_at=self._clock.now(),
            note=note,
        )
