"""Runs one turn in a process that a test kills: `HOME_DIR PROJECT`."""

import asyncio
import sys
from pathlib import Path

from myclaw_core.agent import Agent
from myclaw_core.desk import SessionDesk
from myclaw_core.paths import Home
from myclaw_core.testing import FakeClock, RecordingChannel


async def run(home: str, project: str) -> None:
    async with Agent.open(Home.at(Path(home))) as agent:
        desk = SessionDesk(
            agent,
            RecordingChannel(FakeClock()),
            sender="test:me",
            roots=(*agent.standing_roots, project),
            cwd=project,
            level="supervised",
        )
        await desk.handle("Go")


if __name__ == "__main__":
    asyncio.run(run(*sys.argv[1:]))
