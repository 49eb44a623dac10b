"""A design of a neuron in processes that kill themselves, one at each point: `FOLDER STEP ACT`.

Points are after each commit of the log and around each call that changes files; with `tests` they are after each birth
test, and tell which processes run then.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from designing import ME, REPORT, answering, designing, known_report, request
from dying import Points, desk_of, die_everywhere, put_around_commits, put_around_file_calls

from myclaw_core.agent import Agent
from myclaw_core.neurons.birth import run_birth_tests
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


def children() -> str:
    """Return the processes that this one has started."""
    found = [path.read_text() for path in Path("/proc/self/task").glob("*/children")]
    return " ".join(found)


async def run(folder: Path, points: Points) -> None:
    async with Agent.open(Home.at(folder), clock=FakeClock()) as opened:
        agent = designing(opened)
        if sys.argv[3] == "tests":
            tell = partial(run_birth_tests, tell=lambda _test: points.reach(children()))
            tests_stage.run_birth_tests = tell
            await act(agent, "request")
            return
        tests_stage.run_birth_tests = known_report((folder / REPORT).read_bytes())
        put_around_commits(agent.log._store, points, "the log", before=False)
        put_around_file_calls(points)
        await act(agent, sys.argv[3])


if __name__ == "__main__":
    die_everywhere(run)
