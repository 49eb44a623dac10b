"""What the person orders about a neuron: to be switched off, to run again after it was put aside, to go."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection
from pathlib import Path
from uuid import UUID

from attrs import frozen

from myclaw_core.clock import Clock
from myclaw_core.errors import UnavailableError, UsageError
from myclaw_core.events.log import EventLog, LogTransaction
from myclaw_core.files.resolve import display_path
from myclaw_core.messages import N_
from myclaw_core.neurons.book import withdrawn
from myclaw_core.neurons.checking import Analyze, check_neuron
from myclaw_core.neurons.lock import changing_neurons
from myclaw_core.neurons.placing import archived_as
from myclaw_core.neurons.questions import end_outdated
from myclaw_core.neurons.records import changed, digest_on_record, find, standing
from myclaw_core.neurons.signing import NEURON_KEY
from myclaw_core.neurons.types import NeuronRecord, VerifiedNeuron
from myclaw_core.neurons.verified import Quarantined, neuron_names, usable_key, verified
from myclaw_core.paths import Home
from myclaw_core.types.text import Text

__all__ = ["NeuronOrders", "Removed"]


@frozen(kw_only=True)
class Removed:
    """What was done to remove a neuron.

    Attributes:
        kept: Where its folder is now; `None` where there was none.
        ended: How many questions ended that were asked about replacing it.
    """

    kept: Path | None
    ended: int = 0


@frozen(kw_only=True)
class NeuronOrders:
    """Records orders; whoever keeps the shelf refreshes it afterwards.

    Attributes:
        analyze: Asks the plugins about the code.
        programs: The programs that the configuration lets neurons run.
    """

    log: EventLog
    clock: Clock
    home: Home
    analyze: Analyze
    programs: Collection[str]

    async def disable(self, name: str, sender: str) -> NeuronRecord:
        """Let a neuron not be called until it is rehabilitated.

        Raises:
            UsageError: It does not run anyway.
            StoreError: It cannot be recorded.
        """
        async with self.log.transaction() as tx:
            record = await self._on_record(name, tx)
            if record.status != "active":
                raise UsageError(N_("the neuron {name} does not run: {reason}", name=name, reason=_why(record)))
            off = standing(record, self.clock.now(), status="disabled", reason=N_("you switched it off"))
            return await changed(tx, off, "disabled", sender=sender)

    async def fit(self, name: str) -> tuple[NeuronRecord, VerifiedNeuron]:
        """Return a neuron that was put aside and could run again: it is verified and analysed anew.

        Raises:
            UsageError: It runs, was removed, or its files are not in order; the line says what to do.
        """
        record = await self._on_record(name)
        neuron = await asyncio.to_thread(self._verified, record)
        found = await asyncio.to_thread(check_neuron, neuron.files, name, self.analyze, programs=self.programs)
        if found:
            raise UsageError(found[0].told)
        if lost := withdrawn(neuron.manifest, self.programs):
            raise UsageError(lost)
        return record, neuron

    async def rehabilitate(self, tx: LogTransaction, seen: NeuronRecord, sender: str, trace_id: UUID) -> NeuronRecord:
        """Let it run again, in the transaction that uses up the person's consent.

        Args:
            seen: What was on record when they were asked.

        Raises:
            UsageError: It is not what they were asked about any more.
        """
        record = await self._on_record(seen.name, tx)
        if record != seen:
            raise UsageError(
                N_("the neuron {name} has changed since you were asked; give the command again", name=seen.name)
            )
        await asyncio.to_thread(self._verified, record)
        on = standing(record, self.clock.now(), status="active")
        return await changed(tx, on, "rehabilitated", sender=sender, trace_id=trace_id)

    async def remove(self, name: str, sender: str) -> Removed:
        """Move the folder of a neuron, or whatever lies there, into the archive.

        Raises:
            UsageError: There is nothing of that name.
            UnavailableError: It cannot be moved; nothing was changed.
        """
        async with changing_neurons(self.home.state, self.clock), self.log.transaction() as tx:
            record = await find(self.log, name, tx)
            is_known = record is not None and record.status != "removed"
            kept = None
            if name in await asyncio.to_thread(neuron_names, self.home.neurons):
                kept = archived_as(self.home, self.clock, name)
            elif not is_known:
                raise UsageError(_unknown(name))
            ended = 0
            if record is not None and is_known:
                gone = standing(record, self.clock.now(), status="removed", reason=_removed(kept))
                await changed(tx, gone, "removed", sender=sender)
                ended = await end_outdated(tx, name, digest_on_record(gone))
            if kept is not None:
                await asyncio.to_thread(_move, self.home.neurons / name, kept)
        return Removed(kept=kept, ended=ended)

    def _verified(self, record: NeuronRecord) -> VerifiedNeuron:
        if record.status == "removed":
            raise UsageError(N_("the neuron {name} was removed; adopt it anew", name=record.name))
        key = usable_key(self.home.keys / NEURON_KEY)
        if isinstance(key, Text):
            raise UsageError(key)
        found = verified(self.home.neurons / record.name, key, digest=record.digest)
        if isinstance(found, Quarantined):
            raise UsageError(
                N_(
                    "{name} cannot run again as it is: {reason}; put the approved files back, or adopt these anew",
                    name=record.name,
                    reason=found.reason,
                )
            )
        if record.status == "active":
            raise UsageError(N_("the neuron {name} was not put aside", name=record.name))
        return found

    async def _on_record(self, name: str, tx: LogTransaction | None = None) -> NeuronRecord:
        record = await find(self.log, name, tx)
        if record is None:
            raise UsageError(_unknown(name))
        return record


def _move(source: Path, target: Path) -> None:
    try:
        target.parent.mkdir(mode=0o700, exist_ok=True)
        os.rename(source, target)  # noqa: PTH104 - a link is moved, not what it points at
    except OSError as error:
        raise UnavailableError(
            N_(
                "{path} cannot be moved to {folder}: {reason}; nothing was changed",
                path=display_path(str(source)),
                folder=display_path(str(target.parent)),
                reason=error.strerror or str(error),
            )
        ) from error


def _removed(kept: Path | None) -> Text:
    if kept is None:
        return N_("you removed it; its folder was gone already")
    return N_("you removed it; what it was is kept in {path}", path=display_path(str(kept)))


def _why(record: NeuronRecord) -> Text:
    return record.reason if record.reason.msgid else Text(record.status)


def _unknown(name: str) -> Text:
    return N_("no neuron {name} is on record; 'myclaw neurons list' shows what there is", name=name)
