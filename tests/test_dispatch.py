"""Hooks are called contained and bounded; each hook has its own test."""

import asyncio
import gc
import math
import signal
import threading
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from attrs import evolve, frozen
from hypothesis import given
from hypothesis import strategies as st

from myclaw_core import hookimpl
from myclaw_core.clock import SystemClock
from myclaw_core.config import ConfigKey, ConfigSchema
from myclaw_core.dispatch import Dispatcher
from myclaw_core.errors import UnavailableError
from myclaw_core.events.types import PluginFault, UnknownEvent
from myclaw_core.host import Host
from myclaw_core.paths import Home
from myclaw_core.plugins import PluginReport, PluginSet
from myclaw_core.policy.types import Finding
from myclaw_core.runtime.tool import EffectSpec, Tool
from myclaw_core.runtime.types import ActionStep, ExecutionTrace, ToolResult
from myclaw_core.testing import FakeClock
from myclaw_core.trust.types import SignalContext
from myclaw_core.types.action import PlannedAction
from myclaw_core.types.text import Text
from myclaw_core.types.trust import TrustThreshold

CLOCK = FakeClock()
TRACE_ID = UUID(int=7)
TRACE = ExecutionTrace(
    id=TRACE_ID, session_id="s", channel="cli", sender="cli:me", autonomy="supervised", started_at=CLOCK.now()
)
ACTION = PlannedAction.from_tool_call(
    tool_name="fs_list",
    args={},
    args_preview={},
    effects=(),
    sender="cli:me",
    trace_id=TRACE_ID,
    session_id="s",
    autonomy="supervised",
    planned_at=CLOCK.now(),
)
STEP = ActionStep(
    index=0,
    tool_name="fs_list",
    args={},
    args_digest="",
    actor="fs_list",
    actor_version="1",
    model="m",
    state="done",
    kind="fs_read",
    effect_class="pure",
    effects=(),
    started_at=CLOCK.now(),
)
EVENT = UnknownEvent(type="x", data={}, trace_id=TRACE_ID)
TOOL = Tool(
    name="look",
    description="Look.",
    schema={"type": "object"},
    effects=(),
    run=lambda _args, _context: ToolResult(text=""),
)
DENY = Finding(verdict="deny", text=Text("no"))
ASK = Finding(verdict="approve_required", text=Text("sure?"))
THRESHOLD = TrustThreshold(effect_class="invoke", risk_band="low", min_score=0.6, min_samples=3)


@frozen
class Bench:
    """A dispatcher over plain plugins, and the faults it told of."""

    dispatcher: Dispatcher
    faults: list[PluginFault]

    def told(self) -> list[tuple[str, str]]:
        return [(fault.plugin, fault.hook) for fault in self.faults]


def bench(limit_s: float = 5.0, **plugins: Mapping[str, Callable[..., Any]]) -> Bench:
    """Return a dispatcher over plugins given as hook name → function."""
    modules = {}
    for name, hooks in plugins.items():
        modules[name] = types.ModuleType(name)
        for hook, function in hooks.items():
            setattr(modules[name], hook, hookimpl(function))
    faults: list[PluginFault] = []
    loaded = PluginSet.of(modules, version="3")
    assert {report.state for report in loaded.reports} <= {"on"}
    return Bench(Dispatcher(loaded, SystemClock(), faults.append, limit_s, host_for=host), faults)


def host(plugin: str) -> Host:
    return Host(
        plugin=plugin, config={"of": plugin}, home=Home.at(Path("/nowhere")), clock=CLOCK, emit=lambda _line: None
    )


def raising(error: BaseException) -> Callable[[], Any]:
    def hook() -> Any:
        raise error

    return hook


class FakeModel:
    name = "fake"
    free = True

    def missing(self) -> str | None:
        return None

    async def complete(self) -> None: ...

    async def close(self) -> None: ...


class FakeStore:
    def open(self) -> None: ...

    def close(self) -> None: ...

    def transaction(self) -> None: ...


