"""Turns with answers of every sort, in processes that kill themselves before and after each commit and each change."""

from __future__ import annotations

from pathlib import Path

from dying import Points, desk_of, die_everywhere, put_around_changes

from myclaw_core.agent import Agent
from myclaw_core.approval.types import ApprovalCard, Reply
from myclaw_core.paths import Home
from myclaw_core.testing import FakeClock, RecordingChannel


def answer(card: ApprovalCard) -> Reply:
    """Grant what lies in `many` three times, `again.md` for good, and never anything in `secret`."""
    target = card.request.draft.action.targets[0]
    granted = "/secret/" not in target
    reach = "never" if not granted else "3_times" if "/many/" in target else "always"
    return Reply(request_id=card.request.id, granted=granted, by=card.request.sender, reach=reach)  # type: ignore[arg-type]


async def run(folder: Path, points: Points) -> None:
    clock = FakeClock()
    async with Agent.open(Home.at(folder), clock=clock) as agent:
        put_around_changes(agent, points)
        await desk_of(agent, RecordingChannel(clock, answer)).handle("Work")


if __name__ == "__main__":
    die_everywhere(run)
