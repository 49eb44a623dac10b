"""What is on record about neurons: which bytes of each may run, each record vouched for by an event of the log."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from attrs import evolve, frozen

from myclaw_core import codec
from myclaw_core.codec import event_tag
from myclaw_core.errors import MyclawError, StoreError
from myclaw_core.events.log import EventLog, LogTransaction
from myclaw_core.events.types import NeuronBorn, NeuronChange, NeuronChanged
from myclaw_core.messages import N_
from myclaw_core.neurons.manifest import NEURON_NAME
from myclaw_core.neurons.types import NeuronRecord
from myclaw_core.types.text import Text

__all__ = [
    "MAX_STRIKES",
    "NEURON_KIND",
    "Doubted",
    "born",
    "changed",
    "digest_on_record",
    "find",
    "misplaced",
    "standing",
    "vouched",
]

NEURON_KIND = "neuron"
"""Kind of the records in the core database, each under the name of its neuron."""
MAX_STRIKES = 3

_END = b"\n"
_MOST_DIGITS = 18


@frozen(kw_only=True)
class Doubted:
    """A record that the event log does not vouch for: its neuron does not run.

    Attributes:
        name: The neuron.
        reason: What is wrong with it, one line.
    """

    name: str
    reason: Text


async def born(tx: LogTransaction, record: NeuronRecord) -> None:
    """Book that the person approved a neuron; what was on record under its name counts no more.

    Args:
        record: `active`, with `trace_id` the turn in which it was admitted.
    """
    raw = codec.dumps(record)
    event = NeuronBorn(
        name=record.name,
        version=record.version,
        body_hash=record.body_hash,
        digest=record.digest,
        reward=record.reward,
        origin=record.origin,
        seal=_seal(raw),
        trace_id=record.trace_id,
    )
    await _put(tx, record.name, await tx.append(event), raw)


async def changed(
    tx: LogTransaction,
    record: NeuronRecord,
    change: NeuronChange,
    *,
    reason: Text | None = None,
    sender: str = "",
    trace_id: UUID | None = None,
) -> NeuronRecord:
    """Book what `record` has become, and return it.

    Args:
        record: As it stands from now on; read in this transaction and evolved.
        reason: Why; `record.reason` where it is not given.
        sender: The person who did it.
        trace_id: The turn in which it happened.
    """
    raw = codec.dumps(record)
    event = NeuronChanged(
        name=record.name,
        change=change,
        version=record.version,
        digest=record.digest,
        seal=_seal(raw),
        reason=record.reason if reason is None else reason,
        sender=sender,
        trace_id=trace_id,
    )
    await _put(tx, record.name, await tx.append(event), raw)
    return record


def standing(record: NeuronRecord, at: datetime, **changes: Any) -> NeuronRecord:
    """Return a record with another status, from now on.

    Args:
        changes: `status`, and `reason` where it is not active; `strikes` begin anew where they are not given.
    """
    return evolve(record, at=at, **{"reason": Text(""), "strikes": 0, **changes})


async def find(log: EventLog, name: str, tx: LogTransaction | None = None) -> NeuronRecord | None:
    """Return what is on record about a neuron, `None` where nothing is.

    Args:
        tx: Reads it as this transaction sees it, so that it can be changed there.

    Raises:
        StoreError: The record is not the one that the event log vouches for; nothing may be made of it.
    """
    # What is no name is not on record, and perhaps no text that a database takes.
    raw = await (tx or log).get(NEURON_KIND, name) if NEURON_NAME.fullmatch(name) else None
    if raw is None:
        return None
    found = await _vouched(log, name, raw)
    if isinstance(found, Doubted):
        raise StoreError(N_("the neuron {name}: {problem}", name=name, problem=found.reason))
    return found


def digest_on_record(record: NeuronRecord | None) -> str:
    """Return the digest of the version that was approved last; empty where there is none."""
    return "" if record is None or record.status == "removed" else record.digest


async def vouched(log: EventLog, records: Sequence[tuple[str, bytes]]) -> Mapping[str, NeuronRecord | Doubted]:
    """Return each record, or why it does not count: the log must hold an event that was committed with its bytes.

    Args:
        records: As `log.scan(NEURON_KIND)` returns them.

    Raises:
        StoreError: The log cannot be read.
    """
    return {key: await _vouched(log, key, raw) for key, raw in records}


async def misplaced(log: EventLog) -> Text | None:
    """Return that the record of a neuron is not its newest one, although an event vouches for it, or `None`.

    It reads the heads of the whole log, so it belongs where that is checked.

    Raises:
        StoreError: The log cannot be read.
    """
    told: dict[str, list[int]] = defaultdict(list)
    seq = await _fold(log, 0, told)
    before = {name: len(seqs) for name, seqs in told.items()}
    kept = {key: _seq(raw) for key, raw in await log.scan(NEURON_KIND)}
    await _fold(log, seq, told)  # what changed meanwhile is not misplaced
    for name in sorted({*before, *kept}):
        if kept.get(name) not in told[name][max(0, before.get(name, 0) - 1) :]:
            return N_("the record of the neuron {name} was changed by hand; restore the core database", name=name)
    return None


async def _put(tx: LogTransaction, name: str, seq: int, raw: bytes) -> None:
    await tx.put(NEURON_KIND, name, b"%d" % seq + _END + raw)


async def _vouched(log: EventLog, key: str, raw: bytes) -> NeuronRecord | Doubted:
    try:
        seq, record = _read(key, raw)
        event = next(iter([event for _, event in await log.since(seq - 1, 1)]), None)
    except MyclawError as error:
        return Doubted(name=key, reason=error.text)
    is_same = isinstance(event, NeuronBorn | NeuronChanged) and (event.name, event.digest) == (key, record.digest)
    if is_same and record.name == key and getattr(event, "seal", "") == _seal(raw.partition(_END)[2]):
        return record
    return Doubted(name=key, reason=N_("its record is not the one in the event log; 'myclaw audit verify' says more"))


async def _fold(log: EventLog, after: int, told: dict[str, list[int]]) -> int:
    """Add the numbers of the events of each neuron up to the end of the log; return how far that is."""
    tags = {event_tag(NeuronBorn), event_tag(NeuronChanged)}
    while heads := await log.heads(after):
        for head in heads:
            event = await log.event(head) if head.type in tags else None
            if isinstance(event, NeuronBorn | NeuronChanged):
                told[event.name].append(head.seq)
        after = heads[-1].seq
    return after


def _read(key: str, raw: bytes) -> tuple[int, NeuronRecord]:
    """Return a record and the number of the event that was committed with it."""
    return _seq(raw), codec.loads(NeuronRecord, raw.partition(_END)[2], N_("neuron record {name}", name=key))


def _seq(raw: bytes) -> int:
    number = raw.partition(_END)[0]
    return int(number) if number.isdigit() and len(number) <= _MOST_DIGITS else 0


def _seal(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()
