"""A turn that is stopped ends at once, leaves nothing running, and its record says what was done."""

from __future__ import annotations

import asyncio
import os
import select
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from attrs import define, evolve, field

from myclaw_core import hookimpl
from myclaw_core.compose import load_plugins
from myclaw_core.events.types import TraceClosed
from myclaw_core.runtime.finishing import finished
from myclaw_core.runtime.tool import EffectSpec, PlannedChange, Tool, ToolUndo
from myclaw_core.runtime.types import ToolResult
from myclaw_core.testing import FakeClock, RecordingChannel, calls, says

GUARD_S = 20
READS = (EffectSpec(kind="fs_read", arg="path", default="."),)
WRITES = (EffectSpec(kind="fs_write", arg="path"),)


@define
class Gate:
    """Where a thread of a tool waits for the test.

    Attributes:
        reached: Set once the tool is there.
        opened: Lets it go on.
        ended: Set once the tool is over.
    """

    reached: threading.Event = field(factory=threading.Event)
    opened: threading.Event = field(factory=threading.Event)
    ended: threading.Event = field(factory=threading.Event)

    def wait(self) -> None:
        """Wait in the tool."""
        self.reached.set()
        assert self.opened.wait(GUARD_S)


@pytest.fixture
def gate() -> Iterator[Gate]:
    """A gate that is open at the end, so that no thread stays."""
    made = Gate()
    yield made
    made.opened.set()


def tool_of(run: Callable[..., Any], **options: Any) -> Tool:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    return Tool(**{"name": "odd", "description": "", "schema": schema, "effects": READS, "run": run, **options})


def plugins_with(home: Any, tool: Tool) -> Any:
    home.root.mkdir(parents=True, exist_ok=True)
    plugins = load_plugins(home)
    module = ModuleType("odd")
    module.myclaw_tools = hookimpl(lambda: [tool])  # type: ignore[attr-defined]
    module.myclaw_tools.__name__ = "myclaw_tools"
    plugins.manager.register(module, "odd")
    return evolve(plugins, reports=(*plugins.reports, evolve(plugins.reports[0], name="odd", distribution="odd")))


async def stop(turn: asyncio.Future[Any]) -> None:
    """Stop a turn as a channel does, and wait for its end."""
    turn.cancel()
    async with asyncio.timeout(GUARD_S):
        with pytest.raises(asyncio.CancelledError):
            await turn


async def reached(event: threading.Event) -> None:
    assert await asyncio.to_thread(event.wait, GUARD_S)


async def asks_nothing_more(agent: Any) -> bool:
    return await agent.services.gateway.pending() == []


def notes(home: Any, number: int) -> Path:
    """Make a tree of many files in the workspace."""
    for index in range(number):
        folder = home.workspace / f"{index % 7}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{index}.md").write_text("bread\n")
    return Path(home.workspace)


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("fs_search", {"pattern": "milk"}),
        ("fs_search", {"glob": "*.txt"}),
        ("fs_list", {"path": "0"}),
    ],
    ids=["in files", "by name", "list"],
)
async def test_a_search_of_a_large_tree_ends_at_its_next_look_at_a_file(
    open_agent, make_desk, clock: FakeClock, home, gate: Gate, tool: str, args: dict[str, Any]
) -> None:
    """It has not looked at most of the tree, and the turn waited until its thread was over."""
    looked: list[str] = []
    async with open_agent([calls((tool, args)), says("Never.")]) as opened:
        notes(home, 300)

        def forbidden(path: str) -> bool:
            if path.endswith(".md"):
                looked.append(path)
                gate.wait()
            return bool(opened.services.forbidden(path))

        agent = evolve(opened, services=evolve(opened.services, forbidden=forbidden))
        channel = RecordingChannel(clock)
        turn = asyncio.create_task(make_desk(agent, channel).handle("Look for milk"))
        await reached(gate.reached)
        turn.cancel()
        await asyncio.sleep(0)
        gate.opened.set()
        await stop(turn)

    (trace,) = channel.ended
    assert trace.outcome == "abandoned"
    assert len(looked) < 50
    assert str(trace.steps[0].error.message) == "cancelled"


