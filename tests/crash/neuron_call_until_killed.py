"""One turn in which a neuron writes a file, in processes that kill themselves around each commit and each change."""

from __future__ import annotations

from pathlib import Path

from dying import Points, desk_of, die_everywhere, put_around_changes
from neurons_in_turns import COPY, FILES, adopt

from myclaw_core.agent import Agent
from myclaw_core.paths import Home
from myclaw_core.testing import FakeClock


async def run(folder: Path, points: Points) -> None:
    async with Agent.open(Home.at(folder), clock=FakeClock()) as agent:
        await adopt(agent, "copy", COPY, FILES)
        put_around_changes(agent, points)
        await desk_of(agent).handle("Copy a.md to b.md")


if __name__ == "__main__":
    die_everywhere(run)
