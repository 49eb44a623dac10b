"""A design of a neuron in processes that kill themselves, one at each point: `FOLDER STEP ACT`.

Points are after each commit of the log and around each call that changes files.
"""

from __future__ import annotations

import sys
from pathlib import Path

from designing import ME, answering, designing, known_report, read_report, request
from dying import Points, desk_of, die_everywhere, put_around_commits, put_around_file_calls

from myclaw_core.agent import Agent
from myclaw_core.paths import Home
from myclaw_core.runtime.quiet import QuietChannel
from myclaw_core.synthesis import store, tests_stage
from myclaw_core.synthesis.pipeline import Synthesizer
from myclaw_core.testing import FakeClock


async def go_on(agent: Agent) -> None:
    """Go on with every design, as whoever serves them does."""
    for each in await store.standing(agent.log):
        await Synthesizer(agent, QuietChannel(), None).go_on(each)


async def act(agent: Agent, what: str) -> None:
    """Do what is named: begin a design, or give an answer to the question that it left and go on."""
    if what == "request":
        await Synthesizer(agent, QuietChannel(), None).synthesize(request(), ME)
        return
    if what.startswith("direction"):
        await store.request(agent.log, agent.clock, request(), ME, stage="direction")
        await go_on(agent)
    await desk_of(agent, answering(agent.clock, what)).handle("/pending")
    await go_on(agent)


async def run(folder: Path, points: Points) -> None:
    tests_stage.run_birth_tests = known_report(read_report(folder))
    async with Agent.open(Home.at(folder), clock=FakeClock()) as opened:
        agent = designing(opened)
        put_around_commits(agent.log._store, points, "the log", before=False)
        put_around_file_calls(points)
        await act(agent, sys.argv[3])


if __name__ == "__main__":
    die_everywhere(run)