async def test_a_plan_over_a_large_tree_ends_at_its_next_look_too(
    open_agent, make_desk, clock: FakeClock, home, gate: Gate
) -> None:
    """Nothing was asked yet, and nothing runs on."""
    seen: list[str] = []

    def plan(args: Any, context: Any) -> tuple[PlannedChange, ...]:
        try:
            for entry in context.files.walk("."):
                seen.append(entry.path)
                gate.wait()
            return ()
        finally:
            gate.ended.set()

    tool = tool_of(lambda args, context: ToolResult(text="x"), plan=plan)
    async with open_agent([calls(("odd", {})), says("No.")], plugins=plugins_with(home, tool)) as agent:
        notes(home, 100)
        channel = RecordingChannel(clock)
        turn = asyncio.create_task(make_desk(agent, channel).handle("Go"))
        await reached(gate.reached)
        await stop(turn)
        gate.opened.set()
        await reached(gate.ended)

    assert len(seen) == 1
    assert [trace.outcome for trace in channel.ended] == ["abandoned"]


async def test_a_change_that_was_made_before_the_stop_is_recorded_and_can_be_undone(
    open_agent, make_desk, clock: FakeClock, home, gate: Gate
) -> None:
    """The second one is not made."""

    def plan(args: Any, context: Any) -> tuple[PlannedChange, ...]:
        return tuple(PlannedChange(path=f"{args['path']}/{name}", content=b"new\n") for name in "ab")

    def run(args: Any, context: Any) -> ToolResult:
        for change in context.plan:
            context.files.apply(change)
            gate.wait()
        return ToolResult(text="both")

    tool = tool_of(run, plan=plan, effects=WRITES)
    async with open_agent([calls(("odd", {"path": "notes"})), says("No.")], plugins=plugins_with(home, tool)) as agent:
        folder = home.workspace / "notes"
        folder.mkdir(parents=True)
        (folder / "a").write_text("old\n")
        channel = RecordingChannel(clock)
        desk = make_desk(agent, channel)
        turn = asyncio.create_task(desk.handle("Go"))
        await reached(gate.reached)
        turn.cancel()
        await asyncio.sleep(0)
        gate.opened.set()
        await stop(turn)
        made = {path.name: path.read_text() for path in folder.iterdir()}
        await desk.handle("/undo")
        assert await asks_nothing_more(agent)

    assert made == {"a": "new\n"}
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"a": "old\n"}
    (trace,) = channel.ended
    assert (trace.outcome, trace.steps[0].state) == ("abandoned", "failed")


async def test_a_function_that_notices_nothing_is_left_behind_without_access_to_files(
    open_agent, make_desk, clock: FakeClock, home, gate: Gate
) -> None:
    """The turn closes while its thread still waits; what it did is said to be unknown."""
    late: list[str] = []

    def run(args: Any, context: Any) -> ToolResult:
        gate.wait()
        try:
            context.files.read_bytes("a.md")
        except BaseException as error:
            late.append(type(error).__name__)
        gate.ended.set()
        return ToolResult(text="late")

    async with open_agent([calls(("odd", {})), says("No.")], plugins=plugins_with(home, tool_of(run))) as agent:
        home.workspace.mkdir(parents=True, exist_ok=True)
        (home.workspace / "a.md").write_text("x")
        channel = RecordingChannel(clock)
        turn = asyncio.create_task(make_desk(agent, channel).handle("Go"))
        await reached(gate.reached)
        await stop(turn)
        assert not gate.ended.is_set()
        gate.opened.set()
        await reached(gate.ended)

    assert late == ["CallStoppedError"]
    (trace,) = channel.ended
    assert "what it did is not known" in str(trace.steps[0].error.message)


async def test_a_tool_that_swallows_its_cancellation_is_left_behind(
    open_agent, make_desk, clock: FakeClock, home
) -> None:
    going, leave = asyncio.Event(), asyncio.Event()

    async def run(args: Any, context: Any) -> ToolResult:
        while not leave.is_set():
            going.set()
            try:
                await leave.wait()
            except asyncio.CancelledError:
                continue
        return ToolResult(text="late")

    async with open_agent([calls(("odd", {})), says("No.")], plugins=plugins_with(home, tool_of(run))) as agent:
        channel = RecordingChannel(clock)
        turn = asyncio.create_task(make_desk(agent, channel).handle("Go"))
        await going.wait()
        await stop(turn)
        leave.set()

    assert [trace.outcome for trace in channel.ended] == ["abandoned"]


async def cancels_its_task(args: Any, context: Any) -> Any:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(0)


