"""What a design may cost: the budget of its request and that of the day; what the sandbox tests show is given."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from design_runs import CONFIG, IMPORTS, Design, Writer, design, given_reports, writing
from designs import BODY, GOAL, draft, replies
from wire_openai import WireServer

from myclaw_core.budget.types import MICRO
from myclaw_core.errors import UnavailableError
from myclaw_core.synthesis import store
from myclaw_core.synthesis.types import Revision
from myclaw_core.synthesis.wanted import by_hand


@pytest.fixture(autouse=True)
def green(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the sandbox tests of any draft be green."""
    given_reports(monkeypatch)


async def designed(open_agent: Any, writer: Writer, *answers: Any, config: str = "", **options: Any) -> Design:
    async with open_agent(config=CONFIG + config) as agent:
        return await design(writing(agent, writer), *answers, **options)


async def test_the_budget_of_the_request_ends_it_midway(open_agent: Any) -> None:
    """A call is not made whose worst case is more than is left; what was spent is told."""
    prices = (
        "[synthesis]\nmax_output_tokens = 4000\n[budget]\nusd_per_eur = 1.0\n"
        '[budget.prices."claude-sonnet-5-5"]\nin = 0.0\ncached = 0.0\nout = 100.0\n'
    )
    writer = Writer(replies(), free=False)
    ended = await designed(open_agent, writer, config=prices, budget_eur=0.45)

    assert ended.end == ("abandoned", 0)
    assert writer.stages == ["spec"]
    assert ended.result.cost_cents == pytest.approx(10.0)
    assert ended.result.rejection_reason == (
        "another call may cost 0.4000 EUR, and the budget of the request leaves 0.3500 EUR; "
        "--budget or [synthesis] budget_eur sets it"
    )


async def test_each_call_of_each_attempt_counts_against_the_budget_of_the_request(open_agent: Any) -> None:
    """What a design has cost is what its calls have, and stays known over its runs."""
    writer = Writer([*replies(IMPORTS, draft()), draft(body=f"{BODY}\n\n# b\n")], free=False)
    async with open_agent(config=CONFIG) as agent:
        ended = await design(writing(agent, writer), Revision(stage="draft", text="again"), True, budget_eur=2.0)
        spent_eur = (await agent.services.ledger.standing()).spent_eur
    assert ended.end == ("born", 2)
    assert spent_eur > 0
    assert ended.result.cost_cents == pytest.approx(spent_eur * 100, abs=100 * len(writer.asked) / MICRO)


@pytest.mark.parametrize(("caps", "answers"), [("hard_eur = 0.001\nsoft_eur = 0.001", []), ("soft_eur = 0", [False])])
async def test_the_caps_of_the_day_end_it(open_agent: Any, caps: str, answers: list[bool]) -> None:
    """Past the soft one the person is asked first."""
    writer = Writer(replies(), free=False)
    ended = await designed(open_agent, writer, *answers, config=f"[budget]\n{caps}\n", budget_eur=2.0)
    assert (ended.end, writer.asked) == (("abandoned", 0), [])
    assert len(ended.channel.cards) == len(answers)


async def test_after_a_yes_it_goes_on_past_the_soft_cap(open_agent: Any) -> None:
    writer = Writer(replies(), free=False)
    ended = await designed(open_agent, writer, True, True, config="[budget]\nsoft_eur = 0\n", budget_eur=2.0)
    assert ended.end == ("born", 0)


async def test_a_day_that_is_used_up_is_told_before_anything_is_recorded(open_agent: Any) -> None:
    async with open_agent(config=CONFIG + "[budget]\nsoft_eur = 0\nhard_eur = 0\n") as agent:
        with pytest.raises(UnavailableError, match="the budget of the day is used up"):
            await by_hand(agent, GOAL)
        assert await store.standing(agent.log) == []


async def test_a_model_behind_http_is_paid_for_and_told_what_was_wrong(open_agent: Any) -> None:
    """The same over the wire: what is sent is what the author worded, and the answer's tokens are what it cost."""
    usage = {"input_tokens": 1000, "output_tokens": 1000}
    script = [reply | {"usage": usage} for reply in replies(IMPORTS, draft())]
    with WireServer(script) as server:
        config = (
            f'[openai]\nbase_url = "{server.base_url}/v1"\n[budget.prices.tiny]\nin = 1.0\ncached = 0.1\nout = 2.0\n'
        )
        async with open_agent(config=CONFIG + config) as agent:
            served = evolve(agent.services, provider=agent.dispatcher.models()["openai"])
            settings = evolve(served.config, agent=evolve(served.config.agent, provider="openai", model="tiny"))
            ended = await design(evolve(agent, services=evolve(served, config=settings)), True, budget_eur=1.0)
            spent_eur = (await agent.services.ledger.standing()).spent_eur
        sent = [str(request.get("body", request)) for request in server.requests]
    assert ended.end == ("born", 1)
    assert ended.result.cost_cents == pytest.approx(spent_eur * 100, abs=0.001)
    assert "What was wrong with the last attempt" in sent[2]
