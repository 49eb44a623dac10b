"""Runs turns with answers of every sort in processes that kill themselves, one at each point: `FOLDER`.

Points are those of `tests/crash/turn_until_killed.py`: before and after each commit and each change of a file. Each
process works in a home of its own, a copy of `FOLDER/0`, until one gets through; a line tells where each died.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "crash"))

from turn_until_killed import Points, instrument

from myclaw_core.agent import Agent
from myclaw_core.approval.types import ApprovalCard, Reply
from myclaw_core.desk import SessionDesk
from myclaw_core.paths import Home
from myclaw_core.testing import FakeClock, RecordingChannel


def answer(card: ApprovalCard) -> Reply:
    """Grant what lies in `many` three times, `again.md` for good, and never anything in `secret`."""
    target = card.request.draft.action.targets[0]
    granted = "/secret/" not in target
    reach = "never" if not granted else "3_times" if "/many/" in target else "always"
    return Reply(request_id=card.request.id, granted=granted, by=card.request.sender, reach=reach)  # type: ignore[arg-type]


async def run(folder: Path, fatal: int) -> int:
    clock = FakeClock()
    points = Points(fatal)
    async with Agent.open(Home.at(folder), clock=clock) as agent:
        instrument(agent, points)
        desk = SessionDesk(
            agent,
            RecordingChannel(clock, answer),
            sender="test:me",
            roots=agent.standing_roots,
            cwd=str(agent.home.workspace),
            level="supervised",
        )
        await desk.handle("Work")
    return len(points.names)


def main(folder: Path) -> None:
    fatal = 0
    while True:
        fatal += 1
        shutil.copytree(folder / "0", folder / str(fatal))
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            passed = asyncio.run(run(folder / str(fatal), fatal))
            print(f"through after {passed} points", flush=True)
            os._exit(0)
        if os.waitpid(child, 0)[1] == 0:
            return


if __name__ == "__main__":
    main(Path(sys.argv[1]))
