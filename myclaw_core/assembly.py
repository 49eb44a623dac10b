"""Wires the parts of an agent to each other; what the parts do is their own business."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path

from attrs import evolve, frozen

from myclaw_core.approval.gateway import Gateway
from myclaw_core.approval.grants import GrantBook
from myclaw_core.approval.vouched import vouched_grants
from myclaw_core.budget.ledger import Ledger
from myclaw_core.clock import Clock
from myclaw_core.compose import embedding_book, trust_book
from myclaw_core.config import Config
from myclaw_core.config.guard import ConfigGuard
from myclaw_core.dispatch import Dispatcher
from myclaw_core.door import Door, standing_roots, thresholds_of
from myclaw_core.embedding.book import EmbeddingBook
from myclaw_core.errors import StoreError, UnavailableError
from myclaw_core.events.check import RecordCheck
from myclaw_core.events.log import EventLog
from myclaw_core.messages import N_
from myclaw_core.net.access import Lookup, PinnedNetwork
from myclaw_core.neurons.admission import Admission
from myclaw_core.neurons.book import NeuronBook
from myclaw_core.neurons.journals import Journals
from myclaw_core.outbox.outbox import Outbox
from myclaw_core.outbox.undo import OutboxUndo
from myclaw_core.paths import Home
from myclaw_core.policy.forbidden import ForbiddenPlaces
from myclaw_core.policy.grants import RunGrants, first_of, while_sound
from myclaw_core.policy.levels import Levels
from myclaw_core.policy.never import NEVER_KIND, NeverList
from myclaw_core.policy.own import own_places
from myclaw_core.policy.rates import RateBook
from myclaw_core.redact import contains_secret
from myclaw_core.runtime.ctx_tools import ctx_tools
from myclaw_core.runtime.failover import model_choices
from myclaw_core.runtime.output import OutputKeeper
from myclaw_core.runtime.services import Services
from myclaw_core.runtime.shelf import ToolShelf
from myclaw_core.runtime.shells import Shells
from myclaw_core.runtime.tool import Tool
from myclaw_core.runtime.types import ExecutionTrace
from myclaw_core.runtime.validation import ArgumentValidator
from myclaw_core.sandbox.enclosure import Enclosure, mounts_beneath
from myclaw_core.sandbox.sandbox import NoSandbox, Sandbox
from myclaw_core.synthesis.direction import Direction
from myclaw_core.trust.book import TrustBook
from myclaw_core.trust.costs import UsualCosts
from myclaw_core.trust.outlook import outlook
from myclaw_core.trust.report import record_line
from myclaw_core.trust.signals import extract
from myclaw_core.trust.thresholds import Thresholds
from myclaw_core.trust.types import TraceSignals
from myclaw_core.types.text import Text
from myclaw_core.types.trust import TrustSubject
from myclaw_core.undo.blobs import BlobStore
from myclaw_core.undo.journal import UndoJournal
from myclaw_core.undo.registry import UndoRegistry
from myclaw_core.undo.room import RoomMaker
from myclaw_core.undo.sweep import UndoSweeper

__all__ = ["Assembly"]

RECORD_ROOM_BYTES = 1 << 20
"""Free bytes without which nothing is done: an action must not run that could not be recorded (law.3)."""


@frozen(kw_only=True)
class Assembly:
    """Makes the parts of one agent from its configuration.

    Attributes:
        log: The event log; it must be open before `services` is called.
        lookup: Finds the addresses of hosts.
    """

    home: Home
    clock: Clock
    config: Config
    dispatcher: Dispatcher
    log: EventLog
    lookup: Lookup

    def book(self) -> TrustBook:
        """Return the trust book, not yet opened."""
        return trust_book(self.home, self.dispatcher, self.config, self.clock, thresholds=self._thresholds)

    async def services(self, book: TrustBook, record_check: RecordCheck) -> Services:
        """Return what turns work with; a record that cannot be read is told to `record_check`."""
        door = Door.of(
            home=self.home,
            clock=self.clock,
            config=self.config,
            dispatcher=self.dispatcher,
            thresholds=self._thresholds,
        )
        await self.usual_costs.refresh()
        admit = Admission.configured(self.home, self.log, self.clock, self.dispatcher, self.config).tool()
        design = Direction(log=self.log, clock=self.clock).tool()
        own = {tool.name: tool for tool in (admit, design, *ctx_tools())}
        tools, places = ToolShelf({**door.tools, **own}), door.places
        door = evolve(door, tools=tools)
        sandbox = self._sandbox()
        providers = self.dispatcher.models()
        enclosure = self._enclosure(places)
        ledger = Ledger.configured(self.log, self.clock, self.config.budget)
        rates = RateBook(door.limits)
        journal = await self._journal(enclosure)
        run_grants, grants, never = RunGrants(), await self._grants(), await self._never(record_check)
        policy = door.policy(
            promotion=door.promotion(book, lambda: record_check.problem),
            probation=door.probation(book, lambda: record_check.problem),
            budget=ledger,
            rates=rates,
            never=never,
            recordable=self._why_unrecordable,
            grants=first_of(run_grants, while_sound(grants, lambda: record_check.problem)),
        )
        outbox = self._outbox(tools)
        return Services(
            clock=self.clock,
            config=self.config,
            log=self.log,
            ledger=ledger,
            gateway=self._gateway(grants, never),
            rates=rates,
            policy=policy,
            levels=Levels(self.log, self.clock, self.config.agent.level),
            standing_roots=standing_roots(self.home, self.config),
            grants=run_grants,
            tools=tools,
            validator=ArgumentValidator(tools),
            provider=providers.get(self.config.agent.provider),
            journal=journal,
            undo=UndoRegistry.of(
                journal, self.clock, core=(OutboxUndo(outbox),), offered=self.dispatcher.undo_handlers()
            ),
            config_guard=self._config_guard(),
            outputs=OutputKeeper(self.home.outputs, self.config.limits.output_bytes),
            forbidden=lambda real: places.path(real) is not None,
            forbidden_host=lambda host: places.host(host) is not None,
            shells=Shells(sandbox, enclosure),
            sandbox=sandbox,
            neurons=self.neurons(tools),
            outbox=outbox,
            network=lambda effects: PinnedNetwork(effects=effects, forbidden=places.address, lookup=self.lookup),
            signals=self._signals,
            record_of=lambda subject: self._record_line(book, subject),
            outlook=lambda action: outlook(action, book, self._thresholds, self.clock),
            plugins=self.dispatcher.plugins.active,
            failover=model_choices(self.config.agent.failover, providers),
            local=model_choices(self.config.agent.local, providers),
        )

    def neurons(self, shelf: ToolShelf, *, mends: bool = True) -> NeuronBook:
        """Return what keeps the neurons among `shelf` in step with their folder, not yet looked at."""
        return NeuronBook(
            log=self.log,
            clock=self.clock,
            home=self.home,
            shelf=shelf,
            journals=self.journals(),
            programs=self.config.neurons.programs,
            mends=mends,
        )

    def journals(self) -> Journals:
        """Return the journals of the neurons; without a plugin that keeps them their runs are not noted there."""
        try:
            store = self.dispatcher.store("journals", self.config.slots.journals)
        except UnavailableError as error:
            return Journals(error.text, self.home, self.clock)
        return Journals(store, self.home, self.clock)

    def embedding(self) -> EmbeddingBook:
        """Return what tells how alike texts are."""
        return embedding_book(self.dispatcher, self.config, self.clock)

    def _outbox(self, tools: Mapping[str, Tool]) -> Outbox:
        outbox = self.config.outbox
        return Outbox(self.log, self.clock, tools, hold_s=outbox.hold_s, max_held=outbox.max_held)

    async def _never(self, record_check: RecordCheck) -> NeverList:
        never = NeverList()
        try:
            never.load(await self.log.scan(NEVER_KIND))
        except StoreError as error:
            record_check.damaged(N_("the never-list cannot be read: {problem}", problem=error.text))
        self.log.subscribe(never.on_event)
        return never

    async def _grants(self) -> GrantBook:
        """Return what is granted beforehand; the newest event says how late it was already."""
        grants = GrantBook(self.clock)
        grants.load(await vouched_grants(self.log))
        newest = await self.log.last()
        if newest is not None:
            grants.time.saw(datetime.fromisoformat(newest.at))
        self.log.subscribe(grants.on_event)
        return grants

    @cached_property
    def usual_costs(self) -> UsualCosts:
        """Return what actions usually cost, not yet read."""
        return UsualCosts(self.log)

    @cached_property
    def _thresholds(self) -> Thresholds:
        return thresholds_of(self.home, self.dispatcher)

    def _config_guard(self) -> ConfigGuard:
        dispatcher = self.dispatcher
        return ConfigGuard(file=self.home.config_file, schemas=dispatcher.config(), idle=dispatcher.plugins.idle)

    def _gateway(self, grants: GrantBook, never: NeverList) -> Gateway:
        approval = self.config.approval
        return Gateway(
            self.log,
            self.clock,
            grants=grants,
            never=never,
            reading_pause_s=approval.reading_pause_s,
            expires_s=approval.expires_s,
            tutor_every=approval.tutor_every,
            defer_days=approval.defer_days,
        )

    async def _journal(self, enclosure: Enclosure) -> UndoJournal:
        """Return the undo journal; the newest event says how late it was already."""
        limits = self.config.limits
        make_room = RoomMaker(UndoSweeper.of(self.log, self.home, self.clock, self.config).sweep, self.clock)
        blobs = BlobStore(self.home.undo, limits.undo_cap_bytes, self.clock, make_room=make_room)
        journal = UndoJournal(blobs, self.clock, limits.undo_days, masked=contains_secret, closed=enclosure.closed)
        newest = await self.log.last()
        if newest is not None:
            journal.time.saw(datetime.fromisoformat(newest.at))
        return journal

    def _enclosure(self, places: ForbiddenPlaces) -> Enclosure:
        own = own_places(self.home, str(Path.home()))
        return Enclosure(forbidden=places.under, own=own.under, mounts=mounts_beneath)

    def _sandbox(self) -> Sandbox:
        """Return the sandbox; without one commands are refused and everything else works."""
        try:
            return self.dispatcher.sandbox(self.config.slots.sandbox)
        except UnavailableError as error:
            return NoSandbox(error.text)

    def _signals(self, trace: ExecutionTrace) -> Sequence[TraceSignals]:
        return extract(trace, self.dispatcher.signals, self.usual_costs.context)

    def _record_line(self, book: TrustBook, subject: TrustSubject) -> str:
        now = self.clock.now()
        return record_line(subject, book.view(subject, now), now)

    def _why_unrecordable(self) -> Text | None:
        """Return why the record could not be written now, or `None`."""
        folder = self.home.state
        try:
            room = os.statvfs(folder)
        except OSError as error:
            return N_("{folder} cannot be reached: {reason}", folder=str(folder), reason=str(error.strerror))
        if room.f_bavail * room.f_frsize < RECORD_ROOM_BYTES:
            return N_("no room is left in {folder} for the record; free some space", folder=str(folder))
        return None
