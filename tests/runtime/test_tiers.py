"""A model call goes to the tier of its purpose, whatever models there are; none picks its own."""

from typing import Any

import pytest
from attrs import evolve

from myclaw_core.agent import Agent
from myclaw_core.budget.account import Account
from myclaw_core.budget.purposes import TIER_OF_PURPOSE, PurposeUnknownError
from myclaw_core.errors import UnavailableError
from myclaw_core.runtime.calling import ModelCaller
from myclaw_core.runtime.failover import ModelChoice
from myclaw_core.runtime.model import ModelReply, ModelRequest
from myclaw_core.runtime.services import Services
from myclaw_core.runtime.traces import new_trace
from myclaw_core.runtime.types import Message, Turn, Usage
from myclaw_core.testing import FakeClock, RecordingChannel

LOCAL = sorted(purpose for purpose, tier in TIER_OF_PURPOSE.items() if tier == "local-fast")
FRONTIER = sorted(set(TIER_OF_PURPOSE) - set(LOCAL))


class Model:
    """A model that counts its calls and calls itself something grand."""

    def __init__(self, name: str, *, free: bool) -> None:
        self.name = name
        self.free = free
        self.calls = 0
        self.closed = 0

    def missing(self) -> None:
        return None

    async def complete(self, request: ModelRequest, on_text: Any) -> ModelReply:
        self.calls += 1
        usage = Usage(input_tokens=11, output_tokens=3)
        message = Message(role="assistant", text="I am the frontier.")
        return ModelReply(message=message, stop_reason="end_turn", usage=usage, model="claude-opus-5-5")

    async def close(self) -> None:
        self.closed += 1


def a_turn(clock: FakeClock, **more: Any) -> Turn:
    return Turn(
        id=clock.new_id(),
        session_id="s",
        channel="test",
        sender="test:me",
        autonomy="supervised",
        text="Hi",
        received_at=clock.now(),
        roots=(),
        cwd="/",
        **more,
    )


async def call(services: Services, clock: FakeClock, purpose: str, **more: Any) -> Any:
    """Make one call for a purpose and return it as it was recorded."""
    turn = a_turn(clock, **more)
    recorder = services.recorder(new_trace(turn, (), ""))
    await recorder.start(turn)
    caller = ModelCaller(services, turn, recorder, RecordingChannel(clock), purpose)
    await caller.call([Message(role="user", text="Hi")], 60)
    return recorder.trace.model_calls[-1]


@pytest.fixture
def models() -> tuple[Model, Model]:
    """A paid model of the frontier and one on this machine."""
    return Model("paid", free=False), Model("own", free=True)


def with_models(services: Services, paid: Model, *own: Model) -> Services:
    local = tuple(ModelChoice(provider=model, model="tiny") for model in own)
    return evolve(services, provider=paid, local=local)


@pytest.mark.parametrize("purpose", [*LOCAL, *FRONTIER])
async def test_each_purpose_is_called_at_its_tier_and_booked_there(
    open_agent, clock: FakeClock, models: tuple[Model, Model], purpose: str
) -> None:
    """What a model says of itself changes nothing."""
    async with open_agent([]) as agent:
        services = with_models(agent.services, *models)
        made = await call(services, clock, purpose, activity="nightly")
        (book,) = await services.ledger.books(1)

    tier, model = ("local-fast", "tiny") if purpose in LOCAL else ("frontier", "claude-sonnet-5-5")
    assert (made.purpose, made.tier) == (purpose, tier)
    assert [entry.account for entry in book.entries] == [
        Account(tier=tier, purpose=purpose, activity="nightly", level="supervised", model=model)
    ]
    assert (book.entries[0].calls, book.entries[0].input_tokens, book.entries[0].output_tokens) == (1, 11, 3)
    assert [each.calls for each in models] == ([0, 1] if purpose in LOCAL else [1, 0])


@pytest.mark.parametrize("purpose", LOCAL)
async def test_without_a_model_on_this_machine_its_work_is_left_undone_and_not_paid_for(
    open_agent, clock: FakeClock, models: tuple[Model, Model], purpose: str
) -> None:
    """Nothing falls to a paid model by itself."""
    async with open_agent([]) as agent:
        with pytest.raises(UnavailableError, match="no model is set for the tier local-fast; what needs one is left"):
            await call(with_models(agent.services, models[0]), clock, purpose)

    assert models[0].calls == 0


async def test_an_unknown_purpose_reaches_no_model(open_agent, clock: FakeClock, models: tuple[Model, Model]) -> None:
    """Its tier is nobody's guess."""
    async with open_agent([]) as agent:
        with pytest.raises(PurposeUnknownError):
            await call(with_models(agent.services, *models), clock, "whatever")

    assert [each.calls for each in models] == [0, 0]


async def test_what_a_turn_of_the_night_spends_counts_against_the_ceiling(
    open_agent, make_desk, clock: FakeClock, models: tuple[Model, Model]
) -> None:
    """The turn ends before the call, with the setting to look at."""
    channel = RecordingChannel(clock)
    async with open_agent([], config="[budget]\nnightly_eur = 0.01\n") as opened:
        services = with_models(opened.services, models[0])
        agent = evolve(opened, services=services)
        runner = agent.new_turn(a_turn(clock, activity="nightly"), channel, [])
        await agent.run(runner)
        person = await make_desk(agent, channel).handle("Hi")

    assert runner.trace.outcome == "budget"
    assert runner.trace.activity == "nightly"
    assert "([budget] nightly_eur)" in channel.notices[0]
    assert person.outcome == "success"
    assert models[0].calls == 1


async def test_models_on_this_machine_are_those_that_the_configuration_names(open_agent, home) -> None:
    """In their order; a provider that nobody offers is told at the start."""
    text = '[agent]\nprovider = "scripted"\nlocal = ["scripted:a", "opnai:b", "scripted:c:d"]\n'
    async with open_agent([]) as agent:
        pass
    home.config_file.write_text(text, encoding="utf-8")
    async with Agent.open(home) as agent:
        models = [(choice.provider.name, choice.model) for choice in agent.services.models_of("local-fast")]

    assert models == [("scripted", "a"), ("scripted", "c:d")]
    assert [str(notice) for notice in agent.notices] == [
        "[agent] local: no plugin offers the provider 'opnai'; the nearest known is 'openai'"
    ]


async def test_a_model_on_this_machine_is_closed_at_the_end(open_agent, models: tuple[Model, Model]) -> None:
    """Like every other one, once."""
    async with open_agent([]) as agent:
        await evolve(agent, services=with_models(agent.services, *models)).stop()

    assert [each.closed for each in models] == [1, 1]
