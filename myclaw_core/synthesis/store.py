"""Keeps how each synthesis stands: a record in the core database, written together with the event that tells of it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from attrs import evolve

from myclaw_core import codec
from myclaw_core.clock import Clock
from myclaw_core.errors import CodecError, UsageError
from myclaw_core.events.log import EventLog, LogTransaction
from myclaw_core.events.types import SynthesisAdvanced, SynthesisEnded, SynthesisRequested
from myclaw_core.messages import N_
from myclaw_core.synthesis.types import InternalProposal, Stage, Synthesis, SynthesisRequest
from myclaw_core.types.text import Text

__all__ = ["SYNTHESIS_KIND", "advance", "find", "matching", "name_of", "request", "request_in", "standing"]

SYNTHESIS_KIND = "synthesis"
"""Kind of the records in the core database, each under the id of its request."""

_KEPT = timedelta(days=30)
_MOST_ENDED = 100
_MOST_TEXT_CHARS = 2_000

_log = logging.getLogger("myclaw.synthesis")


async def request(
    log: EventLog,
    clock: Clock,
    wanted: SynthesisRequest,
    sender: str,
    *,
    proposal: InternalProposal | None = None,
    stage: Stage = "spec",
) -> Synthesis:
    """Record that a neuron is wanted (stage 1), and return how it stands.

    Args:
        sender: For whom it is designed.
        proposal: The pattern it comes from, where nobody asked for it.
        stage: `direction` where the person has not said yet that it may begin.

    Raises:
        StoreError: It cannot be recorded.
    """
    async with log.transaction() as tx:
        return await request_in(tx, clock, wanted, sender, proposal=proposal, stage=stage)


async def request_in(
    tx: LogTransaction,
    clock: Clock,
    wanted: SynthesisRequest,
    sender: str,
    *,
    proposal: InternalProposal | None = None,
    stage: Stage = "spec",
) -> Synthesis:
    """Do the same in a transaction of the caller's."""
    wanted = evolve(wanted, goal=_bounded(wanted.goal))
    now = clock.now()
    begun = Synthesis(id=clock.new_id(), request=wanted, sender=sender, stage=stage, at=now, proposal=proposal)
    await _prune(tx, now)
    await tx.put(SYNTHESIS_KIND, str(begun.id), codec.dumps(begun))
    await tx.append(SynthesisRequested(request_id=begun.id, request=wanted, sender=sender, proposal=proposal))
    return begun


async def advance(tx: LogTransaction, moved: Synthesis, note: Text, trace_id: UUID | None = None) -> None:
    """Record where a synthesis stands from now on.

    Args:
        note: What became of the stage before, one line.
        trace_id: The run in which it came there.
    """
    await tx.put(SYNTHESIS_KIND, str(moved.id), codec.dumps(moved))
    await tx.append(
        SynthesisAdvanced(
            request_id=moved.id,
            stage=moved.stage,
            note=note,
            retries=moved.retries,
            cost_eur=moved.cost_eur,
            digest=moved.digest,
            trace_id=trace_id,
        )
    )
    if moved.result is not None:
        await tx.append(SynthesisEnded(result=moved.result, trace_id=trace_id))


async def find(log: EventLog, request_id: UUID, tx: LogTransaction | None = None) -> Synthesis | None:
    """Return how a synthesis stands, `None` where there is none.

    Raises:
        CodecError: Its record cannot be read.
        StoreError: The log cannot be read.
    """
    raw = await (tx or log).get(SYNTHESIS_KIND, str(request_id))
    return None if raw is None else codec.loads(Synthesis, raw, N_("synthesis {id}", id=str(request_id)))


async def standing(log: EventLog) -> Sequence[Synthesis]:
    """Return every one on record, the newest first; a record that cannot be read is told in the log and left out.

    Raises:
        StoreError: The log cannot be read.
    """
    return sorted(_readable(await log.scan(SYNTHESIS_KIND)), key=lambda each: (each.at, str(each.id)), reverse=True)


async def matching(log: EventLog, named: str) -> Synthesis:
    """Return the one that is meant: by its id, the beginning or the end of that, or the name of what it designs.

    Raises:
        UsageError: None is, or several are.
        StoreError: The log cannot be read.
    """
    every = await standing(log)
    wanted = named.strip().lower()
    by_id = [each for each in every if wanted and (str(each.id).startswith(wanted) or str(each.id).endswith(wanted))]
    by_name = [each for each in every if wanted and name_of(each) == wanted]
    found = by_id or by_name[:1]
    if not found:
        raise UsageError(N_("there is no proposal {named}; 'myclaw neurons proposals' lists them", named=named[:80]))
    if len(found) > 1:
        raise UsageError(N_("{named} is the beginning of several proposals; type more of it", named=named[:80]))
    return found[0]


def name_of(each: Synthesis) -> str:
    """Return the name of the neuron that is designed; empty before its spec is there."""
    return each.spec.proposed_name if each.spec else ""


async def _prune(tx: LogTransaction, now: datetime) -> None:
    """Let go of those that ended long ago, or of which there are too many; the event log still tells of them."""
    ended = [each for each in _readable(await tx.scan(SYNTHESIS_KIND)) if each.stage == "ended"]
    ended.sort(key=lambda each: each.at, reverse=True)
    for number, each in enumerate(ended):
        if number >= _MOST_ENDED or now - each.at > _KEPT:
            await tx.delete(SYNTHESIS_KIND, str(each.id))


def _readable(records: Sequence[tuple[str, bytes]]) -> list[Synthesis]:
    found = []
    for key, raw in records:
        try:
            found.append(codec.loads(Synthesis, raw, N_("synthesis {id}", id=key)))
        except CodecError as error:
            _log.warning("%s; it is left out", error)
    return found


def _bounded(text: str) -> str:
    return " ".join(text.split())[:_MOST_TEXT_CHARS]
