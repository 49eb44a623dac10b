"""A revision of a draft that was left, in processes that kill themselves before and after each commit of the log."""

from __future__ import annotations

from pathlib import Path

from dying import Points, desk_of, die_everywhere, put_around_commits

from myclaw_core.agent import Agent
from myclaw_core.paths import Home
from myclaw_core.testing import FakeClock


async def run(folder: Path, points: Points) -> None:
    clock = FakeClock()
    for _ in range(1000):
        clock.new_id()  # ids of the process that left it
    async with Agent.open(Home.at(folder), clock=clock) as agent:
        put_around_commits(agent.log._store, points, "the log")
        (left,) = await agent.services.gateway.left()
        await desk_of(agent).handle(f"/revise {left.sealed.args['digest'][:8]} draft shorter")


if __name__ == "__main__":
    die_everywhere(run)
