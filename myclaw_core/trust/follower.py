"""Brings the trust store up to the event log: the same path for a trace closed just now and for one found at start."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from myclaw_core.codec import event_tag
from myclaw_core.events.log import EventLog
from myclaw_core.events.store import Head
from myclaw_core.events.types import Event, TraceClosed, UndoApplied
from myclaw_core.runtime.types import ExecutionTrace
from myclaw_core.trust.book import TrustBook
from myclaw_core.trust.signals import subjects_of

__all__ = ["TrustFollower"]

_APPLIED = frozenset(map(event_tag, (TraceClosed, UndoApplied)))
"""Only their bodies are read: most of a log is conversation and steps."""


class TrustFollower:
    """Applies closed traces and undos to the book, in the order of the log.

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
        if isinstance(event, TraceClosed):
            await self._book.bulk_update_from_trace(event.trace, event.signals, head.seq)
        elif isinstance(event, UndoApplied) and event.reverted:
            await self._apply_undo(event, head)

    async def _apply_undo(self, event: UndoApplied, head: Head) -> None:
        original = await self._closed(event.original_trace_id)
        if original is None:
            return
        at = datetime.fromisoformat(head.at)
        subjects = [
            subject for step in original.steps if step.index == event.step_index for subject in subjects_of(step)
        ]
        await self._book.record_undo(
            original.id,
            subjects,
            at=at,
            undone_by=event.trace_id,
            in_time=event.within_window,
            applied_seq=head.seq,
        )

    async def _closed(self, trace_id: UUID) -> ExecutionTrace | None:
        for _, event in await self._log.events(trace_id, TraceClosed):
            if isinstance(event, TraceClosed):
                return event.trace
        return None
