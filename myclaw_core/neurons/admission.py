"""Lets a neuron in after the person's yes: the tool `neuron_admit`, whose call is the gate that nothing bypasses."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from uuid import UUID

from attrs import field, frozen

from myclaw_core.clock import Clock
from myclaw_core.config.sections import RewardSection
from myclaw_core.errors import MyclawError, ToolFailure
from myclaw_core.events.log import EventLog, LogTransaction
from myclaw_core.messages import N_
from myclaw_core.neurons import records
from myclaw_core.neurons.agreed import require_yes
from myclaw_core.neurons.capabilities import CapabilityKind, parse_capability
from myclaw_core.neurons.drafts import DRAFTS, Draft, DraftGoneError, Drafts
from myclaw_core.neurons.lock import changing_neurons
from myclaw_core.neurons.placing import make_ready, require_replaceable
from myclaw_core.neurons.questions import ADMIT, end_outdated
from myclaw_core.neurons.settling import settle
from myclaw_core.neurons.signing import NEURON_KEY, neuron_key, sign
from myclaw_core.neurons.types import NeuronManifest, NeuronRecord, VerifiedNeuron
from myclaw_core.neurons.verified import verify_folders
from myclaw_core.paths import Home
from myclaw_core.runtime.finishing import finished
from myclaw_core.runtime.tool import EffectSpec, Tool, ToolContext
from myclaw_core.runtime.types import ToolResult
from myclaw_core.trust.orders import birth_order
from myclaw_core.types.text import Text

if TYPE_CHECKING:
    from myclaw_core.config import Config
    from myclaw_core.dispatch import Dispatcher
    from myclaw_core.neurons.checking import Analyze
    from myclaw_core.neurons.dossier import Surroundings

__all__ = ["Admission", "covers_new"]

_NO_EFFECT = frozenset[CapabilityKind]({"clock", "random", "llm"})

_TEXT = {"type": "string"}
_SCHEMA = {
    "type": "object",
    "properties": {"name": _TEXT, "version": _TEXT, "digest": _TEXT, "replaces": _TEXT, "synthesis": _TEXT},
    "required": ["name", "version", "digest"],
    "additionalProperties": False,
}


@frozen(kw_only=True)
class Admission:
    """The last stages of the way in (synthesis.md, stages 6 and 7).

    Attributes:
        analyze: Asks the plugins about the code, as in stage 4.
        programs: The programs that the configuration lets neurons run.
        gate: What R of a draft that a model wrote must reach.
    """

    home: Home
    log: EventLog
    clock: Clock
    analyze: Analyze
    programs: Collection[str] = ()
    gate: float = RewardSection().gate
    _one_at_a_time: asyncio.Lock = field(factory=asyncio.Lock, init=False, eq=False)

    @classmethod
    def configured(cls, home: Home, log: EventLog, clock: Clock, dispatcher: Dispatcher, config: Config) -> Admission:
        """Return it as the configuration and the plugins that are on make it."""
        programs = config.neurons.programs
        gate = config.reward.gate
        return cls(home=home, log=log, clock=clock, analyze=dispatcher.analyze, programs=programs, gate=gate)

    @property
    def drafts(self) -> Drafts:
        """Return what can be admitted."""
        return Drafts(self.home.state / DRAFTS)

    def tool(self) -> Tool:
        """Return the tool; law.2 has each call of it asked at every level."""
        return Tool(
            name=ADMIT,
            description="Admit a drafted neuron: sign it and put it in place. Only the core calls it.",
            schema=_SCHEMA,
            effects=(EffectSpec(kind="neuron_spawn", arg="name"),),
            run=self._run,
            details=self._details,
            internal=True,
        )

    def around(self, manifest: NeuronManifest, replaces: str = "") -> Surroundings:
        """Return what a draft is compared with, from the folders that verify.

        Args:
            replaces: The digest of the version that is adopted; empty where none is.
        """
        from myclaw_core.neurons.dossier import Surroundings, rights_of

        known, before = set[str](), None
        for each in verify_folders(self.home.neurons, self.home.keys / NEURON_KEY):
            if isinstance(each, VerifiedNeuron):
                known.update(rights_of(each.manifest))
                if each.name == manifest.name and each.digest == replaces:
                    before = each
        return Surroundings(before=before, known=known, gate=self.gate)

    def _details(self, args: Mapping[str, Any]) -> str:
        from myclaw_core.neurons.dossier import dossier

        try:
            draft = self._draft(args)
            return dossier(draft, self.around(draft.manifest, args.get("replaces", "")))
        except ToolFailure:
            raise
        except MyclawError as error:
            raise ToolFailure(error.text) from error

    def _draft(self, args: Mapping[str, Any]) -> Draft:
        """Return the draft that is meant, if it could be admitted.

        Raises:
            ToolFailure: It is gone or changed, has another name or version, or its tests are not all green.
        """
        try:
            draft = self.drafts.read(args["digest"])
        except DraftGoneError as error:
            raise ToolFailure(error.text) from error
        if draft.manifest.name != args["name"]:
            raise ToolFailure(N_("the draft is of another neuron, {name}", name=draft.manifest.name))
        if draft.manifest.version != args["version"]:
            raise ToolFailure(N_("the draft is of another version, {version}", version=draft.manifest.version))
        if not draft.tested.report.ok:
            raise ToolFailure(N_("the tests of the draft of {name} are not all green", name=draft.manifest.name))
        return draft

    async def _run(self, args: Mapping[str, Any], context: ToolContext) -> ToolResult:
        draft = self._draft(args)
        await asyncio.to_thread(self._require_clean, draft)
        return await finished(self._admit(draft, args, context.trace_id))

    async def _admit(self, draft: Draft, args: Mapping[str, Any], trace_id: UUID | None) -> ToolResult:
        name, version = draft.manifest.name, draft.manifest.version
        async with self._one_at_a_time, changing_neurons(self.home.state, self.clock):
            await require_yes(self.log, trace_id, args)
            try:
                await asyncio.to_thread(self._make_ready, draft)
                await self._record(draft, args.get("replaces", ""), trace_id)
            except BaseException:
                with suppress(OSError, MyclawError):  # the next start does it
                    await settle(self.home, self.log, name)
                raise
            await self._put_in_place(name)
        self.drafts.drop(draft.digest)
        return ToolResult(
            text=f"adopted {name} {version}", data={"name": name, "digest": draft.digest, "tested": draft.tested.digest}
        )

    def _require_clean(self, draft: Draft) -> None:
        """Analyse it again: a plugin may have learned since what is wrong with it."""
        from myclaw_core.neurons.checking import check_neuron

        found = check_neuron(draft.files, draft.manifest.name, self.analyze, programs=self.programs)
        if found:
            raise ToolFailure(found[0].told)

    def _make_ready(self, draft: Draft) -> None:
        name, key = draft.manifest.name, neuron_key(self.home.keys)
        require_replaceable(self.home.neurons, name, draft.files, key)
        try:
            make_ready(self.home.neurons, name, draft.files, sign(draft.files, key))
        except OSError as error:
            reason = error.strerror or str(error)
            raise ToolFailure(
                N_(
                    "{path} cannot be written: {reason}; nothing was adopted",
                    path=str(self.home.neurons),
                    reason=reason,
                )
            ) from error

    async def _record(self, draft: Draft, replaces: str, trace_id: UUID | None) -> None:
        """Book it as the version that may run, with its birth, in one transaction: that is the moment it is in."""
        record = _record_of(draft, trace_id, self.clock.now())
        order = birth_order(self.clock.new_id(), record.name, record.reward, body=record.body_hash, sender="core")
        async with self.log.transaction() as tx:
            await self._require_same_base(tx, record.name, replaces)
            await records.born(tx, record)
            await tx.append(order)
            await end_outdated(tx, record.name, record.digest)

    async def _require_same_base(self, tx: LogTransaction, name: str, replaces: str) -> None:
        """Check that what the person saw replaced is what is replaced."""
        if records.digest_on_record(await records.find(self.log, name, tx)) != replaces:
            raise ToolFailure(
                N_("another version of {name} was adopted since this was asked; adopt the folder again", name=name)
            )

    async def _put_in_place(self, name: str) -> None:
        try:
            if await settle(self.home, self.log, name):
                return
            reason = N_("what was made ready is gone")
        except OSError as error:
            reason = Text(error.strerror or str(error))
        raise ToolFailure(
            N_(
                "{name} is on record as adopted, but could not be put in place ({reason}); the next start does that",
                name=name,
                reason=reason,
            )
        )


def covers_new(manifest: NeuronManifest, others: Collection[str]) -> bool:
    """Return whether a neuron does a kind of thing that none of the others does (`rights_of` each)."""
    from myclaw_core.neurons.dossier import rights_of

    return bool(_kinds(rights_of(manifest)) - _kinds(others))


def _kinds(rights: Iterable[str]) -> set[CapabilityKind]:
    return {parse_capability(right).kind for right in rights} - _NO_EFFECT


def _record_of(draft: Draft, trace_id: UUID | None, now: datetime) -> NeuronRecord:
    return NeuronRecord(
        name=draft.manifest.name,
        version=draft.manifest.version,
        digest=draft.digest,
        body_hash=sha256(draft.files["body.py"]).hexdigest(),
        status="active",
        at=now,
        born_at=now,
        reward=draft.tested.reward.total,
        origin=draft.manifest.origin,
        trace_id=trace_id,
    )
