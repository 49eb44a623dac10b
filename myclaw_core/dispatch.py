"""The only caller of hooks: five modes, each call contained and bounded, every fault told.

Implementations are called in the order in which plugins were registered; `tryfirst` and `trylast` change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from datetime import datetime
from functools import reduce
from inspect import isawaitable, iscoroutine
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload
from uuid import UUID

from attrs import evolve
from pluggy import HookImpl

from myclaw_core.clock import Clock
from myclaw_core.config.schema import ConfigSchema
from myclaw_core.errors import UnavailableError
from myclaw_core.events.types import Event, PluginFault
from myclaw_core.hookspecs import HOOK_MODES
from myclaw_core.host import Host
from myclaw_core.messages import N_
from myclaw_core.neurons.types import CodeFinding
from myclaw_core.plugins import FIRST_PARTY, PluginSet
from myclaw_core.plugins import answers as read
from myclaw_core.plugins.contain import PluginError, contained, contained_await, printable
from myclaw_core.plugins.slots import not_answered, not_called
from myclaw_core.plugins.trace import OnCall, measured
from myclaw_core.policy.types import Finding
from myclaw_core.runtime.channel import Channel
from myclaw_core.runtime.messenger import Messenger
from myclaw_core.runtime.model import ModelProvider
from myclaw_core.runtime.tool import Tool
from myclaw_core.runtime.types import ActionStep, ExecutionTrace
from myclaw_core.trust.estimator import Estimator
from myclaw_core.trust.estimators import built_in
from myclaw_core.trust.guarded import GuardedEstimator
from myclaw_core.trust.thresholds import stricter
from myclaw_core.trust.types import SignalContext
from myclaw_core.types.action import PlannedAction
from myclaw_core.types.effect import Reversibility
from myclaw_core.types.text import Text
from myclaw_core.types.trust import TrustThreshold
from myclaw_core.undo.handler import UndoHandler

if TYPE_CHECKING:
    from myclaw_core.cli.command import Command
    from myclaw_core.embedding.embedder import Embedder
    from myclaw_core.embedding.store import VectorStore
    from myclaw_core.events.store import EventStore
    from myclaw_core.judging.judge import Critic, Judge
    from myclaw_core.neurons.birth_report import BirthReport
    from myclaw_core.neurons.journals import JournalStore
    from myclaw_core.sandbox.sandbox import Sandbox
    from myclaw_core.synthesis.author import Author
    from myclaw_core.synthesis.reward import RewardContext, RewardDraft, RewardPart
    from myclaw_core.trust.store import TrustBackend

    _Store = EventStore | TrustBackend | JournalStore | VectorStore

__all__ = ["Dispatcher"]

T = TypeVar("T")
Reader = Callable[[Any, str], T]

_NIGHTLY_LIMIT_S = 600.0

_UNDECLARED = {
    "tools": N_("it offers the tool {name}, which its plugin.toml does not declare"),
    "commands": N_("it offers the command {name}, which its plugin.toml does not declare"),
    "config": N_("it offers the section {name}, which its plugin.toml does not declare"),
}


class Dispatcher:
    """Calls the hooks of the plugins that are on.

    What a plugin raises, returns wrongly or does not return in time never reaches the caller: it is one `PluginFault`.
    Only the person's Ctrl-C and the cancellation of the calling task pass through.

    Args:
        plugins: The plugins.
        clock: Limits asynchronous hooks.
        on_fault: Is told of every fault at once; a fault of `myclaw_event` only once a plugin, as its event would call
            the hook again.
        limit_s: Seconds one implementation may take; those of this repository's own plugins are not timed in plain
            code, since a timer around each costs more than a decision.
        host_for: Makes the services of one plugin; asked once a plugin, when a hook first needs them.
        on_call: Is told of every call as it ends, or `None`.
    """

    def __init__(
        self,
        plugins: PluginSet,
        clock: Clock,
        on_fault: Callable[[PluginFault], None],
        limit_s: float = 5.0,
        *,
        host_for: Callable[[str], Host],
        on_call: OnCall | None = None,
    ) -> None:
        self._plugins = plugins
        self._clock = clock
        self._on_fault = on_fault
        self._limit_s = limit_s
        self._host_for = host_for
        self._on_call = on_call
        self._hosts: dict[str, Host] = {}
        self._silenced: set[str] = set()
        order = {report.name: place for place, report in enumerate(plugins.reports)}

        def place_of(each: HookImpl) -> tuple[bool, int]:
            """Ours come first: nobody else can take the name of a tool, and the trust earned under it."""
            return each.plugin_name not in FIRST_PARTY, order[each.plugin_name]

        self._implementations: Mapping[str, tuple[HookImpl, ...]] = {
            hook: tuple(sorted(getattr(plugins.manager.hook, hook).get_hookimpls(), key=place_of))
            for hook in HOOK_MODES
        }

    @property
    def plugins(self) -> PluginSet:
        """Return the plugins as they stand: one that offered what it did not declare has failed meanwhile."""
        return self._plugins

    def config(self) -> tuple[ConfigSchema, ...]:
        """Return the sections of the plugins (`myclaw_config`); one that was not declared fails its plugin."""
        schemas = list(self._collect("myclaw_config", read.read_schema))
        return tuple(schema for plugin, schema in schemas if self._declared(plugin, "config", [schema.section]))

    async def startup(self) -> None:
        """Let plugins prepare themselves (`myclaw_startup`)."""
        await self._notify("myclaw_startup")

    async def shutdown(self) -> None:
        """Let plugins free what they took (`myclaw_shutdown`)."""
        await self._notify("myclaw_shutdown")

    @overload
    def store(self, kind: Literal["events"], plugin: str) -> EventStore: ...

    @overload
    def store(self, kind: Literal["trust"], plugin: str) -> TrustBackend: ...

    @overload
    def store(self, kind: Literal["journals"], plugin: str) -> JournalStore: ...

    @overload
    def store(self, kind: Literal["vectors"], plugin: str) -> VectorStore: ...

    def store(self, kind: Literal["events", "trust", "journals", "vectors"], plugin: str) -> _Store:
        """Return the store that `[slots]` names (`myclaw_store`), not yet opened.

        Raises:
            UnavailableError: The plugin is not on, offers no such store, or failed.
        """
        store: _Store = self._slot("myclaw_store", kind, plugin, read.STORE_READERS[kind], {"kind": kind})
        return store

    def sandbox(self, plugin: str) -> Sandbox:
        """Return the sandbox that `[slots]` names (`myclaw_sandbox`).

        Raises:
            UnavailableError: The plugin is not on, offers none, or failed.
        """
        sandbox: Sandbox = self._slot("myclaw_sandbox", "sandbox", plugin, read.read_sandbox, {})
        return sandbox

    def embedder(self, plugin: str) -> Embedder:
        """Return the embedder that `[slots]` names (`myclaw_embedder`).

        Raises:
            UnavailableError: The plugin is not on, offers none, or failed.
        """
        embedder: Embedder = self._slot("myclaw_embedder", "embedder", plugin, read.read_embedder, {})
        return embedder

    def judge(self, plugin: str) -> Judge:
        """Return the judge that `[slots]` names (`myclaw_judge`).

        Raises:
            UnavailableError: The plugin is not on, offers none, or failed.
        """
        judge: Judge = self._slot("myclaw_judge", "judge", plugin, read.read_judge, {})
        return judge

    def critic(self, plugin: str) -> Critic:
        """Return the critic that `[slots]` names (`myclaw_critic`).

        Raises:
            UnavailableError: The plugin is not on, offers none, or failed.
        """
        critic: Critic = self._slot("myclaw_critic", "critic", plugin, read.read_critic, {})
        return critic

    def author(self, plugin: str) -> Author:
        """Return the author of prompts that `[slots]` names (`myclaw_synthesizer`).

        Raises:
            UnavailableError: The plugin is not on, offers none, or failed.
        """
        author: Author = self._slot("myclaw_synthesizer", "synthesizer", plugin, read.read_author, {})
        return author

    def models(self) -> Mapping[str, ModelProvider]:
        """Return the model providers by name (`myclaw_models`)."""
        return {name: model for name, (_, model) in self._offers("myclaw_models", read.model_problem).items()}

    def tools(self) -> Mapping[str, Tool]:
        """Return the tools by name, each with its plugin and version filled in (`myclaw_tools`).

        A tool that its plugin did not declare fails the plugin.
        """
        versions = {report.name: report.version for report in self._plugins.reports}
        return {
            name: evolve(tool, plugin=plugin, version=versions[plugin])
            for name, (plugin, tool) in self._offers("myclaw_tools", read.tool_problem, "tools").items()
        }

    def channels(self) -> Mapping[str, Channel]:
        """Return the channels by name (`myclaw_channels`)."""
        return {name: channel for name, (_, channel) in self._offers("myclaw_channels", read.channel_problem).items()}

    def messengers(self) -> Mapping[str, Messenger]:
        """Return the messengers by name (`myclaw_messengers`)."""
        found = self._offers("myclaw_messengers", read.messenger_problem)
        return {name: messenger for name, (_, messenger) in found.items()}

    def undo_handlers(self) -> Mapping[str, UndoHandler]:
        """Return what takes back more than changes of files, by name (`myclaw_undo`)."""
        return {name: handler for name, (_, handler) in self._offers("myclaw_undo", read.undo_problem).items()}

    def commands(self) -> Mapping[str, Command]:
        """Return the commands by name, each with its plugin filled in (`myclaw_commands`).

        A command that its plugin did not declare fails the plugin.
        """
        offers = self._offers("myclaw_commands", read.command_problem, "commands")
        return {name: evolve(command, plugin=plugin) for name, (plugin, command) in offers.items()}

    def signals(self, step: ActionStep, trace: ExecutionTrace, context: SignalContext) -> Mapping[str, float]:
        """Return what plugins say about one step (`myclaw_signals`).

        A name that two give is left out, but for one that a plugin of ours gives: nobody takes a bad signal away.
        """
        values: dict[str, float] = {}
        owners: dict[str, str] = {}
        arguments = {"step": step, "trace": trace, "context": context}
        answers = self._collect("myclaw_signals", read.read_signals, arguments, trace.id)
        for plugin, answer in sorted(answers, key=lambda given: given[0] not in FIRST_PARTY):
            for name, value in answer.items():
                if owners.setdefault(name, plugin) == plugin:
                    values[name] = value
                    continue
                left_out = "it is left out"
                if owners[name] not in FIRST_PARTY or plugin in FIRST_PARTY:
                    values.pop(name, None)
                    left_out = "both are left out"
                problem = f"gave the signal {name}, which {owners[name]} gives too; {left_out}"
                self._tell(plugin, "myclaw_signals", f"{problem}, disable one of them under [plugins]", trace.id)
        return values

    def threshold(self, effect_class: str, reversibility: Reversibility, workspace: str) -> TrustThreshold | None:
        """Return the first threshold that our own plugins name for a class (`myclaw_threshold`).

        Those of other plugins tighten it, or stand alone where ours name none.
        """
        arguments = {"effect_class": effect_class, "reversibility": reversibility, "workspace": workspace}
        answers = [
            (plugin in FIRST_PARTY, answer)
            for plugin, answer in self._collect("myclaw_threshold", read.read_threshold, arguments)
            if answer is not None
        ]
        ours = [answer for is_ours, answer in answers if is_ours]
        counted = ours[:1] + [answer for is_ours, answer in answers if not is_ours]
        return reduce(stricter, counted) if counted else None

    def estimators(self, weights: Mapping[str, float]) -> Mapping[str, Estimator]:
        """Return the estimators by name, the core's first (`myclaw_estimator`); a plugin's cannot break the record.

        Args:
            weights: What each component weighs in the score, in all 1.

        Raises:
            ConfigError: The weights are not valid.
        """
        versions = {report.name: report.version for report in self._plugins.reports}
        found = dict(built_in(weights))
        owners = dict.fromkeys(found, "the core")
        for plugin, estimator in self._collect("myclaw_estimator", read.read_estimator, {"weights": weights}):
            if estimator is None:
                continue
            if estimator.name in found:
                problem = f"offered {estimator.name}, which {owners[estimator.name]} offers already"
                self._tell(plugin, "myclaw_estimator", f"{problem}; it is left out, install another version of it")
                continue
            owners[estimator.name] = plugin
            found[estimator.name] = GuardedEstimator(estimator, plugin, versions[plugin])
        return found

    async def check(self, action: PlannedAction, trace: ExecutionTrace) -> tuple[Finding, ...]:
        """Return every objection to an action, the strictest first (`myclaw_check`); a fault is a deny.

        Suspends only where an implementation is asynchronous.
        """
        # What a plugin does to it is not what is judged, shown and recorded.
        shown = evolve(action, args_preview=deepcopy(action.args_preview))
        findings = await self._gate("myclaw_check", {"action": shown, "trace": trace}, trace.id)
        return tuple(sorted(findings, key=lambda finding: finding.verdict != "deny"))

    def analyze(self, files: Mapping[str, bytes]) -> tuple[CodeFinding, ...]:
        """Return what plugins find in the code of a neuron (`myclaw_analyze`); a fault is a finding.

        Args:
            files: The bytes by the name of the file.
        """
        hook, found = "myclaw_analyze", list[CodeFinding]()
        for implementation in self._implementations[hook]:
            plugin = implementation.plugin_name
            try:
                arguments = {"files": MappingProxyType(dict(files))}
                found += self._call(hook, implementation, read.read_code_findings, arguments)
            except PluginError as error:
                self._fault(implementation, hook, f"{error}; the neuron is refused", None)
                text = N_("the plugin {plugin} could not check this: {problem}", plugin=plugin, problem=error.text)
                found.append(CodeFinding(file="", line=0, rule=f"{plugin}:fault", message=text))
        return tuple(found)

    def reward_parts(self, draft: RewardDraft, report: BirthReport, context: RewardContext) -> Mapping[str, RewardPart]:
        """Return the parts of R by name (`myclaw_reward`).

        A name that two give is left out, but for one that a plugin of ours gives.
        """
        parts: dict[str, RewardPart] = {}
        owners: dict[str, str] = {}
        arguments = {"draft": draft, "report": report, "context": context}
        answers = self._collect("myclaw_reward", read.read_reward_parts, arguments)
        for plugin, given in sorted(answers, key=lambda each: each[0] not in FIRST_PARTY):
            for part in given:
                if owners.setdefault(part.name, plugin) == plugin:
                    parts[part.name] = part
                    continue
                left_out = "it is left out"
                if owners[part.name] not in FIRST_PARTY:
                    parts.pop(part.name, None)
                    left_out = "both are left out"
                problem = f"gave the part {part.name}, which {owners[part.name]} gives too; {left_out}"
                self._tell(plugin, "myclaw_reward", f"{problem}, disable one of them under [plugins]")
        return parts

    async def event(self, event: Event) -> None:
        """Tell plugins of a committed event (`myclaw_event`)."""
        await self._notify("myclaw_event", {"event": event}, getattr(event, "trace_id", None))

    async def nightly(self, now: datetime) -> tuple[Text, ...]:
        """Let plugins do what is to be done once a night and return what they tell (`myclaw_nightly`)."""
        hook, lines = "myclaw_nightly", list[Text]()
        for implementation in self._implementations[hook]:
            try:
                lines += await self._call_async(hook, implementation, read.read_lines, {"now": now}, _NIGHTLY_LIMIT_S)
            except PluginError as error:
                self._fault(implementation, hook, f"{error}; its lines are left out", None)
        return tuple(lines)

    # The five modes.

    def _collect(
        self,
        hook: str,
        reader: Reader[T],
        arguments: Mapping[str, Any] | None = None,
        trace_id: UUID | None = None,
    ) -> Iterator[tuple[str, T]]:
        """Yield the answer of each plugin; a fault leaves its answer out."""
        for implementation in self._implementations[hook]:
            try:
                yield implementation.plugin_name, self._call(hook, implementation, reader, arguments or {})
            except PluginError as error:
                self._fault(implementation, hook, f"{error}; its answer is left out", trace_id)

    async def _notify(
        self, hook: str, arguments: Mapping[str, Any] | None = None, trace_id: UUID | None = None
    ) -> None:
        """Tell each plugin; a fault changes nothing."""
        for implementation in self._implementations[hook]:
            try:
                await self._call_async(hook, implementation, lambda _answer, _plugin: None, arguments or {})
            except PluginError as error:
                self._fault(implementation, hook, f"{error}; the run goes on", trace_id)

    async def _gate(self, hook: str, arguments: Mapping[str, Any], trace_id: UUID | None) -> list[Finding]:
        """Ask every plugin, whatever the others said; a fault counts as the strictest answer."""
        findings = []
        for implementation in self._implementations[hook]:
            plugin = implementation.plugin_name
            try:
                finding = await self._call_async(hook, implementation, read.read_finding, arguments)
            except PluginError as error:
                self._fault(implementation, hook, f"{error}; the action is denied", trace_id)
                text = N_("the plugin {plugin} could not check this: {problem}", plugin=plugin, problem=error.text)
                finding = Finding(verdict="deny", text=text, source=plugin)
            if finding is not None:
                findings.append(finding)
        return findings

    def _slot(self, hook: str, kind: str, plugin: str, reader: Reader[Any], arguments: Mapping[str, Any]) -> Any:
        """Return what the one chosen plugin answers; a slot without an answer is an error."""
        chosen = next((each for each in self._implementations[hook] if each.plugin_name == plugin), None)
        if chosen is None:
            report = next((each for each in self._plugins.reports if each.name == plugin), None)
            known = [each.plugin_name for each in self._implementations[hook]]
            raise UnavailableError(not_called(kind, plugin, report, known))
        try:
            answer = self._call(hook, chosen, reader, arguments)
        except PluginError as error:
            self._fault(chosen, hook, f"{error}; the slot stays empty", None)
            raise UnavailableError(not_answered(kind, plugin, error)) from error
        if answer is None:
            raise UnavailableError(not_answered(kind, plugin))
        return answer

    # What they share.

    def _offers(
        self, hook: str, problem_of: Callable[[Any], str | None], declared_as: Literal["tools", "commands", ""] = ""
    ) -> dict[str, tuple[str, Any]]:
        """Return plugin and thing by the thing's name; the first to offer a name keeps it."""
        taken: dict[str, tuple[str, Any]] = {}
        for plugin, offers in self._collect(hook, lambda answer, _plugin: read.read_offers(answer, problem_of)):
            names = [name for name, _ in offers.good]
            if declared_as and not self._declared(plugin, declared_as, names):
                continue
            for problem in offers.problems:
                self._tell(plugin, hook, f"{problem}; it is left out, install another version of the plugin")
            for name, thing in offers.good:
                if name in taken:
                    problem = f"offered {name}, which {taken[name][0]} offers already"
                    self._tell(plugin, hook, f"{problem}; it is left out, disable one of them under [plugins]")
                else:
                    taken[name] = (plugin, thing)
        return taken

    def _declared(self, plugin: str, key: Literal["tools", "commands", "config"], names: Sequence[str]) -> bool:
        """Return whether the plugin declared all `names` in its `plugin.toml`; else it fails and is called no more."""
        manifest = self._plugins.manifests.get(plugin)
        extra = [] if manifest is None else sorted(set(names) - set(getattr(manifest, key)))
        if not extra:
            return True
        error = PluginError(
            N_(_UNDECLARED[key].msgid, name=extra[0]),
            N_("install it again, or ask its author"),
        )
        self._plugins = self._plugins.without(plugin, error)
        self._implementations = {
            hook: tuple(each for each in implementations if each.plugin_name != plugin)
            for hook, implementations in self._implementations.items()
        }
        return False

    def _call(self, hook: str, implementation: HookImpl, reader: Reader[T], arguments: Mapping[str, Any]) -> T:
        values = self._values(implementation, arguments)

        def call() -> T:
            answer = implementation.function(*values)
            if iscoroutine(answer):
                answer.close()
                raise PluginError(N_("is asynchronous, but this hook is called in plain code"))
            return reader(answer, implementation.plugin_name)

        with self._measured(hook, implementation):
            return contained(call, self._timer_of(implementation))

    async def _call_async(
        self,
        hook: str,
        implementation: HookImpl,
        reader: Reader[T],
        arguments: Mapping[str, Any],
        limit_s: float | None = None,
    ) -> T:
        values = self._values(implementation, arguments)
        timer_s = self._timer_of(implementation)
        with self._measured(hook, implementation):
            answer = contained(lambda: implementation.function(*values), timer_s)
            if isawaitable(answer):
                answer = await contained_await(answer, limit_s or self._limit_s, self._clock)
            return contained(lambda: reader(answer, implementation.plugin_name), timer_s)

    def _measured(self, hook: str, implementation: HookImpl) -> AbstractContextManager[None]:
        if self._on_call is None:
            return nullcontext()
        return measured(hook, implementation.plugin_name, self._clock, self._on_call)

    def _timer_of(self, implementation: HookImpl) -> float | None:
        return None if implementation.plugin_name in FIRST_PARTY else self._limit_s

    def _values(self, implementation: HookImpl, arguments: Mapping[str, Any]) -> list[Any]:
        """Return the arguments an implementation takes, in its own order."""
        return [
            self._host(implementation.plugin_name) if name == "host" else arguments[name]
            for name in implementation.argnames
        ]

    def _host(self, plugin: str) -> Host:
        if plugin not in self._hosts:
            self._hosts[plugin] = self._host_for(plugin)
        return self._hosts[plugin]

    def _fault(self, implementation: HookImpl, hook: str, detail: str, trace_id: UUID | None) -> None:
        plugin = implementation.plugin_name
        if hook == "myclaw_event":
            if plugin in self._silenced:
                return
            self._silenced.add(plugin)
        self._tell(plugin, hook, f"{detail}; disable it under [plugins] if this goes on", trace_id)

    def _tell(self, plugin: str, hook: str, detail: str, trace_id: UUID | None = None) -> None:
        """Tell of a fault in English, as it is recorded."""
        self._on_fault(PluginFault(plugin=plugin, hook=hook, detail=printable(detail), trace_id=trace_id))
