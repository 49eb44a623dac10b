"""kill -9 at each point between a question that is left and its action: it runs once or not at all, never unasked."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from dying import THROUGH, deaths, desk_of
from sampling import sampled

from myclaw_core.agent import Agent
from myclaw_core.events.types import (
    ApprovalAnswered,
    ApprovalAsked,
    DeferralEnded,
    QuestionDeferred,
    StepEnded,
    StepIntended,
    TraceClosed,
)
from myclaw_core.paths import Home
from myclaw_core.testing import FakeClock, calls, says

DRIVER = Path(__file__).with_name("pending_until_killed.py")
STEP = sampled(3, 1)
FILES = ("yes.md", "no.md")


def prepare(folder: Path) -> None:
    home = Home.at(folder)
    home.create()
    script = folder / "script.json"
    wanted = calls(*(("fs_write", {"path": name, "content": f"{name}\n"}) for name in FILES))
    script.write_text(json.dumps([wanted, says("Not done.")]))
    home.config_file.write_text(f'[agent]\nprovider = "scripted"\n[scripted]\nfile = {json.dumps(str(script))}\n')


@pytest.mark.sampled
async def test_after_a_kill_at_any_point_what_was_left_runs_once_or_not_at_all(tmp_path: Path) -> None:
    """One process dies at each point; the next start finds what it left, and its person grants what still waits."""
    prepare(tmp_path / "0")
    places = deaths(DRIVER, tmp_path, step=STEP)
    endings: set[tuple[str, ...]] = set()
    for number, where in places.items():
        home = Home.at(tmp_path / str(number))
        endings.add(await check(home, f"point {number}, {where}", whole=where == THROUGH))
    assert max(places) > 30
    assert {("run", "run"), ("denied", "run")} <= endings


async def check(home: Home, where: str, *, whole: bool) -> tuple[str, ...]:
    """Return how the questions had ended once all of them were granted that still waited."""
    before = written(home)
    clock = FakeClock()
    for _ in range(1000):
        clock.new_id()  # ids of the process that died
    async with Agent.open(home, clock=clock) as agent:
        assert written(home) == before, f"{where}: something ran again"
        assert await agent.services.gateway.pending() == [], where
        assert await agent.log.scan("turn") == [], where
        events = [event for _, event in await agent.log.since(0, 10_000)]
        check_actions(events, before, where)
        left = {each.request.id for each in await agent.services.gateway.left()}
        assert left == asked_later(events) - ended(events).keys(), where
        if whole:
            assert (before, left) == ({"yes.md"}, set())
        desk = desk_of(agent)
        while await agent.services.gateway.left():
            await desk.handle("/pending")
        events = [event for _, event in await agent.log.since(0, 10_000)]
        assert (await agent.log.verify()).ok, where
        assert (await agent.book.verify()).ok, where
    check_actions(events, written(home), where)
    assert ended(events).keys() == asked_later(events), f"{where}: each has ended"
    return tuple(sorted(ended(events).values()))


def written(home: Home) -> set[str]:
    return {name for name in FILES if (home.workspace / name).exists()}


def asked_later(events: list[Any]) -> set[UUID]:
    return {event.request_id for event in events if isinstance(event, QuestionDeferred)}


def ended(events: list[Any]) -> dict[UUID, str]:
    found = [event for event in events if isinstance(event, DeferralEnded)]
    assert len({event.request_id for event in found}) == len(found)
    return {event.request_id: event.ending for event in found}


def check_actions(events: list[Any], files: set[str], where: str) -> None:
    """Each intent rests on a yes of its own to exactly these arguments, and each question led to one at most."""
    asked = {event.request.id: event.request for event in events if isinstance(event, ApprovalAsked)}
    granted = {
        event.approval.request_id
        for event in events
        if isinstance(event, ApprovalAnswered) and event.approval.verdict == "granted"
    }
    intents = [event for event in events if isinstance(event, StepIntended)]
    assert {event.approval_id for event in intents} <= granted, where
    used = [asked[event.approval_id].origin.request_id for event in intents]
    assert max(Counter(used).values(), default=0) <= 1, f"{where}: something ran twice"
    assert {key for key, ending in ended(events).items() if ending == "run"} == set(used), where
    for event in intents:
        request = asked[event.approval_id]
        assert request.draft.action.args_digest == asked[request.origin.request_id].draft.action.args_digest, where
    targets = {asked[request_id].draft.action.targets[0].rpartition("/")[2] for request_id in used}
    results = {event.trace_id for event in events if isinstance(event, StepEnded) and event.step.state == "done"}
    unknown = sum(event.trace_id not in results for event in intents)
    assert files <= targets, f"{where}: changed without an intent"
    assert len(targets) - unknown <= len(files), f"{where}: recorded as done and not done"
    denied = {key for key, ending in ended(events).items() if ending == "denied"}
    assert not denied & set(used), where
    children = [event.trace for event in events if isinstance(event, TraceClosed) and event.trace.parent_trace_id]
    assert all(
        trace.parent_trace_id in {event.trace_id for event in events if isinstance(event, QuestionDeferred)}
        for trace in children
    ), where
