"""What keeps a design from going on: it costs nothing meanwhile, and no design is kept for ever."""

from __future__ import annotations

from typing import Any

import pytest
from design_runs import CONFIG, ME, Writer, design, given_reports, writing
from designs import GOAL, draft, replies, spec

from myclaw_core.runtime.quiet import QuietChannel
from myclaw_core.synthesis import store
from myclaw_core.synthesis.pipeline import GIVEN_UP_AFTER, Synthesizer
from myclaw_core.synthesis.rests import resting
from myclaw_core.synthesis.wanted import by_hand
from myclaw_core.testing import FakeClock


@pytest.fixture(autouse=True)
def green(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the sandbox tests of any draft be green."""
    given_reports(monkeypatch)


async def test_what_cannot_go_on_for_a_week_ends_and_says_why(open_agent: Any, clock: FakeClock) -> None:
    async with open_agent(config=CONFIG) as opened:
        agent = writing(opened, Writer([spec()]))
        paused = await design(agent)
        synthesizer = Synthesizer(agent, QuietChannel(), None)
        clock.advance(days=GIVEN_UP_AFTER.days, minutes=-1)
        assert (await synthesizer.go_on(paused.synthesis)).stage == "draft"
        clock.advance(minutes=1)
        ended = await synthesizer.go_on(paused.synthesis)
        assert ended.result is not None
        assert ended.result.outcome == "abandoned"
        assert str(ended.result.rejection_reason).startswith("it could not go on for 7 days: ")
        assert await resting(agent.log, agent.embedding, GOAL, clock.now()) is not None


async def test_a_question_that_waits_is_ended_by_its_own_time_alone(open_agent: Any, clock: FakeClock) -> None:
    async with open_agent(config=CONFIG + "defer_days = 30\n") as opened:
        agent = writing(opened, Writer(replies()))
        waits = await design(agent, None)
        clock.advance(days=2 * GIVEN_UP_AFTER.days)
        assert (await Synthesizer(agent, QuietChannel(), None).go_on(waits.synthesis)).stage == "approval"


@pytest.mark.parametrize("stage", ["direction", "spec"])
async def test_where_nobody_could_answer_nothing_is_spent(open_agent: Any, stage: Any) -> None:
    """It goes on where somebody is there."""
    async with open_agent(config=CONFIG + "defer_days = 0\n") as opened:
        writer = Writer([spec(), draft()])
        agent = writing(opened, writer)
        wanted = await store.request(agent.log, agent.clock, await by_hand(agent, GOAL), ME, stage=stage)
        told: list[str] = []
        stands = await Synthesizer(agent, QuietChannel(), None, lambda line: told.append(str(line))).go_on(wanted)
        assert (stands.stage, stands.result, writer.asked) == (stage, None, [])
        assert told == [
            "it cannot go on now: nobody is here to answer, and [approval] defer_days = 0 leaves no question"
        ]
