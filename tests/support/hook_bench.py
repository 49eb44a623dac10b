"""A dispatcher over plain plugins, and what its hooks are called with."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

from attrs import frozen

from myclaw_core import hookimpl
from myclaw_core.clock import SystemClock
from myclaw_core.dispatch import Dispatcher
from myclaw_core.events.types import PluginFault, UnknownEvent
from myclaw_core.host import Host
from myclaw_core.paths import Home
from myclaw_core.plugins import PluginSet
from myclaw_core.policy.types import Finding
from myclaw_core.runtime.tool import Tool
from myclaw_core.runtime.types import ActionStep, ExecutionTrace, ToolResult
from myclaw_core.testing import FakeClock
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
