"""kill -9 at each point of a step's life: nothing runs twice, nothing is lost, the record is whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from dying import deaths, desk_of

from myclaw_core.agent import Agent
from myclaw_core.events.types import StepEnded, StepIntended, TraceClosed
from myclaw_core.paths import Home
from myclaw_core.runtime.types import ExecutionTrace
from myclaw_core.testing import FakeClock

DRIVER = Path(__file__).with_name("turn_until_killed.py")
BEFORE = "one\n"
AFTER = "one\ntwo\n"
SCRIPT = [
    {"tool_calls": [{"tool": "fs_write", "args": {"path": "log.md", "content": AFTER}}]},
    {"text": "Added."},
]


def prepare(folder: Path) -> None:
    home = Home.at(folder)
    home.create()
    (home.workspace / "log.md").write_text(BEFORE)
    script = folder / "script.json"
    script.write_text(json.dumps(SCRIPT))
    home.config_file.write_text(f'[agent]\nprovider = "scripted"\n[scripted]\nfile = {json.dumps(str(script))}\n')


async def closed_traces(agent: Agent) -> list[ExecutionTrace]:
    return [event.trace for _, event in await agent.log.since(0) if isinstance(event, TraceClosed)]


async def check_after_restart(home: Home, where: str) -> None:
    content = (home.workspace / "log.md").read_text()
    assert content in {BEFORE, AFTER}, where
    async with Agent.open(home, clock=FakeClock()) as agent:
        assert (home.workspace / "log.md").read_text() == content, f"{where}: something ran again"
        assert (await agent.log.verify()).ok, where
        assert (await agent.book.verify()).ok, where
        assert await agent.services.gateway.pending() == [], where
        assert await agent.log.scan("turn") == [], where
        traces = await closed_traces(agent)
        if traces:
            await check_trace(agent, traces, content, where)


async def check_trace(agent: Agent, traces: list[ExecutionTrace], content: str, where: str) -> None:
    (trace,) = traces
    assert trace.outcome in {"interrupted", "success"}, where
    events = [event for _, event in await agent.log.events(trace.id)]
    intended = [event for event in events if isinstance(event, StepIntended)]
    assert len(intended) <= 1, where
    if "the file" in where:
        assert (trace.outcome, trace.steps[0].state) == ("interrupted", "intent"), where
        assert "unknown outcome" in str(agent.notices[0]), where
    if trace.outcome == "success":
        assert ("runtime", "success") in await agent.book.snapshot(), f"{where}: trust has not caught up"
    if content == AFTER:
        assert intended, f"{where}: changed without a recorded intent"
        await check_undo(agent, trace, where)
    elif trace.steps and trace.steps[0].state == "done":
        pytest.fail(f"{where}: recorded as done and not done")
    assert sum(isinstance(event, StepEnded) for event in events) <= 1, where


async def check_undo(agent: Agent, trace: ExecutionTrace, where: str) -> None:
    await desk_of(agent).handle(f"/undo {trace.id}")
    assert (agent.home.workspace / "log.md").read_text() == BEFORE, where


async def test_a_kill_at_every_point_leaves_a_consistent_record(tmp_path: Path) -> None:
    """Each point is tried in a home of its own."""
    prepare(tmp_path / "0")
    places = deaths(DRIVER, tmp_path)
    for number, where in places.items():
        await check_after_restart(Home.at(tmp_path / str(number)), f"point {number}, {where}")

    assert len(places) > 16
    assert len({where for where in places.values() if "the file" in where}) == 2
