"""`/undo` of the turn in which a neuron was let in, or its design begun: it changes nothing and says what does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from designing import ME, answering, designing, known_report, request
from designs import NAME
from dying import desk_of

from myclaw_core.agent import Agent
from myclaw_core.events.types import NeuronBorn
from myclaw_core.runtime.quiet import QuietChannel
from myclaw_core.synthesis import store, tests_stage
from myclaw_core.synthesis.pipeline import Synthesizer
from myclaw_core.testing import FakeClock, RecordingChannel

HOW = f"undo removes no neuron: 'myclaw neurons remove {NAME}' does, or /neurons remove {NAME} in a conversation"
CONFIG = "[approval]\nreading_pause_s = 0\n"


@pytest.fixture
async def agent(open_agent: Any, birth_report: bytes, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Agent]:
    monkeypatch.setattr(tests_stage, "run_birth_tests", known_report(birth_report))
    async with open_agent((), CONFIG) as opened:
        yield designing(opened)


async def said(agent: Agent, channel: RecordingChannel, *lines: str) -> str:
    """Type lines in one conversation; return what the last one shows."""
    desk = desk_of(agent, channel)
    for line in lines:
        await desk.handle(line)
    return channel.shown[-1]


async def test_undo_of_the_turn_that_let_a_neuron_in_says_how_it_is_removed(agent: Agent) -> None:
    await Synthesizer(agent, QuietChannel(), None).synthesize(request(), ME)
    told = await said(agent, answering(FakeClock(), "yes"), "/pending", "/undo")
    assert "not undone" in told
    assert HOW in told
    assert [path.name for path in agent.home.neurons.iterdir()] == [NAME]


async def test_undo_elsewhere_and_by_its_trace_says_the_same(agent: Agent) -> None:
    await Synthesizer(agent, QuietChannel(), None).synthesize(request(), ME)
    await said(agent, answering(FakeClock(), "yes"), "/pending")
    events = [event for _, event in await agent.log.since(0, 1000)]
    (born,) = [event for event in events if isinstance(event, NeuronBorn)]
    assert HOW in await said(agent, RecordingChannel(FakeClock()), "/undo")
    assert HOW in await said(agent, RecordingChannel(FakeClock()), f"/undo {born.trace_id}")


async def test_what_undo_names_removes_it(agent: Agent) -> None:
    await Synthesizer(agent, QuietChannel(), None).synthesize(request(), ME)
    await said(agent, answering(FakeClock(), "yes"), "/pending", f"/neurons remove {NAME}")
    assert list(agent.home.neurons.iterdir()) == []


async def test_undo_of_the_turn_that_let_a_design_begin_says_what_comes_next(agent: Agent) -> None:
    begun = await store.request(agent.log, agent.clock, request(), ME, stage="direction")
    await Synthesizer(agent, QuietChannel(), None).go_on(begun)
    told = await said(agent, answering(FakeClock(), "yes"), "/pending", "/undo")
    assert "a design that has begun is not taken back; say no when you are asked about its draft" in told
    (found,) = await store.standing(agent.log)
    assert found.stage == "spec"
