"""Takes the steps of a trace back, newest first; the undo is a trace of its own."""

from __future__ import annotations

from uuid import UUID

from attrs import evolve, frozen

from myclaw_core import codec
from myclaw_core.errors import MyclawError, StoreError, UsageError
from myclaw_core.events.log import EventLog, LogTransaction
from myclaw_core.events.types import StepIntended, TraceClosed, UndoApplied
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_
from myclaw_core.neurons.questions import ADMIT, DESIGN
from myclaw_core.outbox.records import open_message
from myclaw_core.runtime.finishing import to_its_end
from myclaw_core.runtime.records import LAST_KIND, LastChange
from myclaw_core.runtime.services import Services
from myclaw_core.runtime.traces import may_have_changed, new_trace
from myclaw_core.runtime.types import ActionStep, ExecutionTrace, Turn
from myclaw_core.trust.types import UNDO_WINDOW
from myclaw_core.types.text import Text
from myclaw_core.undo.handler import OUTBOX, SNAPSHOT
from myclaw_core.undo.records import UNDO_KIND, read_undo, undo_key
from myclaw_core.undo.types import UndoRecord

__all__ = [
    "UndoLine",
    "can_be_undone",
    "find_trace",
    "first_words",
    "instead_of_undo",
    "last_changing",
    "trace_id_of",
    "undo_trace",
]

_WORDS_CHARS = 60


@frozen(kw_only=True)
class UndoLine:
    """What became of one step.

    Attributes:
        final: Whether another undo would change nothing: it is undone, or never can be.
    """

    step: ActionStep
    reverted: bool
    details: tuple[Text, ...]
    final: bool = False


async def find_trace(log: EventLog, wanted: str) -> ExecutionTrace:
    """Return the closed trace whose id starts with `wanted`.

    Raises:
        UsageError: There is none, or more than one.
    """
    return await _closed(log, await trace_id_of(log, wanted))


async def trace_id_of(log: EventLog, wanted: str) -> str:
    """Return the id of the trace that starts with `wanted`.

    Raises:
        UsageError: There is none, or more than one.
    """
    matches = await log.trace_ids(wanted.lower(), limit=2)
    if not matches:
        raise UsageError(N_("no trace starts with {wanted}; see 'myclaw audit list'", wanted=repr(wanted)))
    if len(matches) > 1:
        raise UsageError(N_("more than one trace starts with {wanted}; give more of its id", wanted=repr(wanted)))
    return matches[0]


async def last_changing(log: EventLog, sender: str, command: str) -> ExecutionTrace:
    """Return the sender's last trace that changed something, in whichever conversation.

    Args:
        command: How an undo is written where this is asked, for the error's hint.

    Raises:
        UsageError: Nothing was changed yet, or that trace was taken back already.
    """
    last = await log.get(LAST_KIND, sender)
    if last is None:
        raise UsageError(N_("nothing to undo: no action has changed anything yet"))
    change = codec.loads(LastChange, last, N_("last change of {sender}", sender=sender))
    trace = await _closed(log, str(change.trace_id))
    if await _is_taken_back(log, trace):
        raise UsageError(
            N_(
                "nothing left to take back: the last change was undone; {command} TRACE for an older one",
                command=command,
            )
        )
    return trace


async def can_be_undone(log: EventLog, trace: ExecutionTrace) -> bool:
    """Return whether something of a trace may still be taken back: what was sent stays sent.

    Raises:
        StoreError: The log or an undo record cannot be read.
    """
    for step in trace.steps:
        key = undo_key(trace.id, step.index)
        raw = await log.get(UNDO_KIND, key)
        if raw is not None and await _is_open(log, read_undo(raw, key)):
            return True
    return False


async def _is_open(log: EventLog, record: UndoRecord) -> bool:
    """Return whether a record may still be used: it was not yet, and what it would recall was not sent."""
    if record.reverted_at is not None:
        return False
    if record.handler != OUTBOX:
        return True
    message = await open_message(log, UUID(record.data["message_id"]))
    return message is not None and message.state == "held"


def instead_of_undo(step: ActionStep) -> Text | None:
    """Return what takes back what an undo does not, `None` where that is not known."""
    if step.tool_name == ADMIT and step.effects:
        return N_(
            "undo removes no neuron: 'myclaw neurons remove {name}' does, or /neurons remove {name} in a conversation",
            name=step.effects[0].target,
        )
    if step.tool_name == DESIGN:
        return N_("a design that has begun is not taken back; say no when you are asked about its draft")
    return None


def first_words(trace: ExecutionTrace) -> str:
    """Return the beginning of the message that a trace answers, as one line that can be shown."""
    asked = next((message.text for message in trace.messages if message.role == "user"), "")
    line = visible(" ".join(asked.split()))
    return line if len(line) <= _WORDS_CHARS else line[: _WORDS_CHARS - 1] + "…"


