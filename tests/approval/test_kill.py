"""kill -9 at every point between a request and its action, for answers of every sort."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from dying import deaths
from sampling import sampled

from myclaw_core.agent import Agent
from myclaw_core.approval.types import Grant
from myclaw_core.events.types import (
    ApprovalAnswered,
    ApprovalAsked,
    GrantEnded,
    GrantGiven,
    NeverChanged,
    StepIntended,
)
from myclaw_core.paths import Home
from myclaw_core.policy.never import NEVER_KIND
from myclaw_core.testing import FakeClock, calls, says

DRIVER = Path(__file__).with_name("killed_turns.py")
STEP = sampled(4, 1)
FILES = ("many/1.md", "many/2.md", "many/3.md", "again.md")


def write(*paths: str) -> dict[str, Any]:
    return calls(*(("fs_write", {"path": path, "content": f"{path}\n"}) for path in paths))


def prepare(folder: Path) -> None:
    """A home whose model asks for two similar files, then for one by the grant, then for what is granted for good."""
    home = Home.at(folder)
    home.create()
    (home.workspace / "many").mkdir()
    (home.workspace / "secret").mkdir()
    script = folder / "script.json"
    replies = [
        write("many/1.md", "many/2.md"),
        write("many/3.md"),
        write("again.md"),
        write("secret/s.md"),
        says("Done."),
    ]
    script.write_text(json.dumps(replies))
    home.config_file.write_text(f'[agent]\nprovider = "scripted"\n[scripted]\nfile = {json.dumps(str(script))}\n')


@pytest.mark.sampled
async def test_after_a_kill_at_any_point_every_request_has_ended_and_nothing_runs_without_or_twice(
    tmp_path: Path,
) -> None:
    """One process dies at each point; the next start finds what it left."""
    prepare(tmp_path / "0")
    places = deaths(DRIVER, tmp_path, step=STEP)
    for number, where in places.items():
        await check(Home.at(tmp_path / str(number)), f"point {number}, {where}")
    through = max(places)
    assert through > 60
    assert {path for path in FILES if (tmp_path / str(through) / "workspace" / path).exists()} == set(FILES)


async def check(home: Home, where: str) -> None:
    before = {path for path in FILES if (home.workspace / path).exists()}
    async with Agent.open(home, clock=FakeClock()) as agent:
        assert {path for path in FILES if (home.workspace / path).exists()} == before, f"{where}: something ran again"
        assert (await agent.log.verify()).ok, where
        assert await agent.services.gateway.pending() == [], where
        assert await agent.log.scan("approval") == [], where
        assert not (home.workspace / "secret/s.md").exists(), where
        events = [event for _, event in await agent.log.since(0, 1000)]
        grants = await agent.services.gateway.standing()
        never = await agent.log.scan(NEVER_KIND)
    check_answers(events, where)
    check_actions(events, before, where)
    check_grants(events, grants, where)
    assert len(never) == sum(isinstance(event, NeverChanged) for event in events), where


def check_answers(events: list[Any], where: str) -> None:
    """Every request ended; a denial and its entry on the never-list are there together."""
    verdicts: dict[Any, list[str]] = {event.request.id: [] for event in events if isinstance(event, ApprovalAsked)}
    for event in events:
        if isinstance(event, ApprovalAnswered):
            verdicts[event.approval.request_id].append(event.approval.verdict)
    used = {event.approval_id for event in events if isinstance(event, StepIntended)}
    for request_id, ended in verdicts.items():
        assert ended in (["granted"], ["denied"], ["expired"], ["granted", "expired"]), where
        assert (request_id in used) == (ended == ["granted"]), f"{where}: a yes that was not used has to end"
    denied = sum(ended == ["denied"] for ended in verdicts.values())
    assert denied == sum(isinstance(event, NeverChanged) for event in events), where


def check_actions(events: list[Any], written: set[str], where: str) -> None:
    """Nothing was written without an intent, and no intent rests on nothing or comes twice."""
    intents = [event for event in events if isinstance(event, StepIntended)]
    assert len({event.step_index for event in intents}) == len(intents), where
    granted = {event.approval.request_id for event in events if isinstance(event, ApprovalAnswered)}
    given = {event.grant.id for event in events if isinstance(event, GrantGiven)}
    for event in intents:
        assert event.approval_id in granted or set(event.grant_ids) & given, where
    assert len(written) <= len(intents) <= len(written) + 1, where


def check_grants(events: list[Any], standing: list[Grant], where: str) -> None:
    """What a grant has left is what was given less what ran by it."""
    uses = Counter(grant_id for event in events if isinstance(event, StepIntended) for grant_id in event.grant_ids)
    given = {event.grant.id: event.grant for event in events if isinstance(event, GrantGiven)}
    ended = {event.grant_id for event in events if isinstance(event, GrantEnded)}
    assert {grant.id for grant in standing} == set(given) - ended, where
    for grant in standing:
        first = given[grant.id]
        assert grant.used == first.used + uses[grant.id], where
        assert grant.left == (None if first.left is None else first.left - uses[grant.id]), where
