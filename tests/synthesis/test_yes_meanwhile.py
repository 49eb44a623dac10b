"""A yes to the beginning of a design that is given while another process looks at its question is not lost."""

from __future__ import annotations

from typing import Any

import pytest
from design_runs import CONFIG, ME, Writer, given_reports, writing
from designing import answering, request
from designs import replies
from dying import desk_of

from myclaw_core.runtime.quiet import QuietChannel
from myclaw_core.synthesis import store
from myclaw_core.synthesis.gate import Gate
from myclaw_core.synthesis.pipeline import Synthesizer
from myclaw_core.testing import FakeClock


async def test_a_yes_after_a_look_and_before_its_record_lets_the_design_begin(
    open_agent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the look found is out of date then and is not recorded: else the design would wait for ever."""
    given_reports(monkeypatch)
    looked, answers = Gate.direction, []

    async def direction(self: Gate, synthesis: Any) -> Any:
        move = await looked(self, synthesis)
        answers.append(await desk_of(agent, answering(FakeClock(), "yes")).handle("/pending"))
        return move

    monkeypatch.setattr(Gate, "direction", direction)
    told: list[str] = []
    async with open_agent(config=CONFIG) as opened:
        agent = writing(opened, Writer(replies()))
        wanted = await store.request(agent.log, agent.clock, request(), ME, stage="direction")
        stands = await Synthesizer(agent, QuietChannel(), None, lambda line: told.append(str(line))).go_on(wanted)
        assert len(answers) == 1
        assert stands.stage == "approval", told
        assert await store.find(agent.log, wanted.id) == stands
