"""After a crash: half-made files go, and what a command left is noted, lest later work be taken for its doing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from myclaw_core import codec
from myclaw_core.errors import MyclawError, ToolFailure
from myclaw_core.files.handles import remove_leftovers
from myclaw_core.runtime.services import Services
from myclaw_core.runtime.types import ExecutionTrace
from myclaw_core.types.text import Text
from myclaw_core.undo.journal import SNAPSHOT
from myclaw_core.undo.records import UNDO_KIND, read_undo, undo_key
from myclaw_core.undo.revert import paths_of
from myclaw_core.undo.types import UndoRecord

__all__ = ["note_what_is_left"]


async def note_what_is_left(services: Services, trace: ExecutionTrace) -> Sequence[Text]:
    """Clear up after steps whose end nobody saw, and complete their snapshots; one that cannot be restores everything.

    Returns:
        A line on each folder where files that other programs run by themselves had to be renamed first.

    Raises:
        StoreError: The log cannot be written.
    """
    await _clear_up(services, trace)
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


async def _clear_up(services: Services, trace: ExecutionTrace) -> None:
    """Remove what was about to be put somewhere by the steps of a trace, or by undoing those of the trace it undid."""
    for trace_id in filter(None, (trace.id, trace.parent_trace_id)):
        for key, raw in await services.log.scan(UNDO_KIND, f"{trace_id}/"):
            with suppress(MyclawError):
                await asyncio.to_thread(remove_leftovers, paths_of(read_undo(raw, key).changes))


def _set_aside(services: Services, record: UndoRecord) -> Sequence[Text]:
    try:
        services.shells.set_aside_late(record.data["root"], services.journal.kept_in_snapshot(record))
    except ToolFailure as found:
        return [found.text]
    return []
