"""How a trace begins, grows and is closed, whoever books it."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from attrs import evolve

from myclaw_core import codec
from myclaw_core.events.log import LogTransaction
from myclaw_core.events.types import TraceClosed
from myclaw_core.runtime.records import LAST_KIND, TURN_KIND, LastChange
from myclaw_core.runtime.types import ActionStep, ExecutionTrace, PluginVersion, Turn
from myclaw_core.trust.types import TraceSignals

__all__ = ["close_in", "mark_asked", "may_have_changed", "new_trace", "put_step"]


def new_trace(turn: Turn, plugins: Sequence[PluginVersion], config_digest: str) -> ExecutionTrace:
    """Return the empty trace of a turn."""
    return ExecutionTrace(
        id=turn.id,
        session_id=turn.session_id,
        channel=turn.channel,
        sender=turn.sender,
        autonomy=turn.autonomy,
        started_at=turn.received_at,
        plugins=list(plugins),
        config_digest=config_digest,
        parent_trace_id=turn.parent_trace_id,
        activity=turn.activity,
        dry_run=turn.dry_run,
    )


def put_step(trace: ExecutionTrace, step: ActionStep) -> None:
    """Let `step` take the place of the one with its index, or add it."""
    for position, known in enumerate(trace.steps):
        if known.index == step.index:
            trace.steps[position] = step
            return
    trace.steps.append(step)


def mark_asked(trace: ExecutionTrace, step_index: int, request_id: UUID) -> None:
    """Note in a step that was only decided so far that it was asked about."""
    for step in trace.steps:
        if step.index == step_index and step.state == "decided":
            put_step(trace, evolve(step, state="asked", approval_id=request_id))


def may_have_changed(step: ActionStep) -> bool:
    """Return whether a step may have changed something: an undo looks at it then."""
    if step.undo_id is not None:
        return True
    return step.exec_result is not None and any(effect.changes for effect in step.effects)


async def close_in(tx: LogTransaction, trace: ExecutionTrace, signals: Sequence[TraceSignals]) -> None:
    """Close a trace inside `tx`; one that changed something becomes its sender's last, for `/undo`."""
    await tx.delete(TURN_KIND, str(trace.id))
    if any(step.state in {"intent", "done", "failed"} and may_have_changed(step) for step in trace.steps):
        await tx.put(LAST_KIND, trace.sender, codec.dumps(LastChange(trace_id=trace.id)))
    await tx.append(TraceClosed(trace_id=trace.id, trace=trace, signals=tuple(signals)))
