"""Shows that what was tested, agreed to, signed and executed are the same bytes, each from a source of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal
from uuid import UUID

from attrs import frozen

from myclaw_core.errors import MyclawError
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import ApprovalAsked, NeuronBorn, StepEnded
from myclaw_core.messages import N_
from myclaw_core.neurons.questions import ADMIT
from myclaw_core.neurons.signing import NEURON_KEY
from myclaw_core.neurons.types import Invocation, NeuronEntry, VerifiedNeuron
from myclaw_core.neurons.verified import Quarantined, usable_key, verified
from myclaw_core.paths import Home
from myclaw_core.types.text import Text

__all__ = ["Stage", "are_the_same", "provenance"]


@frozen(kw_only=True)
class Stage:
    """What one source says of the bytes of a neuron.

    Attributes:
        digest: Of its files; empty where the source does not say it. So too `body_hash`, of its body alone.
        source: Where that comes from, or why it is not known.
    """

    stage: Literal["tested", "agreed to", "adopted", "signed", "called", "last run"]
    digest: str = ""
    body_hash: str = ""
    source: Text


async def provenance(log: EventLog, home: Home, entry: NeuronEntry, runs: Sequence[Invocation]) -> tuple[Stage, ...]:
    """Return what there is of each stage, in their order.

    Args:
        runs: The last runs, the newest first; those of an earlier version say nothing about this one.

    Raises:
        StoreError: The log cannot be read.
    """
    record = entry.record
    born = await _born(log, entry.name, record.trace_id) if record and record.trace_id else ()
    ran = await _ran(log, entry.name, runs[0].trace_id) if record and runs and runs[0].at >= record.born_at else ()
    return (*born, _signed(home, entry.name), _called(entry), *ran)


def are_the_same(stages: Sequence[Stage]) -> bool:
    """Return whether no two stages name different bytes."""
    digests = {each.digest for each in stages if each.digest}
    bodies = {each.body_hash for each in stages if each.body_hash}
    return len(digests) <= 1 and len(bodies) <= 1


async def _born(log: EventLog, name: str, trace_id: UUID) -> tuple[Stage, ...]:
    """Return what the turn says in which it was adopted."""
    tested = asked = adopted = None
    for head, event in await log.events(trace_id, ApprovalAsked, NeuronBorn, StepEnded):
        match event:
            case StepEnded(step=step) if step.tool_name == ADMIT and step.exec_result is not None:
                source = N_("its birth tests, as the trace {trace} says", trace=_short(trace_id))
                tested = Stage(stage="tested", digest=_digest(step.exec_result.data, "tested"), source=source)
            case ApprovalAsked(request=request) if request.draft.action.tool_name == ADMIT:
                source = N_("the question of the trace {trace}", trace=_short(trace_id))
                asked = Stage(
                    stage="agreed to", digest=_digest(request.draft.action.args_preview, "digest"), source=source
                )
            case NeuronBorn() if event.name == name:
                source = N_("the event {seq}, neuron.born", seq=head.seq)
                adopted = Stage(stage="adopted", digest=event.digest, body_hash=event.body_hash, source=source)
    return tuple(each for each in (tested, asked, adopted) if each is not None)


def _signed(home: Home, name: str) -> Stage:
    key = usable_key(home.keys / NEURON_KEY)
    if isinstance(key, Text):
        return Stage(stage="signed", source=key)
    found = verified(home.neurons / name, key)
    if isinstance(found, Quarantined):
        return Stage(stage="signed", source=found.reason)
    source = N_("the files in place, which their signature fits")
    return Stage(stage="signed", digest=found.digest, body_hash=found.body_hash, source=source)


def _called(entry: NeuronEntry) -> Stage:
    neuron: VerifiedNeuron | None = entry.neuron
    if neuron is None:
        return Stage(stage="called", source=N_("nothing: it cannot be called"))
    source = N_("what a call executes now")
    return Stage(stage="called", digest=neuron.digest, body_hash=neuron.body_hash, source=source)


async def _ran(log: EventLog, name: str, trace_id: UUID) -> tuple[Stage, ...]:
    try:
        events = [event for _head, event in await log.events(trace_id, StepEnded)]
    except MyclawError as error:
        return (Stage(stage="last run", source=error.text),)
    for event in reversed(events):
        if isinstance(event, StepEnded) and event.step.tool_name == f"neuron:{name}":
            source = N_("the trace {trace}", trace=_short(trace_id))
            return (Stage(stage="last run", body_hash=event.step.actor_version, source=source),)
    return ()


def _digest(data: Mapping[str, Any], key: str) -> str:
    return str(data.get(key, ""))


def _short(trace_id: UUID) -> str:
    return str(trace_id)[:13]