async def undo_trace(
    services: Services, turn: Turn, original: ExecutionTrace, *, force: bool = False
) -> list[UndoLine]:
    """Revert the steps of `original` that changed something and book it as the child trace `turn`.

    Where it is stopped it ends with the step that it is at.

    Args:
        turn: The undo itself; its `parent_trace_id` is the original's.
        force: Restore even where a target was changed since.
    """
    trace = new_trace(turn, services.plugins, services.config.digest)
    recorder = services.recorder(trace)
    async with recorder.during(turn):
        lines = [
            await _undo_step(services, turn, original, step, force=force)
            for step in await _last_first(services.log, original)
            if may_have_changed(step)
        ]
        trace.outcome = "success" if all(line.reverted for line in lines) else "failed"
    return lines


async def _last_first(log: EventLog, trace: ExecutionTrace) -> list[ActionStep]:
    """Return the steps of a trace, the one that began last first.

    What a neuron calls began before the steps that were judged together with it.
    """
    intents = [event for _, event in await log.events(trace.id, StepIntended) if isinstance(event, StepIntended)]
    began = {event.step_index: place for place, event in enumerate(intents)}
    return sorted(trace.steps, key=lambda step: (began.get(step.index, -1), step.index), reverse=True)


@to_its_end
async def _undo_step(
    services: Services, turn: Turn, original: ExecutionTrace, step: ActionStep, *, force: bool
) -> UndoLine:
    key = undo_key(original.id, step.index)
    raw = await services.log.get(UNDO_KIND, key)
    if raw is None:
        return UndoLine(step=step, reverted=False, details=(_why_not(services, step),), final=True)
    try:
        record = read_undo(raw, key)
        await _require_vouched(services.log, record, original.id, step.index)
    except MyclawError as error:
        return UndoLine(step=step, reverted=False, details=(error.text,))
    reverted = await services.undo.revert(record, force=force)
    now = services.clock.now()
    within = original.closed_at is not None and now - original.closed_at <= UNDO_WINDOW
    async with services.log.transaction() as tx:
        first = reverted.reverted and not await _was_undone(tx, key)
        if first:
            await tx.put(UNDO_KIND, key, codec.dumps(evolve(record, reverted_at=now)))
        await tx.append(
            UndoApplied(
                trace_id=turn.id,
                original_trace_id=original.id,
                step_index=step.index,
                undo_id=record.id,
                reverted=first,
                within_window=within,
                details=reverted.details,
            )
        )
    final = reverted.reverted or not await _is_open(services.log, record)
    return UndoLine(step=step, reverted=reverted.reverted, details=reverted.details, final=final)


async def _require_vouched(log: EventLog, record: UndoRecord, trace_id: UUID, step_index: int) -> None:
    """Check that a record is the one of its intent; only whether it was undone, and what a command left, came later.

    Raises:
        StoreError: It was changed since: undoing by it could change what its step never touched.
    """
    intents = [event for _, event in await log.events(trace_id, StepIntended)]
    recorded = [event.undo for event in intents if isinstance(event, StepIntended) and event.undo is not None]
    made = next((each for each in recorded if each.step_index == step_index), None)
    if None not in intents and (made is None or _as_made(made) != _as_made(record)):
        raise StoreError(N_("its undo record was changed by something else; it is not used"))


def _as_made(record: UndoRecord) -> UndoRecord:
    data = {key: value for key, value in record.data.items() if (record.handler, key) != (SNAPSHOT, "after")}
    return evolve(record, reverted_at=None, data=data)


def _why_not(services: Services, step: ActionStep) -> Text:
    """Return why a step without an undo record cannot be undone."""
    if (instead := instead_of_undo(step)) is not None:
        return instead
    if step.undo_id is None:
        return N_("it cannot be undone: no undo record exists")
    days = services.config.limits.undo_days
    return N_("it can no longer be undone: what was there before is kept for {days} days", days=days)


async def _is_taken_back(log: EventLog, trace: ExecutionTrace) -> bool:
    keys = [undo_key(trace.id, step.index) for step in trace.steps if step.undo_id is not None]
    return bool(keys) and all([await _was_undone(log, key) for key in keys])


async def _was_undone(records: EventLog | LogTransaction, key: str) -> bool:
    """Return whether the undo of a step is booked, maybe by another process meanwhile: only the first counts."""
    raw = await records.get(UNDO_KIND, key)
    return raw is not None and read_undo(raw, key).reverted_at is not None


async def _closed(log: EventLog, trace_id: str) -> ExecutionTrace:
    for _, event in await log.events(trace_id, TraceClosed):
        if isinstance(event, TraceClosed):
            return event.trace
    raise UsageError(N_("trace {trace} is not closed, or its record was erased", trace=trace_id))
