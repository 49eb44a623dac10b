"""Several processes that go on with one design at once: one does, and what was answered in one counts in all."""

from __future__ import annotations

import asyncio
import os
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from designing import ME, answering, configure, designing, known_report, request
from designs import NAME
from dying import desk_of

from myclaw_core.agent import Agent
from myclaw_core.clock import SystemClock
from myclaw_core.events.types import NeuronBorn, QuestionDeferred, SynthesisEnded
from myclaw_core.paths import Home
from myclaw_core.runtime.quiet import QuietChannel
from myclaw_core.synthesis import store, tests_stage
from myclaw_core.synthesis.lock import BusyError
from myclaw_core.synthesis.pipeline import Synthesizer
from myclaw_core.synthesis.types import Synthesis
from myclaw_core.testing import FakeClock


async def gone_on(agent: Agent) -> Synthesis:
    (found,) = await store.standing(agent.log)
    return await Synthesizer(agent, QuietChannel(), None).go_on(found)


async def once(agent: Agent) -> None:
    """Go on where no other process does."""
    try:
        await gone_on(agent)
    except BusyError:
        return


async def say_yes(agent: Agent) -> None:
    """Give the answer."""
    await desk_of(agent, answering(FakeClock(), "yes")).handle("/pending")


def at_once(home: Home, *works: Callable[[Agent], Awaitable[None]]) -> Sequence[int]:
    """Do each work in a process of its own, all of them from the same moment; return how they ended."""
    ready, go = os.pipe(), os.pipe()

    async def work_in(work: Callable[[Agent], Awaitable[None]]) -> None:
        async with Agent.open(home, clock=SystemClock()) as opened:
            os.write(ready[1], b".")
            os.read(go[0], 1)
            await work(designing(opened))

    def in_a_process(work: Callable[[Agent], Awaitable[None]]) -> int:
        child = os.fork()
        if child:
            return child
        code = 1
        try:
            os.close(go[1])
            asyncio.run(work_in(work))
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)

    children = [in_a_process(work) for work in works]
    for _ in works:
        os.read(ready[0], 1)
    os.close(go[1])
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    for each in (*ready, go[0]):
        os.close(each)
    return codes


@pytest.fixture
def home(tmp_path: Path, birth_report: bytes, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home in which a neuron is wanted, and nothing is done about it so far."""
    folder = tmp_path / "home"

    async def prepare() -> None:
        async with Agent.open(configure(folder), clock=SystemClock()) as agent:
            await store.request(agent.log, agent.clock, request(), ME)

    asyncio.run(prepare())
    monkeypatch.setattr(tests_stage, "run_birth_tests", known_report(birth_report))
    return Home.at(folder)


def seen(home: Home, look: Callable[[Agent], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with Agent.open(home, clock=SystemClock()) as agent:
            return await look(agent)

    return asyncio.run(run())


def test_of_processes_that_go_on_at_once_one_does(home: Home) -> None:
    assert at_once(home, once, once, once) == [0, 0, 0]

    async def look(agent: Agent) -> None:
        (found,) = await store.standing(agent.log)
        assert (found.stage, found.retries) == ("approval", 0)
        assert found.cost_eur == pytest.approx((await agent.services.ledger.standing()).spent_eur)
        left = [event for _, event in await agent.log.since(0, 10_000) if isinstance(event, QuestionDeferred)]
        assert len(left) == len(await agent.services.gateway.left()) == 1

    seen(home, look)


def test_two_answers_at_once_and_others_that_look_let_it_in_once(home: Home) -> None:
    assert at_once(home, once) == [0]
    assert at_once(home, once, say_yes, once, say_yes) == [0, 0, 0, 0]

    async def look(agent: Agent) -> None:
        await gone_on(agent)
        events = [event for _, event in await agent.log.since(0, 10_000)]
        (end,) = [event.result for event in events if isinstance(event, SynthesisEnded)]
        assert (end.outcome, end.retries_used) == ("born", 0)
        assert sum(isinstance(event, NeuronBorn) for event in events) == 1
        assert sum(isinstance(event, QuestionDeferred) for event in events) == 1
        assert [path.name for path in agent.home.neurons.iterdir()] == [NAME]
        assert (await agent.log.verify()).ok

    seen(home, look)


@pytest.mark.parametrize(
    ("what", "outcome", "questions"), [("yes", "born", 1), ("no", "abandoned", 1), ("revise", None, 2)]
)
def test_whoever_looks_after_each_commit_of_an_answer_takes_nothing_for_its_end(
    home: Home, what: str, outcome: str | None, questions: int
) -> None:
    """Also between a yes and the moment when it has been followed."""

    async def answered(agent: Agent) -> None:
        looks = 0
        async with Agent.open(home, clock=SystemClock()) as opened:
            other = designing(opened)
            plain = agent.log._store.transaction  # type: ignore[attr-defined]

            @asynccontextmanager
            async def transaction() -> AsyncIterator[Any]:
                nonlocal looks
                async with plain() as tx:
                    yield tx
                looks += 1
                await gone_on(other)

            agent.log._store.transaction = transaction  # type: ignore[attr-defined]
            await desk_of(agent, answering(FakeClock(), what)).handle("/pending")
            agent.log._store.transaction = plain  # type: ignore[attr-defined]
            found = await gone_on(other)
        events = [event for _, event in await agent.log.since(0, 10_000)]
        assert looks > 5
        assert (found.result.outcome if found.result else None) == outcome
        assert len({event.request_id for event in events if isinstance(event, QuestionDeferred)}) == questions
        assert sum(isinstance(event, NeuronBorn) for event in events) == (outcome == "born")
        assert sum(isinstance(event, SynthesisEnded) for event in events) == (outcome is not None)

    assert at_once(home, once) == [0]
    seen(home, answered)
