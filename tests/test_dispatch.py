"""Each hook of the dispatcher has its own test: who is asked, what counts, and what is left out."""

import asyncio
import math
import types
from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve
from hook_bench import ACTION, ASK, CLOCK, DENY, EVENT, STEP, THRESHOLD, TOOL, TRACE, TRACE_ID, bench, host, raising
from hypothesis import given
from hypothesis import strategies as st

from myclaw_core import hookimpl
from myclaw_core.cli.command import Command
from myclaw_core.config import ConfigKey, ConfigSchema
from myclaw_core.dispatch import Dispatcher
from myclaw_core.errors import UnavailableError
from myclaw_core.host import Host
from myclaw_core.messages import N_
from myclaw_core.neurons.types import CodeFinding
from myclaw_core.plugins import PluginReport, PluginSet
from myclaw_core.policy.types import Finding
from myclaw_core.runtime.tool import EffectSpec
from myclaw_core.trust.types import SignalContext
from myclaw_core.types.action import PlannedAction


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
        ("events", "two", "the plugin two failed: raised OSError: disk"),
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
        error=N_("raised {error}", error="ValueError: x"),
        hint=N_("install it again"),
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
        {"internal": True},
        {"neuron": object()},
        {"name": "ctx_write"},
        {"name": "neuron_admit"},
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


def test_hook_myclaw_commands() -> None:
    """Commands come by name with their plugin; what cannot be typed is left out, and so is a name that is taken."""
    rain = Command(name="rain", about=N_("Rain."), add_arguments=lambda parser: None, run=lambda args: 0)
    wrong = [evolve(rain, name=name) for name in ("Rain", "rain\n", "--rain", "")]
    wrong += [evolve(rain, about="Rain."), evolve(rain, run=3), evolve(rain, add_arguments=None), 3]
    made = bench(
        a={"myclaw_commands": lambda: [rain, *wrong]},
        b={"myclaw_commands": lambda: [rain, evolve(rain, name="snow")]},
        c={"myclaw_commands": raising(SystemExit(1))},
    )

    assert made.dispatcher.commands() == {
        "rain": evolve(rain, plugin="a"),
        "snow": evolve(rain, name="snow", plugin="b"),
    }
    assert made.told() == [*[("a", "myclaw_commands")] * len(wrong), ("b", "myclaw_commands"), ("c", "myclaw_commands")]


def test_hook_myclaw_signals() -> None:
    """Values are collected; a name that two plugins give is left out for both."""
    made = bench(
        a={"myclaw_signals": lambda step, trace, context: {"x": 1, "y": 0.5}},
        b={"myclaw_signals": lambda: {"y": 0.5, "z": 0.0}},
    )

    assert made.dispatcher.signals(STEP, TRACE, SignalContext()) == {"x": 1.0, "z": 0.0}
    assert [(fault.plugin, fault.trace_id) for fault in made.faults] == [("b", TRACE_ID)]
    assert "which a gives too" in made.faults[0].detail


@pytest.mark.parametrize("order", [("defaults", "stranger"), ("stranger", "defaults")])
def test_a_signal_of_ours_is_not_taken_away_by_a_plugin_that_gives_it_too(order: tuple[str, str]) -> None:
    hooks = {"defaults": {"undo_flag": 1.0}, "stranger": {"undo_flag": 0.0}}
    made = bench(**{name: {"myclaw_signals": lambda name=name: hooks[name]} for name in order})

    assert made.dispatcher.signals(STEP, TRACE, SignalContext()) == {"undo_flag": 1.0}
    assert made.told() == [("stranger", "myclaw_signals")]
    assert "which defaults gives too; it is left out" in made.faults[0].detail


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


@given(st.lists(st.sampled_from(["none", "ask", "deny", "raise"]), max_size=4))
def test_findings_are_at_least_as_strict_as_every_single_gate(kinds: list[str]) -> None:
    """Adding a plugin never loosens."""
    hooks = {"none": lambda: None, "ask": lambda: ASK, "deny": lambda: DENY, "raise": raising(ValueError())}
    made = bench(**{f"p{place}": {"myclaw_check": hooks[kind]} for place, kind in enumerate(kinds)})

    findings = asyncio.run(made.dispatcher.check(ACTION, TRACE))

    strictest = findings[0].verdict if findings else "none"
    assert strictest == ("deny" if {"deny", "raise"} & set(kinds) else "approve_required" if "ask" in kinds else "none")


def test_hook_myclaw_analyze() -> None:
    """All are asked with the same bytes; a fault, or no answer at all, is a finding."""
    finding = CodeFinding(file="body.py", line=2, rule="x1", message=N_("not so"))
    made = bench(
        a={"myclaw_analyze": lambda files: [evolve(finding, rule=str(len(files["body.py"])))]},
        b={"myclaw_analyze": lambda: ()},
        c={"myclaw_analyze": lambda: None},
        d={"myclaw_analyze": raising(ValueError("no luck"))},
        e={"myclaw_analyze": lambda: ["text"]},
        f={"myclaw_analyze": lambda files: files.clear()},
    )

    found = made.dispatcher.analyze({"body.py": b"pass"})

    assert [(one.line, one.rule) for one in found] == [
        (2, "a:4"),
        *((0, f"{plugin}:fault") for plugin in "cdef"),
    ]
    assert [plugin for plugin, _ in made.told()] == ["c", "d", "e", "f"]


async def test_hook_myclaw_nightly() -> None:
    """Lines are collected in order, plain or not; one that fails, or answers something else, loses its own only."""

    async def slow(now: Any) -> list[Any]:
        await asyncio.sleep(0)
        return [N_("done at {now}", now=str(now)), "a plain {line}\x1b[2J"]

    made = bench(
        a={"myclaw_nightly": slow},
        b={"myclaw_nightly": raising(ValueError("no"))},
        c={"myclaw_nightly": lambda: "one text is no list"},
        d={"myclaw_nightly": lambda: [3]},
        e={"myclaw_nightly": lambda host: [f"from {host.plugin}"]},
    )

    told = await made.dispatcher.nightly(CLOCK.now())

    first, plain, last = map(str, told)
    assert first == f"done at {CLOCK.now()}"
    assert plain.startswith("a plain {line}")
    assert "\x1b" not in plain
    assert last == "from e"
    assert made.told() == [("b", "myclaw_nightly"), ("c", "myclaw_nightly"), ("d", "myclaw_nightly")]


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


def test_nobody_takes_the_name_of_a_tool_that_is_ours() -> None:
    """Wherever its own name stands in the alphabet: trust was earned under the name."""
    made = bench(aaa={"myclaw_tools": lambda: [TOOL]}, files={"myclaw_tools": lambda: [TOOL]})

    assert made.dispatcher.tools()["look"].plugin == "files"
    assert [fault.plugin for fault in made.faults] == ["aaa"]


async def test_what_a_gate_does_to_an_action_is_not_what_is_judged() -> None:
    """It is shown a copy."""

    def raise_level(action: PlannedAction) -> None:
        object.__setattr__(action, "autonomy", "full")
        action.args_preview["tags"].clear()
        action.args_preview["path"] = "elsewhere"  # type: ignore[index]

    made = bench(a={"myclaw_check": raise_level})
    action = evolve(ACTION, args_preview={"path": "here", "tags": ["one"]})
    await made.dispatcher.check(action, TRACE)

    assert action.autonomy == "supervised"
    assert action.args_preview == {"path": "here", "tags": ["one"]}
