"""Traces from a file: each goes into the event log as if it had closed here, marked as taken in, and counts once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from uuid import UUID

from attrs import define, field

from myclaw_core import codec
from myclaw_core.clock import Clock
from myclaw_core.errors import UsageError
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import TraceClosed
from myclaw_core.messages import N_
from myclaw_core.runtime.types import ExecutionTrace
from myclaw_core.trust.types import TraceSignals
from myclaw_core.types.text import Text

__all__ = ["Ingested", "ingest"]

_BATCH = 64
"""Traces that are written in one transaction."""


@define(kw_only=True)
class Ingested:
    """What became of the lines of a file.

    Attributes:
        taken: Traces that were taken in.
        known: Traces that the log had already.
        problems: What is wrong with a line, by its number.
    """

    taken: int = 0
    known: int = 0
    problems: list[tuple[int, Text]] = field(factory=list)


async def ingest(
    lines: Iterable[tuple[int, bytes]],
    log: EventLog,
    signals: Callable[[ExecutionTrace], Sequence[TraceSignals]],
    clock: Clock,
    *,
    most_bytes: int,
) -> Ingested:
    """Write the traces of a file into the event log, from which trust learns of them like of any other.

    A trace whose id the log knows is left out, so that a file may be read again, also after a crash. A line that is
    wrong leaves out itself only.

    Args:
        lines: Lines with their numbers; one closed `ExecutionTrace` each.
        signals: What a closed trace says about its subjects.
        clock: Says what lies in the future: such a trace would let all other trust fade.
        most_bytes: How long a line may be.

    Raises:
        StoreError: The log cannot be read or written; what was taken in until then stays.
    """
    done, batch = Ingested(), dict[UUID, TraceClosed]()
    for number, line in lines:
        try:
            trace = _read(line, number, clock, most_bytes)
        except UsageError as error:
            done.problems.append((number, error.text))
            continue
        if trace.id in batch:
            done.known += 1
        else:
            said = tuple(signals(trace))
            batch[trace.id] = TraceClosed(trace_id=trace.id, trace=trace, signals=said, ingested=True)
        if len(batch) == _BATCH:
            await _write(batch, log, done)
            batch.clear()
    await _write(batch, log, done)
    return done


def _read(line: bytes, number: int, clock: Clock, most_bytes: int) -> ExecutionTrace:
    """Return the trace of one line.

    Raises:
        UsageError: It holds none that is closed.
    """
    where = N_("line {line}", line=number)
    if len(line) > most_bytes:
        raise UsageError(N_("{where}: it is longer than {n} bytes", where=where, n=most_bytes))
    trace = codec.loads(ExecutionTrace, line, where)
    if trace.closed_at is None or trace.outcome is None:
        raise UsageError(N_("{where}: the trace is not closed", where=where))
    if trace.closed_at > clock.now():
        raise UsageError(N_("{where}: the trace was closed in the future", where=where))
    return trace


async def _write(batch: Mapping[UUID, TraceClosed], log: EventLog, done: Ingested) -> None:
    async with log.transaction() as tx:  # nobody else can add a trace between the look and the write
        fresh = [event for key, event in batch.items() if not await log.trace_ids(str(key), limit=1)]
        for event in fresh:
            await tx.append(event)
    done.taken += len(fresh)
    done.known += len(batch) - len(fresh)