class FakeChannel:
    name = "fake"

    def __getattr__(self, name: str) -> Callable[[], None]:
        return lambda: None


# One test a hook.


def test_hook_myclaw_config() -> None:
    """The sections are collected; a plugin cannot describe the section of another, nor a default that does not fit."""
    key = ConfigKey(name="x", kind="int", default=1, help="X.")
    good = ConfigSchema(section="a", keys=(key,))

    def odd(**change: Any) -> dict[str, Callable[..., Any]]:
        return {"myclaw_config": lambda: ConfigSchema(section="b", keys=(evolve(key, **change),))}

    assert bench(a={"myclaw_config": lambda: good}, b=odd()).dispatcher.config() == (good, odd()["myclaw_config"]())
    for wrong in (lambda: good, lambda: 3, odd(default="1")["myclaw_config"], raising(ValueError())):
        made = bench(a={"myclaw_config": lambda: good}, b={"myclaw_config": wrong})
        assert made.dispatcher.config() == (good,)
        assert made.told() == [("b", "myclaw_config")]


def test_a_plugin_named_like_a_section_of_the_core_has_none() -> None:
    made = bench(policy={"myclaw_config": lambda: ConfigSchema(section="policy", keys=())})

    assert made.dispatcher.config() == ()
    assert "belongs to the core" in made.faults[0].detail


async def test_hook_myclaw_startup() -> None:
    """Each plugin gets its own host, and the same one each time."""
    hosts: list[Host] = []

    async def slow(host: Host) -> None:
        await asyncio.sleep(0)
        hosts.append(host)

    def late(host: Host) -> None:
        hosts.append(host)

    made = bench(a={"myclaw_startup": slow, "myclaw_shutdown": slow}, b={"myclaw_startup": late})

    await made.dispatcher.startup()
    await made.dispatcher.shutdown()

    assert [one.plugin for one in hosts] == ["a", "b", "a"]
    assert hosts[0].config == {"of": "a"}
    assert hosts[0] is hosts[2]


async def test_hook_myclaw_shutdown() -> None:
    """One that fails does not keep the others from being told."""
    told: list[str] = []
    made = bench(
        a={"myclaw_shutdown": raising(SystemExit(1))}, b={"myclaw_shutdown": lambda host: told.append(host.plugin)}
    )

    await made.dispatcher.shutdown()

    assert told == ["b"]
    assert made.told() == [("a", "myclaw_shutdown")]
    assert "raised SystemExit: 1" in made.faults[0].detail


def test_hook_myclaw_store() -> None:
    """Exactly the plugin that is named is asked; without its answer there is one line on what to do."""
    store = FakeStore()
    hooks = {"myclaw_store": lambda kind: store if kind == "events" else None}
    made = bench(one=hooks, two={"myclaw_store": raising(OSError("disk"))}, three={"myclaw_store": lambda: 3})

    assert made.dispatcher.store("events", "one") is store
    for kind, plugin, expected in (
        ("trust", "one", "the plugin one does not keep that"),
        ("events", "two", "the plugin two failed: it raised OSError: disk"),
        ("events", "three", "a store without open"),
        ("events", "sqlite", "the plugin sqlite is not installed: install the distribution myclaw-sqlite"),
    ):
        with pytest.raises(UnavailableError, match=expected) as caught:
            made.dispatcher.store(kind, plugin)
        assert f"[slots] {kind}" in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_slot_filled_by_a_plugin_that_failed_says_why() -> None:
    loaded = PluginSet.of({})
    report = PluginReport(
        name="sqlite",
        distribution="myclaw-sqlite",
        state="failed",
        error="raised ValueError: x",
        hint="install it again",
    )
    dispatcher = Dispatcher(evolve(loaded, reports=(report,)), CLOCK, lambda _fault: None, host_for=host)

    with pytest.raises(UnavailableError, match=r"myclaw-sqlite is failed: raised ValueError: x; install it again"):
        dispatcher.store("trust", "sqlite")


