"""A model that cannot be had is stood in for by the next one of `[agent] failover`; each call is booked by itself."""

from collections.abc import Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from attrs import evolve

from myclaw_core.errors import UnavailableError
from myclaw_core.runtime.failover import ModelChoice, model_choices
from myclaw_core.runtime.model import ModelError, ModelReply, ModelRequest
from myclaw_core.runtime.types import Message, ToolCall, Usage
from myclaw_core.testing import FakeClock, RecordingChannel

PASSING = ("unreachable", "overloaded", "rate", "auth", "timeout")
PRICES = """
[budget]
soft_eur = 0.05
hard_eur = 0.2
[budget.prices."big"]
in = 10
cached = 1
out = 50
"""


class Model:
    """A provider that plays outcomes: an error, or a reply; it ends with plain answers."""

    def __init__(self, name: str, *outcomes: Exception | Mapping[str, Any], free: bool = True, first: str = "") -> None:
        self.name = name
        self.free = free
        self.asked: list[ModelRequest] = []
        self.closed = 0
        self.lacks: str | None = None
        self._outcomes = list(outcomes)
        self._first = first

    def missing(self) -> str | None:
        return self.lacks

    async def complete(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        self.asked.append(request)
        outcome = self._outcomes.pop(0) if self._outcomes else {"text": f"From {self.name}."}
        if isinstance(outcome, Exception):
            if self._first:
                on_text(self._first)
            raise outcome
        calls = tuple(outcome.get("calls", ()))
        on_text(outcome.get("text", ""))
        return ModelReply(
            message=Message(role="assistant", text=outcome.get("text", ""), tool_calls=calls),
            stop_reason="tool_use" if calls else "end_turn",
            usage=Usage(input_tokens=10, output_tokens=5),
            model=f"{request.model}-2026",
        )

    async def close(self) -> None:
        self.closed += 1


@pytest.fixture
def run(open_agent, make_desk, clock: FakeClock):
    """Run one turn on these models, the first being the one that is set."""

    @asynccontextmanager
    async def opened(*models: Model, config: str = "", channel: RecordingChannel | None = None):
        channel = channel or RecordingChannel(clock)
        async with open_agent([], config=config) as agent:
            choices = tuple(ModelChoice(provider=model, model=model.name.upper()) for model in models[1:])
            services = evolve(agent.services, provider=models[0], failover=choices)
            yield make_desk(evolve(agent, services=services), channel), channel, services

    return opened


def error(kind: Any) -> ModelError:
    return ModelError(f"it failed: {kind}", kind)


@pytest.mark.parametrize("kind", PASSING)
async def test_a_model_that_cannot_be_had_is_stood_in_for_by_the_next(run, kind: str) -> None:
    first, second = Model("one", error(kind)), Model("two")

    async with run(first, second) as (desk, channel, _):
        trace = await desk.handle("Hi")

    assert trace.outcome == "success"
    assert [(call.provider, call.model, call.error) for call in trace.model_calls] == [
        ("one", "claude-sonnet-5-5", f"it failed: {kind}"),
        ("two", "TWO-2026", ""),
    ]
    assert second.asked[0].model == "TWO"
    assert evolve(second.asked[0], model="") == evolve(first.asked[0], model="")
    (notice,) = channel.notices
    assert notice.startswith("one ")
    assert notice.endswith("; answered by two TWO-2026")


async def test_the_notice_names_what_failed_and_what_answered(run) -> None:
    async with run(Model("anthropic", error("unreachable")), Model("openai")) as (desk, channel, _):
        await desk.handle("Hi")

    assert channel.notices == ["anthropic cannot be reached; answered by openai OPENAI-2026"]


@pytest.mark.parametrize("failure", [error("request"), error("connection"), error("malformed"), ValueError("a bug")])
async def test_after_any_other_failure_no_other_model_is_asked(run, failure: Exception) -> None:
    second = Model("two")

    async with run(Model("one", failure), second) as (desk, channel, _):
        trace = await desk.handle("Hi")

    assert trace.outcome == "failed"
    assert second.asked == []
    assert len(channel.notices) == 1


async def test_a_failure_after_text_was_shown_ends_the_turn(run) -> None:
    """Two halves of two answers are no answer."""
    second = Model("two")

    async with run(Model("one", error("overloaded"), first="Half an "), second) as (desk, channel, _):
        trace = await desk.handle("Hi")

    assert trace.outcome == "failed"
    assert second.asked == []
    assert channel.notices == ["it failed: overloaded"]


async def test_where_every_model_fails_one_line_says_why_each_did(run) -> None:
    models = [Model("one", error("rate")), Model("two", error("auth")), Model("three", error("timeout"))]

    async with run(*models) as (desk, channel, _):
        trace = await desk.handle("Hi")

    assert trace.outcome == "failed"
    assert len(trace.model_calls) == 3
    assert channel.notices == ["it failed: rate; it failed: auth; it failed: timeout"]


async def test_within_a_turn_a_model_that_failed_is_not_asked_again_and_told_once(run) -> None:
    call = ToolCall(id="c", tool="fs_list", args={"path": "."})
    first, second = Model("one", error("timeout")), Model("two", {"calls": [call]})

    async with run(first, second) as (desk, channel, _):
        trace = await desk.handle("Look")
        await desk.handle("Again")

    assert trace.outcome == "success"
    assert (len(first.asked), len(second.asked)) == (2, 2)
    assert channel.notices == ["one did not answer in time; answered by two TWO-2026"]
    assert first.asked[1].messages[-1].text == "Again"


async def test_a_later_call_of_a_turn_may_go_on_with_another_model(run) -> None:
    call = ToolCall(id="c", tool="fs_list", args={"path": "."})
    first, second = Model("one", {"text": "I look.", "calls": [call]}, error("overloaded")), Model("two")

    async with run(first, second) as (desk, channel, _):
        trace = await desk.handle("Look")

    assert [call.provider for call in trace.model_calls] == ["one", "one", "two"]
    assert channel.notices == ["one is overloaded; answered by two TWO-2026"]


async def test_each_try_is_reserved_and_booked_by_itself(run) -> None:
    """A time-out may have been charged for; a service that was never reached was not."""
    for kind, spent in (("unreachable", False), ("timeout", True)):
        async with run(Model("one", error(kind), free=False), Model("two")) as (desk, _, services):
            trace = await desk.handle("Hi")
            standing = await services.ledger.standing()

        assert [call.cost_eur > 0 for call in trace.model_calls] == [spent, False]
        assert (standing.spent_eur > 0) is spent
        assert standing.reserved_eur == 0


async def test_a_budget_refusal_asks_no_other_model(run) -> None:
    """What the set model may not spend, a dearer one may not either, and a change of model is never silent."""
    second = Model("two")
    tight = "[budget]\nsoft_eur = 0\nhard_eur = 0.0001\n"

    async with run(Model("one", free=False), second, config=tight) as (desk, channel, _):
        trace = await desk.handle("Hi")

    assert trace.outcome == "budget"
    assert second.asked == []
    assert "hard cap" in channel.notices[0]


async def test_a_dearer_stand_in_is_refused_by_the_hard_cap_and_both_reasons_are_told(run) -> None:
    big = Model("big", free=False)
    services_config = PRICES.replace('"big"', '"BIG"').replace("hard_eur = 0.2", "hard_eur = 0.1")

    async with run(Model("one", error("unreachable")), big, config=services_config) as (desk, channel, _):
        trace = await desk.handle("Hi")

    assert trace.outcome == "budget"
    assert big.asked == []
    assert channel.notices[0].startswith("it failed: unreachable; this could cost up to ")


async def test_a_stand_in_without_a_price_is_not_asked(run) -> None:
    second = Model("two", free=False)

    async with run(Model("one", error("unreachable")), second) as (desk, channel, _):
        trace = await desk.handle("Hi")

    assert trace.outcome == "failed"
    assert second.asked == []
    assert "no price is known for the model TWO" in channel.notices[0]


async def test_past_the_soft_cap_the_question_names_the_model_that_would_be_asked(run, clock: FakeClock) -> None:
    channel = RecordingChannel(clock, lambda card: False)
    config = '[budget]\nsoft_eur = 0\nhard_eur = 5\n[budget.prices."BIG"]\nin = 1\ncached = 1\nout = 1\n'
    big = Model("big", free=False)

    async with run(Model("one", error("unreachable")), big, config=config, channel=channel) as (desk, _, _services):
        trace = await desk.handle("Hi")

    assert trace.outcome == "budget"
    assert big.asked == []
    assert channel.cards[0].request.draft.action.effects[0].target == "BIG"


async def test_status_shows_the_model_that_answered(run) -> None:
    async with run(Model("one", error("unreachable")), Model("two")) as (desk, channel, _):
        await desk.handle("/status")
        await desk.handle("Hi")
        await desk.handle("/status")

    before, after = channel.shown
    assert "- model: `claude-sonnet-5-5` through `scripted`" in before
    assert "- model: `TWO-2026` through `two`" in after


# -- configuration ---------------------------------------------------------------------------------------------------


def test_a_model_name_may_hold_colons() -> None:
    provider = Model("openai")

    (choice,) = model_choices(("openai:llama3.2:3b", "nobody:x"), {"openai": provider})

    assert (choice.provider, choice.model) == (provider, "llama3.2:3b")


@pytest.mark.parametrize("entry", ["openai", ":x", "openai:", "openai: x", "open\tai:x"])
async def test_an_entry_that_names_no_model_is_refused_with_its_line(open_agent, home, entry: str) -> None:
    from myclaw_core.config import load_config
    from myclaw_core.errors import ConfigError

    home.root.mkdir(parents=True)
    home.config_file.write_text(f'[agent]\nfailover = ["{entry}"]\n'.replace("\t", "\\t"), encoding="utf-8")

    with pytest.raises(ConfigError, match=r":2: \[agent\] failover must be a list of models written PROVIDER:MODEL"):
        load_config(home.config_file, ())


def with_failover(home, *entries: str) -> None:
    text = home.config_file.read_text(encoding="utf-8")
    listed = ", ".join(f'"{entry}"' for entry in entries)
    home.config_file.write_text(text.replace("[agent]\n", f"[agent]\nfailover = [{listed}]\n"), encoding="utf-8")


async def test_an_unknown_provider_is_named_at_start(open_agent, home, clock: FakeClock) -> None:
    from myclaw_core.agent import Agent

    async with open_agent([{"text": "x"}]):
        pass
    with_failover(home, "openai:llama3.2", "opnai:llama3.2")

    async with Agent.open(home, clock=clock) as agent:
        with pytest.raises(UnavailableError, match="no plugin offers the provider 'opnai' that \\[agent\\] names"):
            agent.require_model()


async def test_a_start_needs_one_model_that_can_be_asked(open_agent) -> None:
    async with open_agent([{"text": "x"}]) as agent:
        first, second = Model("scripted"), Model("two")
        choice = ModelChoice(provider=second, model="m")
        chosen = evolve(agent, services=evolve(agent.services, provider=first, failover=(choice,)))

        first.lacks = "no key"
        chosen.require_model()
        second.lacks = "no address"
        with pytest.raises(
            UnavailableError, match=r"^no key; the configuration is .*config.toml; .myclaw demo. needs no model"
        ):
            chosen.require_model()


async def test_every_provider_is_closed_once_at_the_end(open_agent) -> None:
    first, second = Model("scripted"), Model("two")
    async with open_agent([{"text": "x"}]) as agent:
        choices = tuple(ModelChoice(provider=provider, model="m") for provider in (second, second, first))
        await evolve(agent, services=evolve(agent.services, provider=first, failover=choices)).stop()

    assert (first.closed, second.closed) == (1, 1)
