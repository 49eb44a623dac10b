"""The seven stages with a scripted model: how each refusal ends, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from designs import BODY, GOAL, NAME, draft, replies, spec

from myclaw_core.agent import Agent
from myclaw_core.approval.types import ApprovalRequest, Reply
from myclaw_core.runtime.answering import AnsweringChannel
from myclaw_core.runtime.quiet import QuietChannel
from myclaw_core.synthesis.pipeline import Synthesizer
from myclaw_core.synthesis.types import Revision, Synthesis
from myclaw_core.synthesis.wanted import by_hand

ME = "cli:me"
CONFIG = "[approval]\nreading_pause_s = 0\n"


def person(*answers: bool | Revision) -> AnsweringChannel:
    """Return somebody who gives these answers, one to each question."""
    left = list(answers)

    def answer(request: ApprovalRequest) -> Reply:
        said = left.pop(0)
        if isinstance(said, Revision):
            return Reply(request_id=request.id, granted=False, by=ME, revision=said)
        return Reply(request_id=request.id, granted=said, by=ME)

    return AnsweringChannel(name="test", answer=answer)


async def designed(agent: Agent, channel: Any, told: list[str] | None = None) -> Synthesis:
    lines: list[str] = told if told is not None else []
    synthesizer = Synthesizer(agent, QuietChannel(), channel, lambda line: lines.append(str(line)))
    return await synthesizer.synthesize(await by_hand(agent, GOAL), ME)


def names_of(agent: Agent) -> Sequence[str]:
    return [name for name in agent.services.tools if name.startswith("neuron:")]


async def test_a_goal_becomes_a_neuron_after_one_yes(open_agent: Any) -> None:
    told: list[str] = []
    async with open_agent(replies(), CONFIG) as agent:
        synthesis = await designed(agent, person(True), told)
        result = synthesis.result
        assert result is not None
        assert (result.outcome, result.neuron_name, result.retries_used) == ("born", NAME, 0)
        await agent.services.neurons.refresh()
        assert names_of(agent) == [f"neuron:{NAME}"]
    assert [line.partition(":")[0] for line in told if ":" in line] == ["spec", "draft", "analysis", "tests", "born"]


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (draft(body="import os\n\n\nasync def run(ctx, args):\n    return {'count': 1}\n"), "os"),
        (draft(tests="async def test_one(run):\n    assert await run({'text': ''}) == {'count': 0}\n"), "test"),
        ({"text": "I cannot do that."}, "==="),
    ],
)
async def test_a_bad_draft_costs_a_retry_and_the_next_one_is_told_why(open_agent: Any, bad: Any, why: str) -> None:
    async with open_agent(replies(bad, draft()), CONFIG) as agent:
        told: list[str] = []
        synthesis = await designed(agent, person(True), told)
        assert synthesis.result is not None
        assert (synthesis.result.outcome, synthesis.result.retries_used) == ("born", 1)
        assert any("refused" in line and why in line for line in told)


async def test_the_fourth_refusal_is_the_end(open_agent: Any) -> None:
    bad = {"text": "no files here"}
    async with open_agent(replies(bad, bad, bad, bad), CONFIG) as agent:
        result = (await designed(agent, person())).result
        assert result is not None
        assert (result.outcome, result.retries_used) == ("abandoned", 3)
        await agent.services.neurons.refresh()
        assert names_of(agent) == []


async def test_a_no_is_the_end_and_a_revision_costs_a_retry(open_agent: Any) -> None:
    async with open_agent([*replies(), draft(body=BODY.replace("Counts words", "Word counts"))], CONFIG) as agent:
        revised = Revision(stage="draft", text="shorter names, please")
        result = (await designed(agent, person(revised, False))).result
        assert result is not None
        assert (result.outcome, result.retries_used) == ("abandoned", 1)


async def test_what_is_forbidden_costs_no_retry(open_agent: Any) -> None:
    forbidden = spec(capabilities_requested=["fs-read:~/.ssh/*"])
    async with open_agent([forbidden, *replies()], CONFIG) as agent:
        synthesis = await designed(agent, person(True))
        assert synthesis.result is not None
        assert (synthesis.result.outcome, synthesis.retries, synthesis.vetoes) == ("born", 0, 1)