def test_hook_myclaw_models() -> None:
    """Providers come by name; a second one of the same name is left out, and the fault names both plugins."""
    first, second = FakeModel(), FakeModel()
    made = bench(a={"myclaw_models": lambda: [first, object()]}, b={"myclaw_models": lambda host: (second,)})

    assert made.dispatcher.models() == {"fake": first}
    assert made.told() == [("a", "myclaw_models"), ("b", "myclaw_models")]
    assert "offered fake, which a offers already" in made.faults[1].detail


def test_hook_myclaw_tools() -> None:
    """Tools get plugin and version; a generator is read within the call."""

    def tools(host: Host) -> Any:
        yield TOOL
        yield evolve(TOOL, name="look_2")

    made = bench(a={"myclaw_tools": tools}, b={"myclaw_tools": lambda: [evolve(TOOL, name="other")]})

    assert {name: (tool.plugin, tool.version) for name, tool in made.dispatcher.tools().items()} == {
        "look": ("a", "3"),
        "look_2": ("a", "3"),
        "other": ("b", "3"),
    }
    assert made.faults == []


@pytest.mark.parametrize(
    "change",
    [
        {"name": "Look"},
        {"name": "look\n"},
        {"schema": {"type": "nonsense"}},
        {"schema": {"$ref": "https://example.org/schema.json"}},
        {"schema": {"properties": {"a": {"$ref": "file:///etc/passwd"}}}},
        {"schema": 3},
        {"effects": [EffectSpec(kind="fs_read", arg="path")]},
        {"effects": (EffectSpec(kind="fs_eat", arg="path"),)},  # type: ignore[arg-type]
        {"timeout_s": math.nan},
        {"timeout_s": 0},
        {"run": None},
        {"plan": 3},
    ],
)
def test_a_tool_that_cannot_be_used_is_refused_and_the_next_one_kept(change: dict[str, Any]) -> None:
    made = bench(a={"myclaw_tools": lambda: [evolve(TOOL, **change), evolve(TOOL, name="good")]})

    assert set(made.dispatcher.tools()) == {"good"}
    assert made.told() == [("a", "myclaw_tools")]
    assert "\n" not in made.faults[0].detail


@pytest.mark.parametrize("answer", [3, "text", [1, 2], {"a": 1}, object()])
def test_an_answer_that_is_no_list_of_tools_offers_none(answer: Any) -> None:
    made = bench(a={"myclaw_tools": lambda: answer}, b={"myclaw_tools": lambda: [TOOL]})

    assert set(made.dispatcher.tools()) == {"look"}
    assert {fault.plugin for fault in made.faults} == {"a"}


def test_hook_myclaw_channels() -> None:
    """Channels come by name; what lacks a method is left out."""
    channel = FakeChannel()
    made = bench(a={"myclaw_channels": lambda: [channel, FakeModel()]})

    assert made.dispatcher.channels() == {"fake": channel}
    assert "without status" in made.faults[0].detail


def test_hook_myclaw_signals() -> None:
    """Values are collected; a name that two plugins give is left out for both."""
    made = bench(
        a={"myclaw_signals": lambda step, trace, context: {"x": 1, "y": 0.5}},
        b={"myclaw_signals": lambda: {"y": 0.5, "z": 0.0}},
    )

    assert made.dispatcher.signals(STEP, TRACE, SignalContext()) == {"x": 1.0, "z": 0.0}
    assert [(fault.plugin, fault.trace_id) for fault in made.faults] == [("b", TRACE_ID)]
    assert "which a gives too" in made.faults[0].detail


