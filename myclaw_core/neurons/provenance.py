"""Shows that what was made, tested, agreed to, signed and executed are the same bytes, each from its own source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal
from uuid import UUID

from attrs import frozen

from myclaw_core.approval.types import ApprovalRequest
from myclaw_core.errors import CodecError, MyclawError
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import ApprovalAnswered, ApprovalAsked, Event, NeuronBorn, StepEnded
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_
from myclaw_core.neurons.questions import ADMIT
from myclaw_core.neurons.signing import NEURON_KEY
from myclaw_core.neurons.types import Invocation, NeuronEntry, VerifiedNeuron
from myclaw_core.neurons.verified import Quarantined, usable_key, verified
from myclaw_core.paths import Home
from myclaw_core.synthesis.store import find
from myclaw_core.types.text import Text

__all__ = ["Stage", "are_the_same", "provenance"]

_GOAL_CHARS = 80


@frozen(kw_only=True)
class Stage:
    """What one source says of the bytes of a neuron.

    Attributes:
        digest: Of its files; empty where the source does not say it. So too `body_hash`, of its body alone.
        source: Where that comes from, or why it is not known.
        is_broken: Whether what should be there is missing, whatever the digests say.
    """

    stage: Literal["made", "tested", "agreed to", "adopted", "signed", "called", "last run"]
    digest: str = ""
    body_hash: str = ""
    source: Text
    is_broken: bool = False


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
    """Return whether no two stages name different bytes, and none is broken."""
    digests = {each.digest for each in stages if each.digest}
    bodies = {each.body_hash for each in stages if each.body_hash}
    return len(digests) <= 1 and len(bodies) <= 1 and not any(each.is_broken for each in stages)


async def _born(log: EventLog, name: str, trace_id: UUID) -> tuple[Stage, ...]:
    """Return what the turn says in which it was adopted."""
    made = tested = agreed = adopted = None
    events = await log.events(trace_id, ApprovalAsked, ApprovalAnswered, NeuronBorn, StepEnded)
    for head, event in events:
        match event:
            case StepEnded(step=step) if step.tool_name == ADMIT and step.exec_result is not None:
                source = N_("its birth tests, as the trace {trace} says", trace=_short(trace_id))
                tested = Stage(stage="tested", digest=_digest(step.exec_result.data, "tested"), source=source)
            case ApprovalAsked(request=request) if request.draft.action.tool_name == ADMIT:
                made = await _made(log, request.draft.action.args_preview)
                agreed = _agreed(request, [each for _, each in events])
            case NeuronBorn() if event.name == name:
                source = N_("the event {seq}, neuron.born", seq=head.seq)
                adopted = Stage(stage="adopted", digest=event.digest, body_hash=event.body_hash, source=source)
    return tuple(each for each in (made, tested, agreed, adopted) if each is not None)


async def _made(log: EventLog, args: Mapping[str, Any]) -> Stage | None:
    """Return what the synthesis says that it was made for; `None` where a person wrote it."""
    named = args.get("synthesis")
    if not isinstance(named, str):
        return None
    try:
        found = await find(log, UUID(named))
    except (ValueError, CodecError):
        found = None
    if found is None:
        return Stage(stage="made", source=N_("the synthesis {id}, which is not on record any more", id=visible(named)))
    goal = visible(found.request.goal)[:_GOAL_CHARS]
    return Stage(
        stage="made", digest=found.digest, source=N_("the synthesis {id}: {goal}", id=str(found.id), goal=goal)
    )


def _agreed(request: ApprovalRequest, events: Sequence[Event | None]) -> Stage:
    """Return what a question was about, and who said yes to it; what was erased since says nothing against it."""
    said = [each.approval for each in events if isinstance(each, ApprovalAnswered)]
    yes = next((each for each in said if each.request_id == request.id and each.verdict == "granted"), None)
    trace = _short(request.draft.action.trace_id)
    if yes is not None:
        source = N_("the question of the trace {trace}, to which {sender} said yes", trace=trace, sender=yes.decided_by)
    else:
        source = N_("the question of the trace {trace}; no yes to it is on record", trace=trace)
    digest = _digest(request.draft.action.args_preview, "digest")
    return Stage(stage="agreed to", digest=digest, source=source, is_broken=yes is None and None not in events)


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
