"""What the daemon does each night beyond the work itself."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import pytest

from myclaw_core.agent import Agent
from myclaw_core.errors import MyclawError
from myclaw_core.paths import Home
from myclaw_core.serve.health import Board
from myclaw_core.serve.lock import sole_instance
from myclaw_core.serve.night import core_jobs
from myclaw_core.testing import FakeClock, says

Open = Callable[..., AbstractAsyncContextManager[Agent]]


async def night(agent: Agent, home: Home, clock: FakeClock) -> None:
    """Do the work of a night."""
    clock.advance(days=1)
    with sole_instance(home, clock) as owner:
        (job,) = core_jobs(agent, Board(home, owner, clock))
        await job.run()


async def test_after_a_night_a_start_checks_only_what_came_since(
    open_agent: Open, make_desk: Callable[..., object], home: Home, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A daemon that ran for months may be killed before it stops."""
    async with open_agent([says("Hello.")]) as agent:
        await make_desk(agent).handle("Hi")
        before = (await agent.log.verify_tail()).checked
        await night(agent, home, clock)
        assert (await agent.log.verify_tail()).checked < before


async def test_a_record_that_breaks_while_the_daemon_runs_is_noticed_at_night(
    open_agent: Open, make_desk: Callable[..., object], home: Home, clock: FakeClock
) -> None:
    """From then on every action asks."""
    async with open_agent([says("Hello.")]) as agent:
        await make_desk(agent).handle("Hi")
        await agent.record_check.ready()
        assert agent.record_check.problem is None
        with sqlite3.connect(home.state / "events.db") as database:
            database.execute("DROP TRIGGER bodies_never_change")
            database.execute("UPDATE bodies SET body = x'7b7d' WHERE seq = (SELECT max(seq) FROM bodies)")
        database.close()
        with pytest.raises(MyclawError):
            await night(agent, home, clock)
        assert "the event log is not whole" in str(agent.record_check.problem)
