"""Books that a step was undone because its message was recalled, so that trust hears of it as of any undo."""

from __future__ import annotations

from datetime import datetime

from attrs import evolve

from myclaw_core import codec
from myclaw_core.events.log import LogTransaction
from myclaw_core.events.types import UndoApplied
from myclaw_core.outbox.types import OutboxMessage
from myclaw_core.trust.types import UNDO_WINDOW
from myclaw_core.types.text import Text
from myclaw_core.undo.records import UNDO_KIND, read_undo, undo_key

__all__ = ["book_undo"]


async def book_undo(tx: LogTransaction, message: OutboxMessage, now: datetime, detail: Text) -> None:
    """Book it once, whoever undid it."""
    key = undo_key(message.trace_id, message.step_index)
    raw = await tx.get(UNDO_KIND, key)
    record = None if raw is None else read_undo(raw, key)
    if record is None or record.reverted_at is not None:
        return
    await tx.put(UNDO_KIND, key, codec.dumps(evolve(record, reverted_at=now)))
    await tx.append(
        UndoApplied(
            trace_id=message.trace_id,
            original_trace_id=message.trace_id,
            step_index=message.step_index,
            undo_id=record.id,
            reverted=True,
            within_window=now - message.held_at <= UNDO_WINDOW,
            details=(detail,),
        )
    )
