"""After a crash: what a command left behind is noted, so that later work is not mistaken for its doing."""

from __future__ import annotations

import asyncio

from myclaw_core import codec
from myclaw_core.errors import MyclawError
from myclaw_core.runtime.recorder import UNDO_KIND, read_undo, undo_key
from myclaw_core.runtime.services import Services
from myclaw_core.runtime.types import ExecutionTrace
from myclaw_core.undo.journal import SNAPSHOT

__all__ = ["note_what_is_left"]


async def note_what_is_left(services: Services, trace: ExecutionTrace) -> None:
    """Complete the snapshots of steps whose end nobody saw; one that cannot be completed restores everything.

    Raises:
        StoreError: The log cannot be written.
    """
    for step in trace.steps:
        key = undo_key(trace.id, step.index)
        raw = await services.log.get(UNDO_KIND, key) if step.state == "intent" else None
        if raw is None:
            continue
        try:
            record = read_undo(raw, key)
            if record.handler != SNAPSHOT or "after" in record.data:
                continue
            record = await asyncio.to_thread(services.journal.close_snapshot, record)
        except MyclawError:
            continue
        async with services.log.transaction() as tx:
            await tx.put(UNDO_KIND, key, codec.dumps(record))
