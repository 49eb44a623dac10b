"""An action that spends: set aside with its intent, booked with its end, refused where others were faster."""

import asyncio
from types import ModuleType
from uuid import UUID

import pytest
from attrs import evolve

from myclaw_core import hookimpl
from myclaw_core.agent import Agent
from myclaw_core.compose import load_plugins
from myclaw_core.errors import ToolFailure
from myclaw_core.events.types import StepIntended
from myclaw_core.runtime.tool import EffectSpec, Tool
from myclaw_core.runtime.types import ToolResult
from myclaw_core.testing import FakeClock, RecordingChannel, calls, says

BUY = calls(("buy", {"eur": 1.5}))
CONFIG = "[budget]\nsoft_eur = 2.0\nhard_eur = 2.0\nusd_per_eur = 1.2\n[policy]\nper_minute_per_class = 2\n"


def shop(home, run):
    """Return the installed plugins and one that sells."""
    tool = Tool(
        name="buy",
        description="",
        schema={"type": "object", "properties": {"eur": {"type": "number"}}},
        effects=(EffectSpec(kind="cost_spend", arg="eur"),),
        run=run,
    )
    plugins = load_plugins(home)
    module = ModuleType("shop")
    module.myclaw_tools = hookimpl(lambda: [tool])
    module.myclaw_tools.__name__ = "myclaw_tools"
    plugins.manager.register(module, "shop")
    return evolve(plugins, reports=(*plugins.reports, evolve(plugins.reports[0], name="shop", distribution="shop")))


async def bought(args, context) -> ToolResult:
    return ToolResult(text="bought")


async def spent_and_reserved(agent: Agent) -> tuple[float, float]:
    standing = await agent.services.ledger.standing()
    return standing.spent_eur, standing.reserved_eur


async def test_it_is_reserved_while_it_runs_and_booked_when_it_is_done(open_agent, make_desk, home) -> None:
    seen = []

    async def run(args, context) -> ToolResult:
        seen.append(await spent_and_reserved(agent))
        return ToolResult(text="bought")

    async with open_agent([BUY, says("Done.")], config=CONFIG, plugins=shop(home, run)) as agent:
        trace = await make_desk(agent).handle("Buy it")
        after = await spent_and_reserved(agent)

    assert seen == [(0.0, 1.5)]
    assert after == (1.5, 0.0)
    assert (trace.steps[0].state, trace.steps[0].cost_usd, trace.cost_usd) == ("done", 1.8, 1.8)


async def says_it_failed(args, context) -> ToolResult:
    raise ToolFailure("sold out")


async def breaks_off(args, context) -> ToolResult:
    raise ConnectionResetError("after the order was sent")


async def returns_nothing(args, context) -> None:
    return None


@pytest.mark.parametrize(
    ("run", "cost_eur"),
    [(says_it_failed, 0.0), (breaks_off, 1.5), (returns_nothing, 1.5)],
    ids=["said", "broke", "odd"],
)
async def test_only_a_tool_that_says_that_it_failed_gets_its_money_back(
    open_agent, make_desk, home, run, cost_eur: float
) -> None:
    async with open_agent([BUY, says("No.")], config=CONFIG, plugins=shop(home, run)) as agent:
        trace = await make_desk(agent).handle("Buy it")
        after = await spent_and_reserved(agent)

    assert trace.steps[0].state == "failed"
    assert after == (cost_eur, 0.0)
    assert trace.cost_usd == pytest.approx(cost_eur * 1.2)


async def test_one_that_was_stopped_may_have_spent(open_agent, make_desk, home) -> None:
    started = asyncio.Event()

    async def run(args, context) -> ToolResult:
        started.set()
        await asyncio.Event().wait()
        raise AssertionError

    async with open_agent([BUY, says("No.")], config=CONFIG, plugins=shop(home, run)) as agent:
        turn = asyncio.create_task(make_desk(agent).handle("Buy it"))
        await started.wait()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert await spent_and_reserved(agent) == (1.5, 0.0)


class BusyElsewhere(RecordingChannel):
    """A person who answers yes after another process has been busy."""

    def __init__(self, clock: FakeClock, other: Agent, what: str) -> None:
        super().__init__(clock)
        self._other = other
        self._what = what

    async def ask(self, cards, submit) -> None:
        services = self._other.services
        async with services.log.transaction() as tx:
            if self._what == "spends":
                await services.ledger.hold(tx, UUID(int=5), 1.0)
            else:
                for _ in range(2):
                    await services.rates.count(tx, "test:other", ["cost_spend:buy"], services.clock.now())
        await super().ask(cards, submit)


@pytest.mark.parametrize(("what", "words"), [("spends", "hard cap"), ("acts", "limit of 2 a minute")])
async def test_what_another_process_used_up_meanwhile_refuses_the_intent_and_the_turn_goes_on(
    open_agent, make_desk, home, clock: FakeClock, what: str, words: str
) -> None:
    """It was judged while there was room, and granted; nothing ran, nothing was used up, the grant is not consumed."""
    async with (
        open_agent([BUY, says("Not bought.")], config=CONFIG, plugins=shop(home, bought)) as agent,
        Agent.open(home, clock=clock, plugins=shop(home, bought)) as other,
    ):
        channel = BusyElsewhere(clock, other, what)
        trace = await make_desk(agent, channel).handle("Buy it")
        after = await spent_and_reserved(agent)
        intents = [event for _, event in await agent.log.events(trace.id, StepIntended)]

    (step,) = trace.steps
    assert (step.state, step.error.kind, intents) == ("failed", "denied", [])
    assert words in str(step.error.message)
    assert "".join(channel.texts) == "Not bought."
    assert after == (0.0, 1.0 if what == "spends" else 0.0)
    assert [approval.verdict for approval in trace.approvals] == ["granted", "expired"]