@pytest.mark.parametrize("value", [math.nan, math.inf, -0.1, 1.1, True, "1", None, 10**400])
def test_a_signal_outside_of_zero_to_one_leaves_the_plugins_signals_out(value: Any) -> None:
    made = bench(a={"myclaw_signals": lambda: {"x": 0.5, "y": value}}, b={"myclaw_signals": lambda: {"z": 1.0}})

    assert made.dispatcher.signals(STEP, TRACE, SignalContext()) == {"z": 1.0}
    assert made.told() == [("a", "myclaw_signals")]


def test_hook_myclaw_threshold() -> None:
    """The first answer of ours counts, others only tighten; a fault or a wrong answer is left out."""
    made = bench(
        a={"myclaw_threshold": raising(ValueError())},
        b={"myclaw_threshold": lambda: 0.5},
        c={"myclaw_threshold": lambda: evolve(THRESHOLD, min_score=math.nan)},
        d={"myclaw_threshold": lambda effect_class: None},
        e={"myclaw_threshold": lambda workspace, reversibility: THRESHOLD},
        f={"myclaw_threshold": lambda: evolve(THRESHOLD, min_score=0.0, min_samples=9, cap_autonomy="full")},
        defaults={"myclaw_threshold": lambda: evolve(THRESHOLD, min_score=0.5)},
        files={"myclaw_threshold": lambda: evolve(THRESHOLD, min_samples=99)},
    )

    assert made.dispatcher.threshold("invoke", "reversible", "~") == evolve(THRESHOLD, min_samples=9)
    assert [plugin for plugin, _ in made.told()] == ["a", "b", "c"]
    assert bench().dispatcher.threshold("invoke", "reversible", "~") is None


async def test_hook_myclaw_check() -> None:
    """All are asked, the strictest comes first, and each finding bears its plugin's name."""

    async def late(action: PlannedAction) -> Finding:
        await asyncio.sleep(0)
        return evolve(DENY, source="somebody else")

    made = bench(a={"myclaw_check": lambda trace: ASK}, b={"myclaw_check": lambda: None}, c={"myclaw_check": late})

    findings = await made.dispatcher.check(ACTION, TRACE)

    assert [(one.verdict, one.source) for one in findings] == [("deny", "c"), ("approve_required", "a")]
    assert made.faults == []


async def _hang() -> Finding | None:
    await asyncio.Event().wait()
    return None


async def _hang_on() -> Finding | None:
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            continue


async def _swallow() -> Finding | None:
    try:
        await asyncio.Event().wait()
    except BaseException:
        return None
    return None


async def _block() -> Finding | None:
    while True:
        pass


async def _exit() -> Finding | None:
    await asyncio.sleep(0)
    raise SystemExit(3)


async def _cancel() -> Finding | None:
    raise asyncio.CancelledError


def _spin() -> Finding | None:
    while True:
        try:
            while True:
                pass
        except Exception:
            continue


@pytest.mark.parametrize(
    "hook",
    [
        raising(ValueError("x")),
        raising(SystemExit(1)),
        raising(KeyboardInterrupt()),
        raising(StopIteration()),
        raising(asyncio.CancelledError()),
        raising(GeneratorExit()),
        lambda: True,
        lambda: "allow",
        lambda: Finding(verdict="allow", text=Text("fine")),  # type: ignore[arg-type]
        lambda: Finding(verdict="deny", text="no"),  # type: ignore[arg-type]
        lambda: Finding(verdict="deny", text=Text("{a.b}", {"a": 1})),
        _hang,
        _hang_on,
        _swallow,
        _block,
        _exit,
        _cancel,
        _spin,
        lambda: [_hang],
    ],
)
async def test_a_gate_that_does_not_answer_properly_denies_and_is_named(hook: Callable[..., Any]) -> None:
    """Also one that hangs, exits or swallows its cancellation; nothing of it stays behind."""
    made = bench(0.05, a={"myclaw_check": hook}, b={"myclaw_check": lambda: ASK})

    findings = await made.dispatcher.check(ACTION, TRACE)

    assert [(one.verdict, one.source) for one in findings] == [("deny", "a"), ("approve_required", "b")]
    assert str(findings[0].text).startswith("the plugin a could not check this: ")
    assert [(fault.plugin, fault.hook, fault.trace_id) for fault in made.faults] == [("a", "myclaw_check", TRACE_ID)]
    assert len(asyncio.all_tasks()) == 1
    gc.collect()


