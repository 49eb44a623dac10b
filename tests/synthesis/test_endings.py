"""How a design ends besides by refusals, and how it does not end; what the sandbox tests show is given."""

from __future__ import annotations

from typing import Any

import pytest
from design_runs import CONFIG, ME, Design, Writer, design, given_reports, person, writing
from designs import GOAL, draft, replies, spec

from myclaw_core.agent import Agent
from myclaw_core.errors import StoreError, UsageError
from myclaw_core.events.types import SynthesisEnded
from myclaw_core.runtime.quiet import QuietChannel
from myclaw_core.synthesis import pipeline, spec_stage, store
from myclaw_core.synthesis.materials import Materials
from myclaw_core.synthesis.pipeline import Synthesizer
from myclaw_core.synthesis.rests import resting
from myclaw_core.synthesis.wanted import by_hand
from myclaw_core.testing import FakeClock, RecordingChannel
from myclaw_core.types.text import Text


@pytest.fixture(autouse=True)
def green(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the sandbox tests of any draft be green."""
    given_reports(monkeypatch)


async def designed(open_agent: Any, writer: Writer, *answers: Any, config: str = "", **options: Any) -> Design:
    async with open_agent(config=CONFIG + config) as agent:
        return await design(writing(agent, writer), *answers, **options)


async def test_a_no_ends_it_with_a_rest_of_a_day(open_agent: Any, clock: FakeClock) -> None:
    """To the minute; the same goal in other letters is the same."""
    async with open_agent(config=CONFIG) as agent:
        writer = Writer(replies(draft(), spec(), draft()))
        ended = await design(writing(agent, writer), False)
        assert ended.end == ("abandoned", 0)
        assert ended.result.rejection_reason == "you did not let it in"
        rested = await resting(agent.log, agent.embedding, GOAL.upper(), clock.now())
        assert rested is not None
        with pytest.raises(UsageError, match=f"rests until {rested.until.astimezone():%Y-%m-%d}"):
            await by_hand(agent, GOAL.upper())
        clock.advance(hours=23)
        with pytest.raises(UsageError, match="given up lately"):
            await by_hand(agent, GOAL)
        clock.advance(hours=1)
        assert (await by_hand(agent, GOAL)).goal == GOAL


async def test_a_goal_that_became_a_neuron_does_not_rest(open_agent: Any, clock: FakeClock) -> None:
    async with open_agent(config=CONFIG) as agent:
        assert (await design(writing(agent, Writer(replies())), True)).end == ("born", 0)
        assert await resting(agent.log, agent.embedding, GOAL, clock.now()) is None


async def test_the_end_and_the_rest_are_one_transaction(open_agent: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the rest cannot be written, it has not ended either, and the next run ends it."""

    async def broken(*_args: Any, **_options: Any) -> None:
        raise StoreError(Text("the disk is full"))

    async with open_agent(config=CONFIG) as agent:
        writer = Writer([spec(capabilities_requested=["shell:git"])] * 6)
        with monkeypatch.context() as patch:
            patch.setattr(pipeline, "rest", broken)
            with pytest.raises(StoreError, match="the disk is full"):
                await design(writing(agent, writer))
        (left,) = await store.standing(agent.log)
        assert (left.stage, left.result, left.vetoes) == ("spec", None, 2)
        assert not any(isinstance(event, SynthesisEnded) for _, event in await agent.log.since(0, 1000))

        ended = await going_on(writing(agent, writer), left.id)
        assert ended.stage == "ended"
        assert await resting(agent.log, agent.embedding, GOAL, agent.clock.now()) is not None


async def going_on(agent: Agent, request_id: Any) -> Any:
    found = await store.find(agent.log, request_id)
    assert found is not None
    return await Synthesizer(agent, QuietChannel(), None).go_on(found)


async def test_a_model_that_cannot_be_had_leaves_it_where_it_is(open_agent: Any) -> None:
    """It costs no retry, and goes on with the next run."""
    async with open_agent(config=CONFIG) as agent:
        paused = await design(writing(agent, Writer([spec()])))
        assert (paused.synthesis.stage, paused.synthesis.retries, paused.synthesis.result) == ("draft", 0, None)
        assert any(line.startswith("it cannot go on now") for line in paused.told)
        later = await going_on(writing(agent, Writer([draft()])), paused.synthesis.id)
        assert later.stage == "approval"


@pytest.mark.parametrize("where", ["spec", "materials"])
async def test_a_stage_that_breaks_is_an_end_like_another(
    open_agent: Any, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """One line says where; nothing is raised."""

    def broken(*_args: Any, **_options: Any) -> Any:
        raise RuntimeError("a mistake of ours\nwith details")

    if where == "spec":
        monkeypatch.setattr(spec_stage, "fit_problems", broken)
    else:
        monkeypatch.setattr(Materials, "of", broken)
    ended = await designed(open_agent, Writer(replies()))
    assert ended.end == ("abandoned", 0)
    assert str(ended.result.rejection_reason).startswith("the stage spec broke off: ")
    assert "\n" not in str(ended.result.rejection_reason)


async def test_a_channel_that_cannot_ask_loses_no_draft(open_agent: Any) -> None:
    """Its question waits, and is put again."""

    class Broken(RecordingChannel):
        async def ask(self, cards: Any, submit: Any) -> None:
            raise OSError("the line was cut")

    told: list[str] = []
    async with open_agent(config=CONFIG) as opened:
        agent = writing(opened, Writer(replies()))
        synthesizer = Synthesizer(agent, QuietChannel(), Broken(opened.clock), lambda line: told.append(str(line)))
        left = await synthesizer.synthesize(await by_hand(agent, GOAL), ME)
        assert (left.stage, left.result) == ("approval", None), told
        assert told[-1] == "it cannot go on now: the channel test could not ask: OSError: the line was cut"
        assert len(await agent.services.gateway.left()) == 1

        again = Synthesizer(agent, QuietChannel(), person(agent, True))
        born = (await again.go_on(left)).result
        assert born is not None
        assert (born.outcome, await agent.services.gateway.left()) == ("born", [])
