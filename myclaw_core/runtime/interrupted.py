"""After a crash: what a command left behind is noted, so that later work is not mistaken for its doing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from myclaw_core import codec
from myclaw_core.errors import MyclawError, ToolFailure
from myclaw_core.runtime.recorder import UNDO_KIND, read_undo, undo_key
from myclaw_core.runtime.services import Services
from myclaw_core.runtime.types import ExecutionTrace
from myclaw_core.types.text import Text
from myclaw_core.undo.journal import SNAPSHOT
from myclaw_core.undo.types import UndoRecord

__all__ = ["note_what_is_left"]


async def note_what_is_left(services: Services, trace: ExecutionTrace) -> Sequence[Text]:
    """Complete the snapshots of steps whose end nobody saw; one that cannot be completed restores everything.

    Returns:
        A line on each folder where files that other programs run by themselves had to be renamed first.

    Raises:
        StoreError: The log cannot be written.
    """
    notices: list[Text] = []
    for step in trace.steps:
        key = undo_key(trace.id, step.index)
        raw = await services.log.get(UNDO_KIND, key) if step.state == "intent" else None
        if raw is None:
            continue
        try:
            record = read_undo(raw, key)
            if record.handler != SNAPSHOT or "after" in record.data:
                continue
            notices += await asyncio.to_thread(_set_aside, services, record)
            record = await asyncio.to_thread(services.journal.close_snapshot, record)
        except MyclawError:
            continue
        async with services.log.transaction() as tx:
            await tx.put(UNDO_KIND, key, codec.dumps(record))
    return notices


def _set_aside(services: Services, record: UndoRecord) -> Sequence[Text]:
    try:
        services.shells.set_aside_late(record.data["root"], services.journal.kept_in_snapshot(record))
    except ToolFailure as found:
        return [found.text]
    return []
