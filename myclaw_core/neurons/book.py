"""Keeps the tool shelf in step with the folder of neurons: what is on record, signed and whole can be called."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Mapping, Sequence

from attrs import evolve, frozen

from myclaw_core.clock import Clock
from myclaw_core.errors import MyclawError
from myclaw_core.events.log import EventLog, LogTransaction
from myclaw_core.messages import N_
from myclaw_core.neurons.capabilities import parse_capability
from myclaw_core.neurons.journals import Journals
from myclaw_core.neurons.lock import is_changing
from myclaw_core.neurons.looking import Look, Seen
from myclaw_core.neurons.records import MAX_STRIKES, NEURON_KIND, Doubted, changed, find, standing, vouched
from myclaw_core.neurons.signing import NEURON_KEY
from myclaw_core.neurons.types import Invocation, NeuronEntry, NeuronManifest, NeuronRecord, VerifiedNeuron
from myclaw_core.neurons.verified import Quarantined, neuron_names
from myclaw_core.paths import Home
from myclaw_core.runtime.shelf import ToolShelf
from myclaw_core.runtime.storable import storable_line
from myclaw_core.runtime.tool import EffectSpec, Tool
from myclaw_core.runtime.validation import SchemaRefusedError, compile_schema
from myclaw_core.types.text import Text

__all__ = ["SETTLE_S", "NeuronBook", "neuron_tool", "withdrawn"]

SETTLE_S = 30.0
"""So long a folder must have stayed unfit as it is before it is put aside for good: somebody may still be writing."""

_NEITHER = frozenset({"denied", "refused", "cancelled"})
"""Outcomes that say nothing about the neuron itself."""
_log = logging.getLogger("myclaw.neurons")


@frozen
class _Reason:
    """Why a neuron cannot be called, and whether that puts it aside once it has lasted."""

    text: Text
    lasting: bool = False


@frozen(kw_only=True)
class _Unfit:
    """Since when a folder has been unfit as it is."""

    seen: Seen
    since_s: float


def neuron_tool(neuron: VerifiedNeuron) -> Tool:
    """Return the tool that a verified neuron is."""
    return Tool(
        name=f"neuron:{neuron.name}",
        description=neuron.manifest.purpose,
        schema=neuron.manifest.input_schema,
        effects=(EffectSpec(kind="neuron_invoke", arg="", default=neuron.name),),
        neuron=neuron,
        version=neuron.body_hash,
    )


class NeuronBook:
    """The neurons of one installation (`Neurons`).

    Args:
        shelf: Where those that can be called are put.
        journals: Keep how runs ended.
        programs: The programs that the configuration lets neurons run.
        mends: Whether what is unfit is put aside, neurons and journals; those who only look change nothing.
    """

    def __init__(
        self,
        *,
        log: EventLog,
        clock: Clock,
        home: Home,
        shelf: ToolShelf,
        journals: Journals,
        programs: Collection[str] = (),
        mends: bool = True,
    ) -> None:
        self._log = log
        self._clock = clock
        self._home = home
        self._shelf = shelf
        self._journals = journals
        self._programs = programs
        self._mends = mends
        tidy = journals.tidy if mends else lambda _name: None
        self._look = Look(home.neurons, home.keys / NEURON_KEY, tidy)
        self._lock = asyncio.Lock()
        self._raw: tuple[tuple[str, bytes], ...] | None = None
        self._records: Mapping[str, NeuronRecord | Doubted] = {}
        self._seen: Mapping[str, Seen] = {}
        self._tools: Mapping[str, Tool] = {}
        self._reasons: Mapping[str, _Reason] = {}
        self._unfit: dict[str, _Unfit] = {}

    async def refresh(self) -> None:
        """Look whether anything has changed; only what did is read again, in a thread.

        Where the records cannot be read no neuron can be called, and that is told to the log.
        """
        async with self._lock:
            try:
                await self._refresh()
            except (MyclawError, OSError) as error:
                self._raw, self._seen, self._tools = None, {}, {}
                self._shelf.put_neurons({})
                _log.error("no neuron can be called: %s", error)

    async def ran(self, neuron: VerifiedNeuron, invocation: Invocation, error: Text | None = None) -> None:
        """Note how a run ended: the third strike in a row puts the neuron aside in the transaction that counts it.

        Raises:
            StoreError: The event log cannot be written.
        """
        if await self._count(neuron, invocation, error):
            await self.refresh()
        await self._journals.append(neuron.name, invocation)

    async def entries(self) -> Sequence[NeuronEntry]:
        """Return every neuron on record and every other folder, by name.

        Raises:
            EffectChangedError: The folder of neurons is a link.
        """
        await self.refresh()
        there = set(await asyncio.to_thread(neuron_names, self._home.neurons))
        return [self._entry(name, is_there=name in there) for name in sorted({*there, *self._records})]

    def records(self) -> Sequence[NeuronRecord]:
        """Return what was on record at the last look and is vouched for."""
        return [record for record in self._records.values() if isinstance(record, NeuronRecord)]

    async def _refresh(self) -> None:
        raw = tuple(await self._log.scan(NEURON_KIND))
        is_new = raw != self._raw
        if is_new:
            await self._read(raw)
        wanted = {record.name: record.digest for record in self.records() if record.status == "active"}
        seen: Mapping[str, Seen] = {}
        if wanted:
            seen = await asyncio.to_thread(self._look.at_all, wanted, self._seen, self._now_ns())
        if seen != self._seen or is_new:
            self._shelve(seen)
        if self._mends:
            await self._settle()

    async def _read(self, raw: tuple[tuple[str, bytes], ...]) -> None:
        """Take in the records that are not those of the last look."""
        before = dict(self._raw or ())
        fresh = [(name, each) for name, each in raw if before.get(name) != each]
        kept = {name: self._records[name] for name, each in raw if before.get(name) == each}
        self._records, self._raw = kept | dict(await vouched(self._log, fresh)), raw

    def _shelve(self, seen: Mapping[str, Seen]) -> None:
        """Put on the shelf what can be called."""
        reasons = {name: reason for name, each in seen.items() if (reason := self._why_not(each)) is not None}
        tools = {}
        for name, each in seen.items():
            if name not in reasons and isinstance(each.found, VerifiedNeuron):
                known = self._tools.get(f"neuron:{name}")
                is_same = known is not None and known.neuron is each.found
                tools[f"neuron:{name}"] = known if known and is_same else neuron_tool(each.found)
        for name in reasons.keys() - self._reasons.keys() if self._mends else ():  # whoever only looks is told anyway
            _log.warning("the neuron %s cannot be called: %s", name, reasons[name].text)
        self._seen, self._tools, self._reasons = seen, tools, reasons
        self._shelf.put_neurons(tools)

    def _why_not(self, seen: Seen) -> _Reason | None:
        if isinstance(seen.found, Quarantined):
            return _Reason(seen.found.reason, lasting=seen.at_fault)
        name, manifest = seen.found.name, seen.found.manifest
        if f"neuron_{name}" in self._shelf.fixed:
            return _Reason(N_("a tool of a plugin has the name neuron_{name} too; switch that plugin off", name=name))
        try:
            compile_schema(neuron_tool(seen.found))
        except SchemaRefusedError as error:
            return _Reason(error.text)
        lost = withdrawn(manifest, self._programs)
        return _Reason(lost, lasting=True) if lost else None

    def _entry(self, name: str, *, is_there: bool) -> NeuronEntry:
        record = self._records.get(name)
        if record is None or (isinstance(record, NeuronRecord) and record.status == "removed" and is_there):
            why = N_("not adopted here; 'myclaw neurons adopt' takes it in after your yes")
            return NeuronEntry(name=name, state="not adopted", reason=why)
        if isinstance(record, Doubted):
            return NeuronEntry(name=name, state="not loaded", reason=record.reason)
        if record.status != "active":
            return NeuronEntry(name=name, state=record.status, reason=record.reason, record=record)
        tool = self._tools.get(f"neuron:{name}")
        if tool is None:
            reason = self._reasons[name].text if name in self._reasons else N_("the records cannot be read")
            return NeuronEntry(name=name, state="not loaded", reason=reason, record=record)
        return NeuronEntry(name=name, state="active", record=record, neuron=tool.neuron)

    def _now_ns(self) -> int:
        return int(self._clock.now().timestamp() * 1e9)

    async def _settle(self) -> None:
        """Put aside for good what has stayed unfit as it is."""
        now_s = self._clock.monotonic()
        unfit = {}
        for name, reason in self._reasons.items():
            seen, known = self._seen[name], self._unfit.get(name)
            if reason.lasting:
                is_known = known is not None and known.seen.state == seen.state
                unfit[name] = known if known and is_known else _Unfit(seen=seen, since_s=now_s)
                if now_s - unfit[name].since_s >= SETTLE_S:
                    await self._put_aside(seen, reason.text)
        self._unfit = unfit

    async def _put_aside(self, seen: Seen, reason: Text) -> None:
        name = seen.found.name
        async with self._log.transaction() as tx:
            record = await find(self._log, name, tx)
            if record is None or record.status != "active" or record.digest != seen.wanted:
                return
            if is_changing(self._home.state):
                return  # what lies there is not final
            again = await asyncio.to_thread(self._look.at_all, {name: seen.wanted}, {}, self._now_ns())
            if again[name].at_fault != seen.at_fault:
                return
            aside = standing(record, self._clock.now(), status="quarantined", reason=reason)
            await changed(tx, aside, "quarantined")
        _log.warning("the neuron %s was put aside: %s", name, reason)

    async def _count(self, neuron: VerifiedNeuron, invocation: Invocation, error: Text | None) -> bool:
        """Count a strike, or forget those before a success; return whether the neuron was put aside."""
        if invocation.outcome in _NEITHER:
            return False
        if invocation.outcome == "ok":
            known = await find(self._log, neuron.name)
            if known is None or not known.strikes:
                return False
        async with self._log.transaction() as tx:
            record = await find(self._log, neuron.name, tx)
            if record is None or record.status != "active" or record.digest != neuron.digest:
                return False  # what ran is not what is on record any more
            if invocation.outcome == "ok":
                await changed(tx, evolve(record, strikes=0), "recovered", trace_id=invocation.trace_id)
                return False
            return await self._strike(tx, record, invocation, error)

    async def _strike(
        self, tx: LogTransaction, record: NeuronRecord, invocation: Invocation, error: Text | None
    ) -> bool:
        strikes, trace_id, how = record.strikes + 1, invocation.trace_id, _how(invocation, error)
        if strikes < MAX_STRIKES:
            reason = N_("its run ended with: {outcome}", outcome=how)
            await changed(tx, evolve(record, strikes=strikes), "strike", reason=reason, trace_id=trace_id)
            return False
        why = N_("it failed {n} times in a row; its last run ended with: {outcome}", n=strikes, outcome=how)
        aside = standing(record, self._clock.now(), status="quarantined", reason=why, strikes=strikes)
        await changed(tx, aside, "quarantined", trace_id=trace_id)
        _log.warning("the neuron %s is put aside: %s", record.name, why)
        return True


def _how(invocation: Invocation, error: Text | None) -> Text:
    """Return how a run ended as a line that may be kept."""
    outcome = Text(invocation.outcome)
    return N_("{outcome}: {error}", outcome=outcome, error=storable_line(error)) if error else outcome


def withdrawn(manifest: NeuronManifest, programs: Collection[str]) -> Text | None:
    """Return which capability of a neuron the configuration does not allow (any more), or `None`."""
    for text in manifest.capabilities:
        capability = parse_capability(text)
        if capability.kind == "shell" and capability.pattern not in programs:
            return N_("its capability {capability} is not in [neurons] programs", capability=text)
    return None
