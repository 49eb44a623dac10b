"""After a crash: turns whose process is gone are closed as `interrupted`; nothing is run again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from uuid import UUID

from attrs import evolve

from myclaw_core.approval.gateway import Gateway
from myclaw_core.clock import Clock
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import (
    ApprovalAnswered,
    ApprovalAsked,
    Event,
    ModelCalled,
    StepDecided,
    StepEnded,
    StepIntended,
    TurnStarted,
)
from myclaw_core.process import is_alive
from myclaw_core.runtime.recorder import TURN_KIND, close_in, mark_asked, new_trace, put_step
from myclaw_core.runtime.types import ExecutionTrace, Message
from myclaw_core.trust.types import TraceSignals

__all__ = ["rebuild_trace", "recover"]


async def recover(
    log: EventLog,
    gateway: Gateway,
    clock: Clock,
    signals: Callable[[ExecutionTrace], Sequence[TraceSignals]],
) -> list[ExecutionTrace]:
    """Close every open turn whose process is gone and return the traces.

    Its open questions end as `expired (restart)`. A step with an intent and no result keeps the state `intent`: its
    outcome is unknown, it is never run again, and its undo record can still revert it.
    """
    recovered = []
    for key, raw in await log.scan(TURN_KIND):
        if is_alive(raw.decode(errors="replace")):
            continue
        events = [event for _, event in await log.events(key) if event is not None]
        trace = rebuild_trace(events)
        async with log.transaction() as tx:
            if trace is None:
                await tx.delete(TURN_KIND, key)
                continue
            trace.approvals.extend(approval for _, approval in await gateway.expire_dead(tx, UUID(key), "restart"))
            trace.outcome = "interrupted"
            trace.closed_at = clock.now()
            await close_in(tx, trace, signals(trace))
        recovered.append(trace)
    return recovered


def rebuild_trace(events: Sequence[Event]) -> ExecutionTrace | None:
    """Return the trace that the events of one turn tell, or `None` where its start is missing."""
    trace: ExecutionTrace | None = None
    for event in events:
        if isinstance(event, TurnStarted):
            trace = new_trace(event.turn, event.plugins, event.config_digest)
            trace.messages.append(Message(role="user", text=event.turn.text))
        elif trace is not None:
            _apply(trace, event)
    return trace


def _apply(trace: ExecutionTrace, event: Event) -> None:
    if isinstance(event, ModelCalled):
        trace.model_calls.append(event.call)
        trace.cost_usd += event.call.cost_usd
        usage = event.call.usage
        trace.cost_tokens += usage.input_tokens + usage.cached_tokens + usage.output_tokens
        if event.message is not None:
            trace.messages.append(event.message)
            trace.tool_calls.extend(event.message.tool_calls)
    elif isinstance(event, StepDecided | StepEnded):
        put_step(trace, event.step)
    elif isinstance(event, ApprovalAsked):
        mark_asked(trace, event.step_index, event.request.id)
    elif isinstance(event, StepIntended):
        _mark_intent(trace, event)
    elif isinstance(event, ApprovalAnswered):
        trace.approvals.append(event.approval)


def _mark_intent(trace: ExecutionTrace, event: StepIntended) -> None:
    for step in list(trace.steps):
        if step.index == event.step_index:
            undo_id = event.undo.id if event.undo else None
            put_step(trace, evolve(step, state="intent", approval_id=event.approval_id, undo_id=undo_id))