@pytest.mark.parametrize(
    "tool",
    [
        tool_of(cancels_its_task),
        tool_of(
            lambda args, context: ToolResult(text="never"),
            effects=(EffectSpec(kind="memory_write", arg="path", default="a"),),
            undo=ToolUndo(handler="outbox", data=cancels_its_task),
        ),
    ],
    ids=["run", "undo data"],
)
async def test_a_tool_that_cancels_its_own_task_stops_no_turn(
    open_agent, make_desk, clock: FakeClock, home, tool: Tool
) -> None:
    """Nobody has stopped it: the step has failed, and the turn goes on."""
    async with open_agent([calls(("odd", {})), says("I see.")], plugins=plugins_with(home, tool)) as agent:
        trace = await make_desk(agent).handle("Go")

    assert trace.outcome == "success"
    assert "raised CancelledError" in str(trace.steps[0].error.message)


class Deaf:
    """A model that swallows its cancellation."""

    name = "scripted"
    free = True

    def __init__(self) -> None:
        self.going, self.leave = asyncio.Event(), asyncio.Event()

    def missing(self) -> None:
        """Have all it needs."""

    async def complete(self, request: Any, on_text: Callable[[str], None]) -> Any:
        """Wait, whatever happens."""
        while not self.leave.is_set():
            self.going.set()
            try:
                await self.leave.wait()
            except asyncio.CancelledError:
                continue

    async def close(self) -> None:
        """Have nothing to close."""


async def test_a_model_that_swallows_its_cancellation_is_left_behind(open_agent, make_desk, clock: FakeClock) -> None:
    model = Deaf()
    async with open_agent([]) as opened:
        agent = evolve(opened, services=evolve(opened.services, provider=model))
        channel = RecordingChannel(clock)
        turn = asyncio.create_task(make_desk(agent, channel).handle("Hi"))
        await model.going.wait()
        await stop(turn)
        model.leave.set()

    (trace,) = channel.ended
    assert trace.outcome == "abandoned"
    assert [call.error for call in trace.model_calls] == ["cancelled"]


@pytest.mark.parametrize("again", [1, 2, 5])
async def test_pressing_again_and_again_leaves_a_closed_trace(
    open_agent, make_desk, clock: FakeClock, again: int
) -> None:
    """However often a turn is stopped, and whenever: it is recorded to its end."""
    model = Deaf()
    async with open_agent([]) as opened:
        agent = evolve(opened, services=evolve(opened.services, provider=model))
        channel = RecordingChannel(clock)
        turn = asyncio.create_task(make_desk(agent, channel).handle("Hi"))
        await model.going.wait()
        for _ in range(again):
            turn.cancel()
            await asyncio.sleep(0)
        model.leave.set()
        while not turn.done():
            turn.cancel()
            await asyncio.wait({turn}, timeout=0.01)
        assert turn.cancelled()
        closed = [event for _, event in await agent.log.since(0) if isinstance(event, TraceClosed)]

    assert [event.trace.outcome for event in closed] == ["abandoned"]


async def test_a_stopped_command_that_ignores_signals_leaves_no_process(
    open_agent, make_desk, clock: FakeClock, home
) -> None:
    """Nor does what it started in a session of its own; the change it made can be undone."""
    marker = 100_000 + os.getpid()
    command = f"trap '' TERM INT HUP; echo new >a; setsid sleep {marker} & echo >started; while :; do sleep 600; done"
    folder = home.workspace
    folder.mkdir(parents=True)
    args = {"command": command, "mode": "write", "root": str(folder), "timeout_s": 600}
    (folder / "a").write_text("old\n")
    async with open_agent([calls(("shell", args)), says("Never.")]) as agent:
        channel = RecordingChannel(clock)
        desk = make_desk(agent, channel)
        turn = asyncio.create_task(desk.handle("Go"))
        async with asyncio.timeout(GUARD_S):
            while not ((folder / "started").exists() and living(str(marker))):
                await asyncio.to_thread(select.select, [], [], [], 0.01)
        await stop(turn)
        left = living(str(marker))
        await desk.handle("/undo")

    assert left == []
    assert (folder / "a").read_text() == "old\n"
    assert [trace.outcome for trace in channel.ended] == ["abandoned"]


def living(marker: str) -> list[str]:
    """Return the processes whose command line holds `marker`."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if marker.encode() in line:
            found.append(process.name)
    return found


async def test_work_that_is_finished_outlives_its_cancellation() -> None:
    """The cancellation passes on after it."""
    done: list[str] = []
    go = asyncio.Event()

    async def work() -> None:
        await go.wait()
        done.append("all")

    task = asyncio.create_task(finished(work()))
    for _ in range(3):
        await asyncio.sleep(0)
        task.cancel()
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert done == ["all"]
