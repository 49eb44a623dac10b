"""What one answer means: whether it counts, what else it covers, and what is booked with it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from uuid import UUID

from attrs import evolve, frozen

from myclaw_core.approval import records
from myclaw_core.approval.cards import Asked
from myclaw_core.approval.grants import GrantBook, covers, new_grant
from myclaw_core.approval.revisions import misfit, note_answer, revision_in
from myclaw_core.approval.tutor import count_answers, names_of, wanted_name
from myclaw_core.approval.types import Approval, ApprovalRequest, Grant, Reply
from myclaw_core.clock import Clock
from myclaw_core.events.log import LogTransaction
from myclaw_core.events.types import TrustChanged
from myclaw_core.messages import N_
from myclaw_core.policy.never import NeverList, NeverRecord
from myclaw_core.types.effect import SIDE_EFFECT_KINDS
from myclaw_core.types.text import Text

__all__ = ["Press", "denied_classes"]


@frozen(kw_only=True)
class Press:
    """Judges and books answers.

    Attributes:
        pause_s: Seconds after display during which a yes is refused.
    """

    clock: Clock
    grants: GrantBook
    never: NeverList
    pause_s: float

    def refusal(self, asked: Asked, reply: Reply) -> Text | None:
        """Return why an answer to an open request does not count, or `None`."""
        request = asked.request
        if reply.by != request.sender:
            return N_("only {sender} can answer this", sender=request.sender)
        if self._is_over(request):
            return N_("this question has expired; ask again")
        left_s = self._pause_left_s(asked)
        if left_s is None:
            return N_("read first: this question was not shown yet")
        if left_s > 0 and (reply.granted or reply.reach == "never"):
            return N_("read first: a yes counts in {left} s", left=f"{left_s:.1f}")
        return misfit(request, reply) or _unfitting(request, reply)

    async def take(
        self, tx: LogTransaction, asked: Asked, reply: Reply, others: Sequence[Asked]
    ) -> dict[UUID, Approval]:
        """Book an answer that counts, with all that it covers and gives.

        Args:
            others: The other open requests.

        Returns:
            The approvals by request; none where the request was ended by another process.
        """
        grant = self._grant(asked, reply)
        booked: dict[UUID, Approval] = {}
        answered: set[UUID | None] = set()
        for each in (asked, *self._covered(asked, reply, grant, others)):
            approval, left = self._approval(each.request, reply, first=each is asked), _left_as(each)
            if left not in answered and await records.answer(tx, approval):
                booked[each.request.id] = approval
                await note_answer(tx, each.request, approval)
                answered |= {left} - {None}
            elif each is asked:
                return {}
        if grant is not None:
            await self._give(tx, grant, asked.request, covered=len(booked) - 1)
        if reply.reach == "never":
            await self._forbid(tx, asked.request, reply)
        if reply.reach == "keep_asking":
            await self._keep_asking(tx, asked.request)
        granted = 1 + len(set(booked) & set(reply.also)) if reply.granted else 0
        await count_answers(tx, asked.request.sender, granted=granted, checked=asked.request.tutor)
        for each in others:
            if each.request.id not in booked and _left_as(each) in answered:
                booked[each.request.id] = await self._close_card(tx, each.request)
        return booked

    def _grant(self, asked: Asked, reply: Reply) -> Grant | None:
        if not reply.granted or reply.reach == "once":
            return None
        return new_grant(self.clock.new_id(), asked.request, reply.reach, asked.cwd, self.grants.time)

    def _covered(self, asked: Asked, reply: Reply, grant: Grant | None, others: Sequence[Asked]) -> Sequence[Asked]:
        if grant is not None:
            return [each for each in others if _is_granted(each, grant) and self._was_read(each)][: grant.left]
        if reply.reach == "never":
            return [each for each in others if _is_like(each.request, asked.request)]
        return [each for each in others if each.request.id in reply.also and self._may_be_meant(each, reply)]

    def _may_be_meant(self, asked: Asked, reply: Reply) -> bool:
        """Return whether a yes to another line may mean this one."""
        return asked.request.sender == reply.by and asked.request.batchable and self._was_read(asked)

    def _was_read(self, asked: Asked) -> bool:
        """Return whether a yes to another question may answer this one: it was visible as long as reading it takes."""
        left_s = self._pause_left_s(asked)
        return left_s is not None and left_s <= 0 and not self._is_over(asked.request)

    async def _give(self, tx: LogTransaction, grant: Grant, request: ApprovalRequest, covered: int) -> None:
        left = None if grant.left is None else grant.left - covered
        await self.grants.give(tx, evolve(grant, used=covered, left=left), request.draft.action.trace_id)

    async def _keep_asking(self, tx: LogTransaction, request: ApprovalRequest) -> None:
        """Order that trust ends no question about what this yes completes; the trust book follows the log."""
        order = self.clock.new_id()
        subjects = request.completes
        await tx.append(TrustChanged(trace_id=order, sender=request.sender, change="hold", subjects=subjects))

    async def _forbid(self, tx: LogTransaction, request: ApprovalRequest, reply: Reply) -> None:
        """Put what it would do on the never-list and take back every yes to it that was not used yet.

        What a run left for later goes on the list of that run's sender, too.
        """
        now = self.clock.now()
        action = request.draft.action
        senders = {request.sender, request.origin.sender if request.origin else request.sender}
        for sender, effect_class in product(sorted(senders), denied_classes(request)):
            entry = NeverRecord(sender=sender, actor=action.actor, effect_class=effect_class, at=now)
            await self.never.put(tx, entry, action.trace_id)
        for record in await records.open_records(tx):
            if record.state == "granted" and _is_like(record.request, request):
                taken_back = self._approval(record.request, reply, first=False)
                await records.end(tx, record, evolve(taken_back, verdict="revoked"))

    def _approval(self, request: ApprovalRequest, reply: Reply, *, first: bool) -> Approval:
        return Approval(
            request_id=request.id,
            trace_id=request.draft.action.trace_id,
            verdict="granted" if reply.granted else "denied",
            decided_by=reply.by,
            decided_at=self.clock.now(),
            scope="once" if first else "batch",
            note="deferred" if request.origin else "",
            revision=revision_in(reply) if first else None,
        )

    async def _close_card(self, tx: LogTransaction, request: ApprovalRequest) -> Approval:
        """Book that a question was answered on another card."""
        closed = Approval(
            request_id=request.id,
            trace_id=request.draft.action.trace_id,
            verdict="expired",
            decided_by="core",
            decided_at=self.clock.now(),
            note="elsewhere",
        )
        await records.answer(tx, closed)
        return closed

    def _is_over(self, request: ApprovalRequest) -> bool:
        return self.grants.time.now() >= request.expires_at

    def _pause_left_s(self, asked: Asked) -> float | None:
        """Return how long a yes is refused; `None` for what was not shown."""
        return None if asked.shown_s is None else asked.shown_s + self.pause_s - self.clock.monotonic()


def _left_as(asked: Asked) -> UUID | None:
    """Return what names a question that a run left for later, however many cards show it."""
    return asked.request.origin.request_id if asked.request.origin else None


def _unfitting(request: ApprovalRequest, reply: Reply) -> Text | None:
    """Return why an answer goes further than the question allows, or `None`."""
    if not reply.granted:
        fits = reply.reach in ("once", "never") and not reply.also
        return None if fits else N_("that is no answer to this question")
    if reply.reach == "never" or (reply.also and reply.reach != "once"):
        return N_("that is no answer to this question")
    if reply.reach == "keep_asking" and not request.completes:
        return N_("no question ends with this answer")
    if request.tutor:
        if reply.reach != "once" or reply.also:
            return N_("this one has to be checked, so it is granted alone")
        if reply.typed not in names_of(request.draft):
            return N_("this one has to be checked: give {what}", what=wanted_name(request.draft))
    if reply.reach == "always" and not request.standing:
        return N_("this is asked each time")
    if (reply.also or reply.reach not in ("once", "always", "keep_asking")) and not request.batchable:
        return N_("this one is answered alone")
    return None


def _is_granted(asked: Asked, grant: Grant) -> bool:
    request, action = asked.request, asked.request.draft.action
    offered = request.standing if grant.call_digest else request.batchable
    return offered and all(covers(grant, action, effect, asked.cwd) for effect in action.effects)


def denied_classes(request: ApprovalRequest) -> tuple[str, ...]:
    """Return what `never` forbids: every class by which the action changes something, or its own where none does."""
    changing = (effect.effect_class for effect in request.draft.action.effects if effect.kind in SIDE_EFFECT_KINDS)
    return tuple(dict.fromkeys(changing)) or (request.draft.effect_class,)


def _is_like(request: ApprovalRequest, denied: ApprovalRequest) -> bool:
    """Return whether a request falls under what was denied for good: sender and actor, and a class among its own."""
    action = request.draft.action
    same = (request.sender, action.actor) == (denied.sender, denied.draft.action.actor)
    classes = {request.draft.effect_class, *(effect.effect_class for effect in action.effects)}
    return same and not classes.isdisjoint(denied_classes(denied))
