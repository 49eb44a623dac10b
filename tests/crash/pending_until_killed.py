"""Questions that are left and answered, in processes that kill themselves, one at each point.

Points are before and after each commit of the log and each change of a file.
"""

from __future__ import annotations

from pathlib import Path

from dying import Points, desk_of, die_everywhere, put_around_changes

from myclaw_core.agent import Agent
from myclaw_core.approval.types import ApprovalCard
from myclaw_core.paths import Home
from myclaw_core.testing import FakeClock, RecordingChannel


class LogPoints:
    """Leaves out the trust store, which only follows."""

    def __init__(self, points: Points) -> None:
        self._points = points

    def reach(self, name: str) -> None:
        if "trust" not in name:
            self._points.reach(name)


def answer(card: ApprovalCard) -> bool:
    """Grant `yes.md`, deny `no.md`."""
    return card.request.draft.action.targets[0].endswith("/yes.md")


class Patient(RecordingChannel):
    """Waits until both cards are there."""

    async def ask(self, cards, submit) -> None:  # type: ignore[no-untyped-def]
        while len(cards) < 2:
            await cards.changed()
        await super().ask(cards, submit)


async def run(folder: Path, points: Points) -> None:
    clock = FakeClock()
    async with Agent.open(Home.at(folder), clock=clock) as agent:
        put_around_changes(agent, LogPoints(points))
        await desk_of(agent, RecordingChannel(clock, attended=False)).handle("Work")
        await desk_of(agent, Patient(clock, answer)).handle("/pending")


if __name__ == "__main__":
    die_everywhere(run)
