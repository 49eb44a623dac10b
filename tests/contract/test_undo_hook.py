"""A plugin that brings its own undo, installed and agreed to: what its tool did is taken back by its handler."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hook_bench import bench

from myclaw_core.events.types import StepIntended, UndoApplied
from myclaw_core.paths import Home
from myclaw_core.plugins import Consent, ConsentBook, find_plugins
from myclaw_core.testing import FakeClock, RecordingChannel, calls, says
from myclaw_core.undo.handler import CORE_HANDLERS, UndoHandler
from myclaw_core.undo.records import UNDO_KIND

MANIFEST = """
name = "{name}"
summary = "A shelf with one thing on each board."
hooks = ["myclaw_tools", "myclaw_undo"]
tools = ["shelf_put"]
config = []
"""

BODY = """
import asyncio
import json

from myclaw_core.errors import ToolFailure
from myclaw_core.messages import N_
from myclaw_core.runtime.tool import EffectSpec, Tool, ToolUndo
from myclaw_core.runtime.types import ToolResult
from myclaw_core.undo.revert import Reverted


class Shelf:
    name = "shelf"

    def __init__(self, host):
        self.file = host.home.state / "shelf.json"

    def read(self):
        return json.loads(self.file.read_text()) if self.file.exists() else {}

    def put(self, board, thing):
        things = self.read()
        things[board] = thing
        self.file.write_text(json.dumps(things))

    async def before(self, args, context):
        return {"board": args["board"], "before": self.read().get(args["board"]), "after": args["thing"]}

    def run(self, args, context):
        self.put(context.undo["board"], args["thing"])
        return ToolResult(text="put")

    async def revert(self, record, *, force):
        MISDEED
        board, now = record.data["board"], self.read().get(record.data["board"])
        if now not in (record.data["before"], record.data["after"]) and not force:
            return Reverted(reverted=False, details=(N_("{board} holds something else now", board=board),))
        self.put(board, record.data["before"])
        return Reverted(reverted=True, details=(N_("restored {board}", board=board),))


@hookimpl
def myclaw_tools(host):
    shelf = Shelf(host)
    text = {"type": "string"}
    return [Tool(
        name="shelf_put",
        description="Put a thing on a board.",
        schema={"type": "object", "properties": {"board": text, "thing": text}, "required": ["board", "thing"]},
        effects=(EffectSpec(kind="memory_write", arg="board"),),
        run=shelf.run,
        undo=ToolUndo(handler="HANDLER", data=shelf.before),
    )]


@hookimpl
def myclaw_undo(host):
    return [Shelf(host)]
