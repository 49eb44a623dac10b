"""Leaves questions and answers them in processes that kill themselves, one at each point: `FOLDER`.

Points are those of `turn_until_killed.py` without the trust store: before and after each commit of the log and each
change of a file. Each process works in a home of its own, a copy of `FOLDER/0`, until one gets through; a line tells
where each died.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from turn_until_killed import Points, instrument

from myclaw_core.agent import Agent
from myclaw_core.approval.types import ApprovalCard
from myclaw_core.desk import SessionDesk
from myclaw_core.paths import Home
from myclaw_core.testing import FakeClock, RecordingChannel


class LogPoints(Points):
    """Leaves out the trust store, which only follows."""

    def reach(self, name: str) -> None:
        if "trust" not in name:
            super().reach(name)


def answer(card: ApprovalCard) -> bool:
    """Grant `yes.md`, deny `no.md`."""
    return card.request.draft.action.targets[0].endswith("/yes.md")


def desk_of(agent: Agent, channel: RecordingChannel) -> SessionDesk:
    return SessionDesk(
        agent,
        channel,
        sender="test:me",
        roots=agent.standing_roots,
        cwd=str(agent.home.workspace),
        level="supervised",
    )


class Patient(RecordingChannel):
    """Waits until both cards are there."""

    async def ask(self, cards, submit) -> None:  # type: ignore[no-untyped-def]
        while len(cards) < 2:
            await cards.changed()
        await super().ask(cards, submit)


async def run(folder: Path, fatal: int) -> int:
    clock = FakeClock()
    points = LogPoints(fatal)
    async with Agent.open(Home.at(folder), clock=clock) as agent:
        instrument(agent, points)
        await desk_of(agent, RecordingChannel(clock, attended=False)).handle("Work")
        await desk_of(agent, Patient(clock, answer)).handle("/pending")
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
        status = os.waitpid(child, 0)[1]
        if status == 0:
            return
        if not os.WIFSIGNALED(status):
            sys.exit(f"the process that was to die at point {fatal} failed")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
