"""After a crash: turns whose process is gone are closed as `interrupted`; nothing is run again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from uuid import UUID

from attrs import evolve

from myclaw_core import codec
from myclaw_core.approval.gateway import Gateway
from myclaw_core.clock import Clock
from myclaw_core.errors import MyclawError
from myclaw_core.events.log import EventLog, LogTransaction
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
from myclaw_core.messages import N_
from myclaw_core.process import is_alive
from myclaw_core.runtime.records import TURN_KIND, OpenTurn
from myclaw_core.runtime.traces import close_in, mark_asked, new_trace, put_step
from myclaw_core.runtime.types import ExecutionTrace, Message
from myclaw_core.trust.types import TraceSignals

__all__ = ["rebuild_trace", "recover"]


async def recover(
    log: EventLog,
    gateway: Gateway,
    clock: Clock,
    signals: Callable[[ExecutionTrace], Sequence[TraceSignals]],
    on_damage: Callable[[MyclawError], None],
) -> list[ExecutionTrace]:
    """Close every open turn whose process is gone, end its questions, and return the traces.

    A turn whose record or events cannot be read stays open as evidence and is told to `on_damage`. Open questions of
    the others end as `expired (restart)`. A step with an intent and no result keeps the state `intent`: its outcome is
    unknown, it is never run again, and its undo record can still revert it.
    """
    recovered: list[ExecutionTrace] = []
    for key, raw in await log.scan(TURN_KIND):
        try:
            if is_alive(codec.loads(OpenTurn, raw, N_("turn record {key}", key=key)).owner):
                continue
            trace = rebuild_trace([event for _, event in await log.events(key) if event is not None])
            if trace is not None:
                trace.outcome, trace.closed_at = "interrupted", clock.now()
            async with log.transaction() as tx:
                await _close(tx, key, trace, gateway, signals)
        except MyclawError as error:
            on_damage(error)
        else:
            recovered.extend(filter(None, [trace]))
    try:
        await gateway.recover()
    except MyclawError as error:
        on_damage(error)
    return recovered


async def _close(
    tx: LogTransaction,
    key: str,
    trace: ExecutionTrace | None,
    gateway: Gateway,
    signals: Callable[[ExecutionTrace], Sequence[TraceSignals]],
) -> None:
    """Close one dead turn inside `tx`; one without any event is only forgotten."""
    if trace is None:
        await tx.delete(TURN_KIND, key)
        return
    trace.approvals.extend(approval for _, approval in await gateway.expire_dead(tx, UUID(key), "restart"))
    await close_in(tx, trace, signals(trace))


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
        trace.cost_usd += event.step.cost_usd
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
