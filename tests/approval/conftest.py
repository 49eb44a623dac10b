"""A running gateway and what to ask it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from gateways import Desk, ShowingChannel, asking, opened, planned, turn_of

from myclaw_core.approval.gateway import Question
from myclaw_core.runtime.types import Turn
from myclaw_core.testing import FakeClock
from myclaw_core.types.action import PlannedAction


@frozen
class Kit:
    """The builders above, for tests that get them as a fixture."""

    opened: Callable[..., Any]
    planned: Callable[..., PlannedAction]
    asking: Callable[..., Question]
    channel: Callable[[FakeClock], ShowingChannel]
    turn: Callable[..., Turn]


@pytest.fixture
def turn(clock: FakeClock) -> Turn:
    """Return a turn of `test:me`."""
    return turn_of(clock)


@pytest.fixture(scope="session")
def kit() -> Kit:
    """Return the builders."""
    return Kit(opened=opened, planned=planned, asking=asking, channel=ShowingChannel, turn=turn_of)


@pytest.fixture
async def desk(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Desk]:
    """Return an installation on an empty database."""
    async with opened(tmp_path / "events.db", clock) as desk:
        yield desk


@pytest.fixture
def channel(clock: FakeClock) -> ShowingChannel:
    """Return a channel."""
    return ShowingChannel(clock)
