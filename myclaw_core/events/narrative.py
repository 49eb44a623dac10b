"""One trace as people read it: step by step, with each decision's reason."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import singledispatch
from typing import Any

from myclaw_core.events.store import Head
from myclaw_core.events.types import (
    ApprovalAnswered,
    ApprovalAsked,
    ConfigChanged,
    Event,
    ModelCalled,
    PluginConsent,
    PluginFault,
    StepDecided,
    StepEnded,
    StepIntended,
    TraceClosed,
    TurnStarted,
    UndoApplied,
)
from myclaw_core.files.visible import visible
from myclaw_core.messages import render

__all__ = ["event_lines", "narrate"]


def narrate(trace_id: str, entries: Sequence[tuple[Head, Event | None]]) -> Iterator[str]:
    """Yield the lines of one trace.

    Args:
        entries: The heads of the trace in order, each with its event; `None` where the body was erased.
    """
    yield f"trace {trace_id}, times in UTC"
    for head, event in entries:
        yield from event_lines(head, event)


def event_lines(head: Head, event: Event | None) -> Iterator[str]:
    """Yield the lines of one event, the first with its number and time."""
    lines = ["(erased)"] if event is None else _lines(event)
    yield f"{head.seq:>6}  {head.at[:19].replace('T', ' ')}  {head.type}: {visible(lines[0])}"
    yield from (f"{'':>8}{visible(line)}" for line in lines[1:] if line)


@singledispatch
def _lines(event: object) -> list[str]:
    return [type(event).__name__]


@_lines.register
def _(event: TurnStarted) -> list[str]:
    turn = event.turn
    plugins = ", ".join(f"{plugin.name} {plugin.version}" for plugin in event.plugins)
    return [
        f"{turn.sender} on {turn.channel}, level {turn.autonomy}: {_short(turn.text)}",
        f"folders: {', '.join(turn.roots)}",
        f"plugins: {plugins}",
    ]


@_lines.register
def _(event: ModelCalled) -> list[str]:
    call = event.call
    usage = call.usage
    first = (
        f"{call.model} through {call.provider}, {usage.input_tokens + usage.cached_tokens} tokens in "
        f"({usage.cached_tokens} cached), {usage.output_tokens} out, {call.cost_eur:.6f} EUR"
    )
    lines = [f"{first}; failed: {call.error}" if call.error else first]
    if event.message is not None and event.message.text:
        lines.append(f"said: {_short(event.message.text)}")
    if event.message is not None:
        lines.extend(f"proposed: {call.tool} {_short(_json(call.args))}" for call in event.message.tool_calls)
    return lines


@_lines.register
def _(event: StepDecided) -> list[str]:
    step = event.step
    if step.decision is None:
        return [f"step {step.index} {step.tool_name}: not judged, its arguments are invalid"]
    decision = step.decision
    lines = [f"step {step.index} {step.tool_name} {step.effect_class}: {decision.verdict} via {decision.via}"]
    lines.extend(f"{reason.check:<13} {reason.verdict:<17} {reason.text}" for reason in decision.reasons)
    lines.extend(
        f"evidence      {item.effect_class}: score {item.score:.3f}, samples {item.n_samples}"
        for item in decision.evidence
    )
    return lines


@_lines.register
def _(event: ApprovalAsked) -> list[str]:
    return [f"step {event.step_index}: {event.request.draft.summary} ({event.request.id})"]


@_lines.register
def _(event: ApprovalAnswered) -> list[str]:
    approval = event.approval
    note = f" ({approval.note})" if approval.note else ""
    return [f"{approval.verdict} by {approval.decided_by}{note} ({approval.request_id})"]


@_lines.register
def _(event: StepIntended) -> list[str]:
    undo = f"undo record {event.undo.id}" if event.undo else "no undo record"
    return [f"step {event.step_index}: about to run, {undo}"]


@_lines.register
def _(event: StepEnded) -> list[str]:
    step = event.step
    if step.error is not None:
        return [f"step {step.index} {step.tool_name}: {step.error.kind}, {render(step.error.message)}"]
    text = step.exec_result.text if step.exec_result else ""
    return [f"step {step.index} {step.tool_name}: {step.state} in {step.wall_time_ms} ms", _short(text)]


@_lines.register
def _(event: TraceClosed) -> list[str]:
    trace = event.trace
    cost_eur = sum(call.cost_eur for call in trace.model_calls)
    return [
        f"{trace.outcome}, steps {len(trace.steps)}, {cost_eur:.6f} EUR, {trace.wall_time_ms} ms",
        *(f"counts for trust in {' '.join(row.subject)}" for row in event.signals),
    ]


@_lines.register
def _(event: UndoApplied) -> list[str]:
    state = "undone" if event.reverted else "not undone"
    return [f"step {event.step_index} of {event.original_trace_id} {state}", *map(str, event.details)]


@_lines.register
def _(event: PluginFault) -> list[str]:
    return [f"{event.plugin} in {event.hook}: {event.detail}"]


@_lines.register
def _(event: PluginConsent) -> list[str]:
    return [f"{event.plugin} {event.version} of {event.distribution} {event.change}"]


@_lines.register
def _(event: ConfigChanged) -> list[str]:
    return [f"{event.key}: {event.before or 'default'} became {event.after or 'default'}, by {event.sender}"]


def _json(args: Mapping[str, Any]) -> str:
    return json.dumps(dict(args), ensure_ascii=False, default=str)


def _short(text: str, limit: int = 160) -> str:
    """Return `text`, cut with a notice where it is long."""
    plain = text.strip()
    return plain if len(plain) <= limit else f"{plain[:limit]} … ({len(plain) - limit} more characters)"