async def test_a_gate_without_suspension_does_not_suspend_the_caller() -> None:
    made = bench(a={"myclaw_check": lambda: ASK})

    with pytest.raises(StopIteration) as stop:
        made.dispatcher.check(ACTION, TRACE).send(None)

    assert stop.value.value == (evolve(ASK, source="a"),)


@given(st.lists(st.sampled_from(["none", "ask", "deny", "raise"]), max_size=4))
def test_findings_are_at_least_as_strict_as_every_single_gate(kinds: list[str]) -> None:
    """Adding a plugin never loosens."""
    hooks = {"none": lambda: None, "ask": lambda: ASK, "deny": lambda: DENY, "raise": raising(ValueError())}
    made = bench(**{f"p{place}": {"myclaw_check": hooks[kind]} for place, kind in enumerate(kinds)})

    findings = asyncio.run(made.dispatcher.check(ACTION, TRACE))

    strictest = findings[0].verdict if findings else "none"
    assert strictest == ("deny" if {"deny", "raise"} & set(kinds) else "approve_required" if "ask" in kinds else "none")


async def test_hook_myclaw_event() -> None:
    """Each plugin hears each event; one that fails is told of once, whatever its message."""
    heard: list[Any] = []
    count = iter(range(100))

    async def hear(event: Any) -> None:
        heard.append(event)

    def fail() -> None:
        raise ValueError(next(count))

    made = bench(a={"myclaw_event": fail}, b={"myclaw_event": hear})

    for _ in range(3):
        await made.dispatcher.event(EVENT)

    assert heard == [EVENT] * 3
    assert made.told() == [("a", "myclaw_event")]


async def test_a_fault_event_that_is_handed_on_does_not_go_round_for_ever() -> None:
    waiting: list[Any] = [EVENT]
    module = types.ModuleType("a")
    module.myclaw_event = hookimpl(raising(ValueError()))  # type: ignore[attr-defined]
    dispatcher = Dispatcher(PluginSet.of({"a": module}), CLOCK, waiting.append, host_for=host)

    for event in waiting:
        await dispatcher.event(event)

    assert len(waiting) == 2


# What passes through, and what does not leak.


async def test_cancelling_the_calling_task_ends_a_hook_that_swallows_it() -> None:
    for hook in (_hang, _swallow):
        made = bench(a={"myclaw_check": hook})
        task = asyncio.ensure_future(made.dispatcher.check(ACTION, TRACE))
        await asyncio.sleep(0)
        task.cancel()

        with pytest.raises(asyncio.CancelledError):
            await task
        assert made.faults == []


def test_ctrl_c_of_the_person_passes_through_a_plain_hook() -> None:
    made = bench(a={"myclaw_threshold": lambda: signal.raise_signal(signal.SIGINT)})

    with pytest.raises(KeyboardInterrupt):
        made.dispatcher.threshold("invoke", "reversible", "~")
    assert made.faults == []


def test_ctrl_c_of_the_person_during_an_asynchronous_hook_cancels_the_run() -> None:
    async def pressed() -> None:
        signal.raise_signal(signal.SIGINT)
        await asyncio.Event().wait()

    made = bench(a={"myclaw_event": pressed})

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(made.dispatcher.event(EVENT))
    assert made.faults == []


async def test_an_injected_clock_ends_an_asynchronous_hook() -> None:
    class Impatient(FakeClock):
        def timeout(self, seconds: float) -> Any:
            return asyncio.timeout(0)

    module = types.ModuleType("a")
    module.myclaw_check = hookimpl(_hang)  # type: ignore[attr-defined]
    dispatcher = Dispatcher(PluginSet.of({"a": module}), Impatient(), lambda _fault: None, 600.0, host_for=host)

    assert [one.verdict for one in await dispatcher.check(ACTION, TRACE)] == ["deny"]