"""
PUT = ("shelf_put", {"board": "top", "thing": "cup"})


@pytest.fixture
def shelf(install: Callable[..., Path], home: Home, clock: FakeClock) -> Callable[..., None]:
    """Install the plugin and agree to it; its undo may misbehave while a file of that name lies in the home."""

    def put_up(misdeed: str = "pass", handler: str = "shelf", *, undo: bool = True) -> None:
        given = BODY if undo else re.sub(r" undo=ToolUndo.*", "", BODY)
        bad = f"if (self.file.parent / 'bad').exists(): {misdeed}"
        body = given.replace("HANDLER", handler).replace("MISDEED", bad)
        install("shelf", "acme-shelf", body, manifest=MANIFEST)
        plugin = next(each for each in find_plugins() if each.name == "shelf")
        agreed = {"plugin": "shelf", "distribution": plugin.distribution, "version": plugin.version, "at": clock.now()}
        ConsentBook(home).give(Consent(**agreed, digest=plugin.fingerprint().digest))

    return put_up


def on_shelf(home: Home) -> Any:
    return json.loads((home.state / "shelf.json").read_text())["top"]


async def test_hook_myclaw_undo(shelf: Any, open_agent: Any, make_desk: Any, home: Home, clock: FakeClock) -> None:
    """The record is made with the intent, before the tool runs; the handler reverts it, once."""
    shelf()
    channel = RecordingChannel(clock)
    async with open_agent([calls(PUT), says("Done.")]) as agent:
        desk = make_desk(agent, channel)
        trace = await desk.handle("Put the cup on the top board")
        assert on_shelf(home) == "cup"
        (step,) = trace.steps
        assert [effect.reversibility for effect in step.effects] == ["reversible"]
        intended = [event for _, event in await agent.log.events(trace.id, StepIntended)]
        assert (intended[0].undo.handler, intended[0].undo.data["after"]) == ("shelf", "cup")
        assert len(await agent.log.scan(UNDO_KIND)) == 1
        await desk.handle(f"/undo {trace.id}")
        assert on_shelf(home) is None
        assert "undone (`restored top`)" in channel.shown[-1]
        await desk.handle(f"/undo {trace.id}")
        assert "it was undone before" in channel.shown[-1]
        applied = [event for _, event in await agent.log.since(0) if isinstance(event, UndoApplied)]

    assert [event.reverted for event in applied] == [True, False]


async def test_a_target_that_changed_since_is_the_handlers_to_refuse_and_force_reaches_it(
    shelf: Any, open_agent: Any, make_desk: Any, home: Home, clock: FakeClock
) -> None:
    shelf()
    channel = RecordingChannel(clock)
    async with open_agent([calls(PUT), says("Done.")]) as agent:
        desk = make_desk(agent, channel)
        await desk.handle("Put the cup on the top board")
        (home.state / "shelf.json").write_text('{"top": "vase"}')
        await desk.handle("/undo")
        assert on_shelf(home) == "vase"
        assert "not undone (`top holds something else now`)" in channel.shown[-1]
        await desk.handle("/undo --force")

    assert on_shelf(home) is None


@pytest.mark.parametrize(
    ("misdeed", "told"),
    [
        ("raise ValueError('no luck')", "no luck"),
        ("raise SystemExit", "SystemExit"),
        ("asyncio.current_task().cancel(); await asyncio.sleep(0)", "CancelledError"),
        ("return True", "instead of Reverted"),
        ("return Reverted(reverted=True, details=(1,))", "failed"),
    ],
)
async def test_a_handler_that_misbehaves_leaves_the_step_not_undone_and_nothing_is_lost(
    shelf: Any, open_agent: Any, make_desk: Any, home: Home, clock: FakeClock, misdeed: str, told: str
) -> None:
    """One line says so; once it behaves the undo goes through."""
    shelf(misdeed)
    channel = RecordingChannel(clock)
    async with open_agent([calls(PUT), says("Done.")]) as agent:
        desk = make_desk(agent, channel)
        await desk.handle("Put the cup on the top board")
        (home.state / "bad").touch()
        await desk.handle("/undo")
        assert on_shelf(home) == "cup"
        assert "not undone" in channel.shown[-1]
        assert told in channel.shown[-1]
        (home.state / "bad").unlink()
        await desk.handle("/undo")

    assert on_shelf(home) is None


async def test_what_a_plugin_did_waits_for_it_while_it_is_off(
    shelf: Any, open_agent: Any, make_desk: Any, home: Home, clock: FakeClock
) -> None:
    """Nothing else knows how to take it back, and one line says what to do."""
    shelf()
    channel = RecordingChannel(clock)
    async with open_agent([calls(PUT), says("Done.")]) as agent:
        trace = await make_desk(agent).handle("Put the cup on the top board")
    async with open_agent([], '[plugins]\ndisabled = ["shelf"]\n') as agent:
        await make_desk(agent, channel).handle(f"/undo {trace.id}")
    assert "switch on the plugin that did it" in channel.shown[-1]
    assert on_shelf(home) == "cup"
    async with open_agent([]) as agent:
        await make_desk(agent).handle(f"/undo {trace.id}")

    assert on_shelf(home) is None


async def test_a_tool_whose_handler_is_not_there_does_not_run(
    shelf: Any, open_agent: Any, make_desk: Any, home: Home
) -> None:
    shelf(handler="cellar")
    async with open_agent([calls(PUT), says("Done.")]) as agent:
        trace = await make_desk(agent).handle("Put the cup on the top board")

    assert "nothing here knows how to undo it (cellar)" in str(trace.steps[0].error.message)
    assert not (home.state / "shelf.json").exists()


async def test_a_tool_whose_undo_cannot_be_recorded_does_not_run(
    shelf: Any, open_agent: Any, make_desk: Any, home: Home
) -> None:
    """A record holds no secret, so it could not bring one back."""
    shelf()
    secret = "sk-ant-" + "api03-" + "x" * 40
    async with open_agent([calls((PUT[0], {"board": "top", "thing": secret})), says("Done.")]) as agent:
        trace = await make_desk(agent).handle("Put it on the top board")

    assert "looks like a secret" in str(trace.steps[0].error.message)
    assert not (home.state / "shelf.json").exists()


async def test_memory_without_an_undo_stays_irreversible(
    shelf: Any, open_agent: Any, make_desk: Any, home: Home, clock: FakeClock
) -> None:
    shelf(undo=False)
    channel = RecordingChannel(clock)
    async with open_agent([calls(PUT), says("Done.")]) as agent:
        trace = await make_desk(agent, channel, level="full").handle("Put the cup on the top board")

    assert [effect.reversibility for effect in trace.steps[0].effects] == ["irreversible"]
    assert len(channel.cards) == 1


@pytest.mark.parametrize("name", sorted(CORE_HANDLERS))
def test_a_name_of_the_cores_cannot_be_taken(name: str) -> None:
    """The plugin's handler is left out, and a fault says so."""
    found = bench(aaa={"myclaw_undo": lambda: [_Handler(name), _Handler("shelf")]})

    assert list(found.dispatcher.undo_handlers()) == ["shelf"]
    assert found.told() == [("aaa", "myclaw_undo")]
    assert f"offered the undo handler {name}, which is the core's" in found.faults[0].detail


class _Handler(UndoHandler):
    def __init__(self, name: str) -> None:
        self.name = name

    async def revert(self, record: Any, *, force: bool) -> Any:
        raise AssertionError("what is not taken up is never called")
