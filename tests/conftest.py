"""A whole agent in a temporary home: real plugins, real SQLite, a scripted model and a fake clock."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from myclaw_core.agent import Agent
from myclaw_core.desk import SessionDesk
from myclaw_core.paths import Home
from myclaw_core.testing import FakeClock, RecordingChannel

OpenAgent = Callable[..., AbstractAsyncContextManager[Agent]]
MakeDesk = Callable[..., SessionDesk]


@pytest.fixture
def clock() -> FakeClock:
    """A clock that the test moves."""
    return FakeClock()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """An empty home."""
    return Home.at(tmp_path / "home")


@pytest.fixture
def open_agent(home: Home, clock: FakeClock) -> OpenAgent:
    """Open an agent whose model plays `replies`."""

    @asynccontextmanager
    async def opened(replies: Sequence[dict[str, Any]] = (), config: str = "", **options: Any) -> AsyncIterator[Agent]:
        home.root.mkdir(parents=True, exist_ok=True)
        script = home.root / "script.json"
        script.write_text(json.dumps(list(replies)), encoding="utf-8")
        home.config_file.write_text(
            f'[agent]\nprovider = "scripted"\n[scripted]\nfile = {json.dumps(str(script))}\n{config}', encoding="utf-8"
        )
        async with Agent.open(home, clock=clock, **options) as agent:
            yield agent

    return opened


@pytest.fixture
def make_desk(clock: FakeClock) -> MakeDesk:
    """Make a session on a recording channel."""

    def made(agent: Agent, channel: RecordingChannel | None = None, **options: Any) -> SessionDesk:
        settings: dict[str, Any] = {
            "sender": "test:me",
            "roots": agent.standing_roots,
            "cwd": str(agent.home.workspace),
            "level": "supervised",
        }
        return SessionDesk(agent, channel or RecordingChannel(clock), **(settings | options))

    return made
