"""Brings the trust store up to the event log: one path for what happened just now and for what is found at start."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from myclaw_core.codec import event_tag
from myclaw_core.events.log import EventLog
from myclaw_core.events.store import Head
from myclaw_core.events.types import ApprovalAnswered, Event, TraceClosed, TrustChanged, UndoApplied
from myclaw_core.runtime.types import ExecutionTrace
from myclaw_core.trust.book import TrustBook
from myclaw_core.trust.signals import subjects_of

__all__ = ["TrustFollower"]

_APPLIED = frozenset(map(event_tag, (TraceClosed, UndoApplied, ApprovalAnswered, TrustChanged)))
"""Only their bodies are read: most of a log is conversation and steps."""


class TrustFollower:
    """Applies closed traces, late undos and answers, and orders to the book, in the order of the log.

    Args:
        log: The event log, the truth.
        book: The follower; it knows how far it got.
    """

    def __init__(self, log: EventLog, book: TrustBook) -> None:
        self._log = log
        self._book = book

    async def catch_up(self) -> None:
        """Apply everything that the book has not seen; applying twice changes nothing.

        Raises:
            StoreError: One of the two stores cannot be read or written; what was applied until then stays.
        """
        await self._book.refresh()
        seen = self._book.applied_seq
        while heads := await self._log.heads(seen):
            for head in heads:
                if head.type in _APPLIED:
                    await self._apply(head, await self._log.event(head))
            seen = heads[-1].seq

    async def _apply(self, head: Head, event: Event | None) -> None:
        match event:
            case TraceClosed():
                await self._book.bulk_update_from_trace(event.trace, event.signals, head.seq)
            case UndoApplied() if event.reverted:
                await self._apply_undo(event, head)
            case ApprovalAnswered():
                await self._apply_answer(event, head)
            case TrustChanged():
                await self._apply_order(event, head)

    async def _apply_undo(self, event: UndoApplied, head: Head) -> None:
        original = await self._closed(event.original_trace_id, head)
        if original is None:
            return
        subjects = [
            subject for step in original.steps if step.index == event.step_index for subject in subjects_of(step)
        ]
        await self._book.record_undo(
            original.id,
            subjects,
            at=datetime.fromisoformat(head.at),
            undone_by=event.trace_id,
            in_time=event.within_window,
            applied_seq=head.seq,
        )

    async def _apply_answer(self, event: ApprovalAnswered, head: Head) -> None:
        """Apply an answer that came late; one that came in time is in the samples of its trace."""
        original = await self._closed(event.trace_id, head)
        if original is None:
            return
        asked = event.approval.request_id
        subjects = [subject for step in original.steps if step.approval_id == asked for subject in subjects_of(step)]
        await self._book.record_approval_outcome(original.id, event.approval, subjects, applied_seq=head.seq)

    async def _apply_order(self, event: TrustChanged, head: Head) -> None:
        book, at, order_id, seq = self._book, datetime.fromisoformat(head.at), event.trace_id, head.seq
        match event.change:
            case "revoke":
                await book.revoke(event.subjects, at=at, order_id=order_id, applied_seq=seq)
            case "hold":
                await book.hold(event.subjects, at=at, order_id=order_id, applied_seq=seq)
            case "restore":
                await book.restore(event.subjects, at=at, order_id=order_id, applied_seq=seq)
            case "rollback" if event.to is not None:
                for left, subject in reversed(list(enumerate(reversed(event.subjects)))):
                    reached = 0 if left else seq  # a crash in between lets all of them be applied again
                    await book.rollback(subject, event.to, at=at, order_id=order_id, applied_seq=reached)
            case "birth" if event.reward is not None:
                ((actor, _),) = event.subjects
                name = actor.removeprefix("neuron:")
                await book.record_birth(name, event.reward, body=event.body, at=at, order_id=order_id, applied_seq=seq)

    async def _closed(self, trace_id: UUID, before: Head) -> ExecutionTrace | None:
        """Return a trace that was closed before an event, or `None`."""
        for head, event in await self._log.events(trace_id, TraceClosed):
            if isinstance(event, TraceClosed) and head.seq < before.seq:
                return event.trace
        return None