def test_an_asynchronous_function_on_a_plain_hook_is_a_fault_and_leaks_no_coroutine() -> None:
    """A coroutine that is never awaited would be a warning, and warnings are errors here."""
    made = bench(a={"myclaw_tools": _hang}, b={"myclaw_tools": lambda: [TOOL]})

    assert set(made.dispatcher.tools()) == {"look"}
    assert "asynchronous" in made.faults[0].detail
    gc.collect()


async def test_asynchronous_functions_work_on_every_asynchronous_hook() -> None:
    called: list[str] = []

    def make(hook: str) -> Callable[..., Any]:
        async def function() -> None:
            await asyncio.sleep(0)
            called.append(hook)

        return function

    hooks = ["myclaw_startup", "myclaw_check", "myclaw_event", "myclaw_shutdown"]
    made = bench(a={hook: make(hook) for hook in hooks})

    await made.dispatcher.startup()
    await made.dispatcher.check(ACTION, TRACE)
    await made.dispatcher.event(EVENT)
    await made.dispatcher.shutdown()

    assert called == hooks
    assert made.faults == []


async def test_any_awaitable_is_awaited() -> None:
    made = bench(a={"myclaw_check": lambda: _future(DENY)})

    assert [one.verdict for one in await made.dispatcher.check(ACTION, TRACE)] == ["deny"]
    assert made.faults == []


def _future(value: Any) -> asyncio.Future[Any]:
    future = asyncio.get_running_loop().create_future()
    future.set_result(value)
    return future


def test_outside_of_the_main_thread_hooks_are_contained_too() -> None:
    made = bench(a={"myclaw_threshold": raising(KeyboardInterrupt())}, b={"myclaw_threshold": lambda: THRESHOLD})
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(made.dispatcher.threshold("invoke", "reversible", "~")))

    thread.start()
    thread.join()

    assert answers == [THRESHOLD]
    assert made.told() == [("a", "myclaw_threshold")]


async def test_our_own_plugins_run_without_a_timer_and_are_contained_all_the_same() -> None:
    outside = signal.getsignal(signal.SIGALRM)
    timed: list[bool] = []

    def look(action: object) -> None:
        timed.append(signal.getsignal(signal.SIGALRM) is not outside)

    tools = bench(files={"myclaw_check": look}, stranger={"myclaw_check": look})
    assert await tools.dispatcher.check(ACTION, TRACE) == ()
    assert timed == [False, True]

    broken = bench(files={"myclaw_check": raising(SystemExit(3))})
    assert [finding.verdict for finding in await broken.dispatcher.check(ACTION, TRACE)] == ["deny"]


def test_implementations_are_called_in_the_order_of_the_plugins_whatever_they_wish() -> None:
    calls: list[str] = []
    modules = {}
    for name, options in (("a", {"trylast": True}), ("b", {}), ("c", {"tryfirst": True})):
        modules[name] = types.ModuleType(name)
        modules[name].myclaw_threshold = hookimpl(**options)(lambda name=name: calls.append(name))  # type: ignore[attr-defined]
    dispatcher = Dispatcher(PluginSet.of(modules), CLOCK, lambda _fault: None, host_for=host)

    dispatcher.threshold("invoke", "reversible", "~")

    assert calls == ["a", "b", "c"]


async def test_a_dispatcher_without_plugins_answers_everything_but_slots() -> None:
    dispatcher = bench().dispatcher

    await dispatcher.startup()
    assert dispatcher.config() == ()
    assert dispatcher.tools() == dispatcher.models() == dispatcher.channels() == {}
    assert await dispatcher.check(ACTION, TRACE) == ()
    await dispatcher.event(EVENT)
    with pytest.raises(UnavailableError):
        dispatcher.store("events", "sqlite")
