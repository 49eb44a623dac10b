"""kill -9 at each point between intent and sent: the letter arrives once or not at all, and never after a crash."""

from __future__ import annotations

import json
from pathlib import Path

from dying import THROUGH, deaths

from myclaw_core.agent import Agent
from myclaw_core.events.types import OutboxChanged, StepIntended
from myclaw_core.paths import Home
from myclaw_core.testing import FakeClock, calls, says

DRIVER = Path(__file__).with_name("killed_sends.py")


def prepare(folder: Path) -> None:
    """Make a home whose model sends one letter."""
    home = Home.at(folder / "0")
    home.create()
    script = home.root / "script.json"
    script.write_text(json.dumps([calls(("send", {"to": "anna", "text": "Hello"})), says("Held.")]))
    home.config_file.write_text(f'[agent]\nprovider = "scripted"\n[scripted]\nfile = {json.dumps(str(script))}\n')


async def changes(agent: Agent) -> list[str]:
    return [event.state for _, event in await agent.log.since(0) if isinstance(event, OutboxChanged)]


async def check(home: Home, where: str) -> tuple[int, list[str]]:
    """Start again twice; return how many letters there are and the states that the message went through."""
    letters = home.root / "letters"
    arrived = letters.read_text().splitlines() if letters.exists() else []
    clock = FakeClock()
    async with Agent.open(home, clock=clock) as agent:
        assert (await agent.log.verify()).ok, where
        states = await changes(agent)
        intents = [event for _, event in await agent.log.since(0) if isinstance(event, StepIntended)]
        assert bool(intents) == bool(states), f"{where}: intent and message are not one"
        told = [str(notice) for notice in agent.notices if "send to anna" in str(notice)]
        open_ = await agent.services.outbox.messages()
        assert all(message.state in {"dropped", "unknown", "sent"} for message in open_), where
        assert [message.state for message in agent.unsent] == states[-1:] * (states[-1:] != ["sent"]), where
        assert len(told) == len(agent.unsent), where
        clock.advance(days=1)
        await agent.services.outbox.wait()
        told_once = list(agent.unsent)
    if told_once:
        async with Agent.open(home, clock=clock) as agent:
            assert await changes(agent) == states, where
            assert agent.unsent == [], where
    after = letters.read_text().splitlines() if letters.exists() else []
    assert after == arrived, f"{where}: it was sent after the crash"
    return len(arrived), states


async def test_a_kill_at_every_point_sends_once_or_not_at_all(tmp_path: Path) -> None:
    """What a process that died had in its hold is never sent; what it was sending is never sent again."""
    prepare(tmp_path)
    places = deaths(DRIVER, tmp_path)
    seen = set()
    for fatal, where in places.items():
        count, states = await check(Home.at(tmp_path / str(fatal)), f"point {fatal}, {where}")
        seen.add((tuple(states), count))
        assert count <= 1, where
        assert count == 0 or "sending" in states, f"{where}: sent without that being on record"
        if "letter" in where:
            assert states == ["held", "sending", "unknown"], where

    assert where == THROUGH
    assert seen == {
        ((), 0),
        (("held", "dropped"), 0),
        (("held", "sending", "unknown"), 0),
        (("held", "sending", "unknown"), 1),
        (("held", "sending", "sent"), 1),
    }
