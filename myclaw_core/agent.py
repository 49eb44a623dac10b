"""The agent put together: stores opened, crashes cleared up, tools and policy wired, turns run."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from attrs import evolve, field, frozen

from myclaw_core.approval.vouched import missing_never
from myclaw_core.assembly import Assembly
from myclaw_core.clock import Clock, SystemClock
from myclaw_core.compose import configured_dispatcher, load_plugins, open_log
from myclaw_core.config.load import nearest
from myclaw_core.dispatch import Dispatcher
from myclaw_core.door import standing_roots
from myclaw_core.embedding.book import EmbeddingBook
from myclaw_core.errors import ConfigError, MyclawError, UnavailableError
from myclaw_core.events.check import RecordCheck
from myclaw_core.events.export import AuditExport
from myclaw_core.events.keys import load_or_create_key
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import PluginFault
from myclaw_core.messages import N_
from myclaw_core.net.access import Lookup, system_lookup
from myclaw_core.neurons.admission import Admission
from myclaw_core.neurons.orders import NeuronOrders
from myclaw_core.neurons.records import misplaced
from myclaw_core.neurons.settling import settle_all
from myclaw_core.outbox.types import OutboxMessage
from myclaw_core.outbox.words import told
from myclaw_core.paths import Home
from myclaw_core.plugins import PluginSet
from myclaw_core.policy.rates import RATE_KIND
from myclaw_core.runtime.channel import Channel
from myclaw_core.runtime.failover import provider_names
from myclaw_core.runtime.interrupted import note_what_is_left
from myclaw_core.runtime.recovery import recover
from myclaw_core.runtime.services import Services
from myclaw_core.runtime.single_call import SingleCall
from myclaw_core.runtime.turn import TurnRunner
from myclaw_core.runtime.types import ExecutionTrace, Message, Turn
from myclaw_core.runtime.undoing import UndoLine, undo_trace
from myclaw_core.synthesis.author import Author
from myclaw_core.trust.book import TrustBook
from myclaw_core.trust.costs import UsualCosts
from myclaw_core.trust.follower import TrustFollower
from myclaw_core.types.text import Text

__all__ = ["Agent"]

_log = logging.getLogger("myclaw")

_NOT_ON = {
    "off": N_("the plugin {plugin} is off: {why}"),
    "new": N_("the plugin {plugin} is new: {why}"),
    "failed": N_("the plugin {plugin} has failed: {why}"),
    "missing": N_("the plugin {plugin} is missing: {why}"),
}


@frozen(kw_only=True)
class Agent:
    """An opened agent; use it as `async with Agent.open(home) as agent`.

    Attributes:
        notices: What a person should know about the start: recovered turns, a record that is not whole.
        unsent: Messages that an earlier run left in the outbox and that were given up; `notices` tells of them.
        open_embedding: Opens what `embedding` gives.
    """

    home: Home
    clock: Clock
    services: Services
    log: EventLog
    book: TrustBook
    dispatcher: Dispatcher
    plugins: PluginSet
    channels: Mapping[str, Channel]
    follower: TrustFollower
    usual_costs: UsualCosts
    record_check: RecordCheck
    export: AuditExport
    faults: list[PluginFault]
    open_embedding: Callable[[], EmbeddingBook]
    notices: list[Text] = field(factory=list)
    unsent: list[OutboxMessage] = field(factory=list)
    _embedding: list[EmbeddingBook] = field(factory=list, init=False)

    @staticmethod
    @asynccontextmanager
    async def open(
        home: Home,
        *,
        clock: Clock | None = None,
        plugins: PluginSet | None = None,
        lookup: Lookup = system_lookup,
        recover_turns: bool = True,
        on_broken: Callable[[ConfigError], None] | None = None,
    ) -> AsyncIterator[Agent]:
        """Open everything below `home` and close it at the end.

        Args:
            clock: Time; the system's by default.
            plugins: What to run with; what is installed by default.
            lookup: Finds the addresses of hosts that tools reach; the system's by default.
            recover_turns: Whether turns of dead processes are closed first; commands that only look leave them alone.
            on_broken: Is told why the configuration does not load; the defaults are taken then. For commands that must
                work whatever a person wrote there: looking and undoing.

        Raises:
            MyclawError: Something is missing or damaged; one line says what to do.
        """
        faults: list[PluginFault] = []
        clock = clock or SystemClock()
        plugins = plugins or load_plugins(home, lenient=on_broken is not None)
        dispatcher, config = configured_dispatcher(home, plugins, clock, faults.append, on_broken=on_broken)
        async with AsyncExitStack() as stack:
            log = await stack.enter_async_context(open_log(home, dispatcher, config, clock))
            assembly = Assembly(home=home, clock=clock, config=config, dispatcher=dispatcher, log=log, lookup=lookup)
            book = assembly.book()
            stack.push_async_callback(book.close)
            await book.open()
            record_check = RecordCheck(log, further=(missing_never, misplaced, lambda _log: book.checked()))
            agent = Agent(
                home=home,
                clock=clock,
                services=await assembly.services(book, record_check),
                log=log,
                book=book,
                dispatcher=dispatcher,
                plugins=dispatcher.plugins,
                channels=dispatcher.channels(),
                follower=TrustFollower(log, book),
                usual_costs=assembly.usual_costs,
                record_check=record_check,
                export=AuditExport(log, home.audit, load_or_create_key(home.keys / "events.key"), clock),
                faults=faults,
                open_embedding=assembly.embedding,
            )
            stack.push_async_callback(agent.stop)
            await agent.start(recover_turns=recover_turns)
            yield agent

    @property
    def standing_roots(self) -> tuple[str, ...]:
        """Return the folders that are open in every run: the workspace and `[policy] roots`."""
        return standing_roots(self.home, self.services.config)

    @property
    def embedding(self) -> EmbeddingBook:
        """Return what tells how alike texts are; most runs never ask, so it is opened when it is first wanted."""
        if not self._embedding:
            self._embedding.append(self.open_embedding())
        return self._embedding[0]

    def author(self) -> Author:
        """Return what words the prompts for the design of a neuron.

        Raises:
            UnavailableError: The plugin that `[slots]` names offers none.
        """
        return self.dispatcher.author(self.services.config.slots.synthesizer)

    @property
    def admission(self) -> Admission:
        """Return what lets neurons in."""
        return Admission.configured(self.home, self.log, self.clock, self.dispatcher, self.services.config)

    @property
    def neuron_orders(self) -> NeuronOrders:
        """Return what records what the person orders about neurons."""
        programs = self.services.config.neurons.programs
        analyze = self.dispatcher.analyze
        return NeuronOrders(log=self.log, clock=self.clock, home=self.home, analyze=analyze, programs=programs)

    def require_model(self) -> None:
        """Check that every provider that is named is there, and that a model can be called.

        Raises:
            UnavailableError: One is not, or none can; the line says what to set.
        """
        models = self.services.models
        agent = self.services.config.agent
        offered = {choice.provider.name for choice in models}
        for wanted in (agent.provider, *provider_names(agent.failover)):
            if wanted not in offered:
                why = self._why_not_offered(wanted, self.dispatcher.models())
                raise UnavailableError(
                    N_(
                        "no model: no plugin offers the provider '{provider}' that [agent] names; {why}",
                        provider=wanted,
                        why=why,
                    )
                )
        missing = [choice.provider.missing() for choice in models]
        if missing[0] is not None and None not in missing:
            raise UnavailableError(
                N_(
                    "{missing}; the configuration is {file}; 'myclaw demo' needs no model",
                    missing=missing[0],
                    file=str(self.home.config_file),
                )
            )

    def channel(self, name: str) -> Channel:
        """Return a channel by name.

        Raises:
            UnavailableError: No plugin offers it.
        """
        if name not in self.channels:
            why = self._why_not_offered(name, self.channels)
            raise UnavailableError(N_("no plugin offers the channel '{channel}'; {why}", channel=name, why=why))
        return self.channels[name]

    def _why_not_offered(self, name: str, offered: Iterable[str]) -> Text:
        """Return that the plugin of that name is not on, or the nearest name that is offered."""
        report = next((each for each in self.plugins.reports if each.name == name and each.state != "on"), None)
        if report is None or not report.distribution:
            return nearest(name, offered)
        return evolve(_NOT_ON[report.state], params={"plugin": name, "why": report.why})

    def new_turn(self, turn: Turn, channel: Channel, history: Sequence[Message]) -> TurnRunner:
        """Return what runs one turn.

        Raises:
            UnavailableError: There is no model.
        """
        return TurnRunner(self.services, turn, channel, history)

    async def run(self, turn: TurnRunner | SingleCall) -> None:
        """Run one turn and let trust follow it; cancelling closes its trace as `abandoned`.

        Raises:
            StoreError: The log cannot be written.
        """
        await self.record_check.ready()
        await self._follow()  # another process may have taken trust away
        await self.usual_costs.refresh()
        try:
            await turn.run()
        finally:
            await asyncio.shield(self._follow())

    async def undo(self, turn: Turn, original: ExecutionTrace, *, force: bool = False) -> list[UndoLine]:
        """Take back what a trace changed.

        Args:
            turn: The undo itself, recorded as a child of that trace.
            original: The trace.
            force: Restore even what was changed since.
        """
        lines = await undo_trace(self.services, evolve(turn, parent_trace_id=original.id), original, force=force)
        await self._follow()
        return lines

    async def _recover(self) -> None:
        """Clear up after processes that died."""
        services = self.services
        try:
            await services.ledger.recover()
        except MyclawError as error:
            self._distrust(error)
        try:
            self.unsent.extend(await services.outbox.recover(self._distrust))
        except MyclawError as error:
            self._distrust(error)
        self.notices.extend(map(told, self.unsent))
        for trace in await recover(self.log, services.gateway, self.clock, services.signals, self._distrust):
            self.notices.append(_interrupted(trace))
            self.notices.extend(await note_what_is_left(services, trace))
        self.notices.extend(await settle_all(self.home, self.log, self.clock, services.gateway))

    def _distrust(self, error: MyclawError) -> None:
        """Go on without relying on a record of which a part cannot be read."""
        problem = N_("a part of the record cannot be read: {problem}", problem=error.text)
        self.record_check.damaged(problem)
        self._warn(problem)

    def _warn(self, problem: Text) -> None:
        self.notices.append(N_("{problem}; every action asks, nothing was changed", problem=problem))

    async def _follow(self) -> None:
        """Let trust take in what was recorded; where it cannot, nothing is promoted until it can."""
        try:
            await self._record_faults()
            await self.follower.catch_up()
        except MyclawError as error:
            problem = N_("trust does not know the newest events: {problem}", problem=error.text)
            self.record_check.behind = problem
            _log.error("%s; every action asks until it can follow", problem)
        else:
            self.record_check.behind = None

    async def start(self, *, recover_turns: bool) -> None:
        """Check the record, clear up after crashes and let plugins prepare; `open` calls it."""
        self.log.subscribe(self.dispatcher.event)
        try:
            self.services.rates.load(await self.log.scan(RATE_KIND))
        except MyclawError as error:
            self._distrust(error)
        problem = await self.record_check.start()
        if problem is not None:
            self._warn(problem)
        if recover_turns:
            self.notices.extend(await self.export.start())
            self.log.subscribe(self.export.on_event)
            await self._recover()
        await self._follow()
        if self.book.problem is not None:
            self._warn(N_("the trust record does not check out: {problem}", problem=self.book.problem))
        if (ahead := self.book.ahead(self.clock.now())) is not None:
            self.notices.append(ahead)
        self.faults.extend(
            PluginFault(plugin=report.name, hook="load", detail=str(report.why)) for report in self.plugins.unloadable
        )
        self.notices.extend(self._odd_settings())
        await self.services.neurons.refresh()
        await self.dispatcher.startup()
        await self._record_faults()

    def _odd_settings(self) -> Iterator[Text]:
        """Yield a line on each setting that is valid and does nothing."""
        config = self.services.config
        for report in self.plugins.reports:
            if report.state == "missing" and not report.distribution and report.name in config.plugins.disabled:
                known = {each.name for each in self.plugins.reports if each.state != "missing"}
                yield N_(
                    "[plugins] disabled names {plugin}, which is not installed; {nearest}",
                    plugin=report.name,
                    nearest=nearest(report.name, known),
                )
        for name in provider_names(config.agent.local):
            if name not in {choice.provider.name for choice in self.services.local}:
                why = self._why_not_offered(name, self.dispatcher.models())
                yield N_("[agent] local: no plugin offers the provider '{provider}'; {why}", provider=name, why=why)
        for root in config.policy.roots:
            if not Path(root).expanduser().is_dir():
                yield N_("[policy] roots: {root} is no folder that exists, so it opens nothing", root=root)

    async def _record_faults(self) -> None:
        """Write down what plugins did wrong since the last time."""
        if not self.faults:
            return
        told = tuple(self.faults)
        self.faults.clear()
        async with self.log.transaction() as tx:
            for fault in told:
                await tx.append(fault)

    async def stop(self) -> None:
        """Let plugins and the provider free what they took; `open` calls it."""
        await self.services.outbox.stop()
        await self.record_check.stop()
        await self.dispatcher.shutdown()
        models = (*self.services.models, *self.services.local)
        for provider in {id(choice.provider): choice.provider for choice in models}.values():
            await provider.close()
        for book in self._embedding:
            await book.close()
        await self._record_faults()
        await self.export.stop()
        await self.log.checkpoint()


def _interrupted(trace: ExecutionTrace) -> Text:
    unknown = sum(step.state == "intent" for step in trace.steps)
    short = str(trace.id)[:13]
    if not unknown:
        return N_("an earlier turn was interrupted (trace {trace}); what it did until then is recorded", trace=short)
    return N_(
        "an earlier turn was interrupted (trace {trace}): actions with an unknown outcome: {n}; "
        "'myclaw undo {trace}' takes back what can be",
        trace=short,
        n=unknown,
    )
