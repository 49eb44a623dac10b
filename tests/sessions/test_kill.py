"""kill -9 after every commit between a message and its answer: it runs once, or its sender is told of the end."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from dying import deaths
from messengers import FakeMessenger, until

from myclaw_core.agent import Agent
from myclaw_core.events.types import StepIntended, TraceClosed, TurnStarted
from myclaw_core.paths import Home
from myclaw_core.sessions.sessions import Sessions
from myclaw_core.testing import FakeClock, calls, says

DRIVER = Path(__file__).with_name("sessions_until_killed.py")
SENT = {"7": "Write log.md", "9": "/level read_only", "4": "Second"}
TURNS = ["Write log.md", "Second"]


def prepare(folder: Path, replies: list[dict[str, Any]]) -> None:
    home = Home.at(folder)
    home.create()
    script = folder / "script.json"
    script.write_text(json.dumps(replies))
    home.config_file.write_text(f'[agent]\nprovider = "scripted"\n[scripted]\nfile = {json.dumps(str(script))}\n')


async def after_restart(folder: Path) -> str:
    """Start again, let the service deliver everything once more, and check; return what was told."""
    prepare(folder, [says("Done.")] * 2)
    clock = FakeClock()
    messenger = FakeMessenger(clock)
    async with Agent.open(Home.at(folder), clock=clock) as agent:
        sessions = Sessions(agent, {"fake": messenger}, lambda *_told: None)
        await sessions.start()
        for key, text in SENT.items():
            await sessions.reception("fake").receive(messenger.incoming(text, key=key))
        await until(lambda: not sessions.busy)
        await check(agent, [event for _, event in await agent.log.since(0)], messenger, f"commit {folder.name}")
        await sessions.stop()
    return " ".join(messenger.told())


async def check(agent: Agent, events: list[Any], messenger: FakeMessenger, where: str) -> None:
    started = [event.turn.text for event in events if isinstance(event, TurnStarted)]
    assert started == TURNS, where
    closed = Counter(event.trace.messages[0].text for event in events if isinstance(event, TraceClosed))
    assert closed == dict.fromkeys(TURNS, 1), where
    intended = Counter(event.trace_id for event in events if isinstance(event, StepIntended))
    assert all(times == 1 for times in intended.values()), where
    outcomes = [event.trace.outcome for event in events if isinstance(event, TraceClosed)]
    told = [line for line in messenger.told() if "It is not run again by itself" in line]
    assert len(told) == outcomes.count("interrupted"), where
    assert await agent.log.scan("inbox") == [], where
    assert await agent.services.gateway.pending() == [], where
    assert (await agent.log.verify()).ok, where


async def test_a_kill_after_every_commit_loses_and_repeats_nothing(tmp_path: Path) -> None:
    prepare(tmp_path / "0", [calls(("fs_write", {"path": "log.md", "content": "x"})), says("Done."), says("Done.")])
    *died, _ = deaths(DRIVER, tmp_path)
    told = ""
    for number in died:
        told += await after_restart(tmp_path / str(number))
    assert len(died) >= 20
    assert "the program ended while it worked on 'Write log.md'" in told
    assert "the program ended just after 'Second'" in told
