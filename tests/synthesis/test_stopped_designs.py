"""A design that is stopped at any await, or that two processes want to go on with, stands so that it can go on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from attrs import define
from designing import ME, answering, configure, designing, known_report, request
from designs import NAME
from dying import desk_of
from sampling import sampled

from myclaw_core.agent import Agent
from myclaw_core.budget.book import holds
from myclaw_core.events.types import NeuronBorn, SynthesisEnded, SynthesisRequested, TraceClosed, TurnStarted
from myclaw_core.runtime.quiet import QuietChannel
from myclaw_core.synthesis import store, tests_stage
from myclaw_core.synthesis.pipeline import Synthesizer
from myclaw_core.synthesis.types import Synthesis
from myclaw_core.testing import FakeClock

STEP = sampled(17, 1)


@define
class StoppedAt:
    """Work that is stopped at its nth await.

    Attributes:
        passed: How many awaits there were.
    """

    work: Any
    nth: int
    passed: int = 0

    def __await__(self) -> Generator[Any, Any, Any]:
        """Do the work."""
        work = self.work.__await__()
        send: Callable[[], Any] = lambda: next(work)  # noqa: E731
        while True:
            try:
                awaited = send()
            except StopIteration as ended:
                return ended.value
            self.passed += 1
            if self.passed == self.nth:
                task = asyncio.current_task()
                assert task is not None
                task.cancel()
            try:
                answer = yield awaited
                send = lambda answer=answer: work.send(answer)  # noqa: E731
            except BaseException as error:
                send = lambda error=error: work.throw(error)  # noqa: E731


async def was_stopped(work: Any, nth: int) -> bool:
    """Do work that is stopped at its nth await; return whether it had so many."""
    stopped = StoppedAt(work, nth)

    async def run() -> Any:
        return await stopped

    task = asyncio.ensure_future(run())
    await asyncio.wait({task})
    assert task.cancelled() or task.exception() is None
    return stopped.passed >= nth


async def go_on(agent: Agent) -> Synthesis | None:
    """Go on with what has not ended."""
    found = [each for each in await store.standing(agent.log) if each.stage != "ended"]
    assert len(found) <= 1
    return await Synthesizer(agent, QuietChannel(), None).go_on(found[0]) if found else None


async def spent_eur(agent: Agent) -> float:
    return (await agent.services.ledger.standing()).spent_eur


async def nothing_is_open(agent: Agent) -> None:
    events = [event for _, event in await agent.log.since(0, 100_000)]
    closed = {event.trace.id for event in events if isinstance(event, TraceClosed)}
    assert {event.trace_id for event in events if isinstance(event, TurnStarted)} == closed
    assert [await agent.log.scan("turn"), await agent.services.gateway.pending()] == [[], []]
    assert await holds(agent.log) == []


@pytest.mark.sampled
async def test_a_design_that_is_stopped_at_any_await_goes_on_to_its_one_question(
    tmp_path: Path, birth_report: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it cost is told by its record as by the ledger; nothing stays open."""
    monkeypatch.setattr(tests_stage, "run_birth_tests", known_report(birth_report))
    async with Agent.open(
        configure(tmp_path, config="[budget]\nhard_eur = 1000\nsoft_eur = 1000\n"), clock=FakeClock()
    ) as opened:
        agent = designing(opened)
        for nth in count(1, STEP):
            before_eur = await spent_eur(agent)
            more = await was_stopped(Synthesizer(agent, QuietChannel(), None).synthesize(request(), ME), nth)
            await nothing_is_open(agent)
            found = await go_on(agent)
            if found is not None:
                assert (found.stage, found.retries) == ("approval", 0)
                assert found.cost_eur == pytest.approx(await spent_eur(agent) - before_eur)
                assert len(await agent.services.gateway.left()) == 1
                await desk_of(agent, answering(FakeClock(), "no")).handle("/pending")
                await go_on(agent)
            await nothing_is_open(agent)
            if not more:
                break
        events = [event for _, event in await agent.log.since(0, 100_000)]
        ended = [event.result.request_id for event in events if isinstance(event, SynthesisEnded)]
        assert nth > 100
        assert ended == [event.request_id for event in events if isinstance(event, SynthesisRequested)]


@pytest.mark.sampled
@pytest.mark.parametrize("what", ["yes", "no", "revise"])
async def test_an_answer_that_is_stopped_at_any_await_counts_or_is_asked_for_again(
    tmp_path: Path, birth_report: bytes, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setattr(tests_stage, "run_birth_tests", known_report(birth_report))
    outcomes = set()
    for nth in count(1, STEP):
        async with Agent.open(configure(tmp_path / str(nth)), clock=FakeClock()) as opened:
            agent = designing(opened)
            await Synthesizer(agent, QuietChannel(), None).synthesize(request(), ME)
            more = await was_stopped(desk_of(agent, answering(FakeClock(), what)).handle("/pending"), nth)
            found = await go_on(agent)
            await nothing_is_open(agent)
            assert found is not None
            outcomes.add(found.result.outcome if found.result else found.stage)
            assert len(await agent.services.gateway.left()) == (found.stage == "approval")
            await desk_of(agent, answering(FakeClock(), "yes")).handle("/pending")
            await go_on(agent)
            (end,) = [event for _, event in await agent.log.since(0, 10_000) if isinstance(event, SynthesisEnded)]
            born = [event for _, event in await agent.log.since(0, 10_000) if isinstance(event, NeuronBorn)]
            assert len(born) == (end.result.outcome == "born")
            assert (agent.home.neurons / NAME).is_dir() == (end.result.outcome == "born")
        if not more:
            break
    assert outcomes == {"yes": {"approval", "born"}, "no": {"approval", "abandoned"}, "revise": {"approval"}}[what]
