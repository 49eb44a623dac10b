"""`myclaw models test`: one call of a few tokens, recorded and booked like any other, with its time and tokens."""

from __future__ import annotations

import argparse
import asyncio
import json
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from myclaw_core.cli.models import chosen
from myclaw_core.cli.person import sender
from myclaw_core.cli.talk import stoppable, stopped
from myclaw_core.errors import UnavailableError, UsageError
from myclaw_core.messages import N_, _
from myclaw_core.types.text import Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from myclaw_core.agent import Agent
    from myclaw_core.runtime.failover import ModelChoice
    from myclaw_core.runtime.types import ModelCall, Turn

__all__ = ["run"]

_SYSTEM = "This is a test of the connection."
_MESSAGE = "Answer with one word."
_MAX_OUTPUT_TOKENS = 16
_LIMIT_S = 600.0
_STOPPED = 130


@frozen(kw_only=True)
class _Tested:
    """What became of one call.

    Attributes:
        problem: Why there is no answer, or `None`.
        text: The answer.
    """

    name: str
    call: ModelCall | None
    problem: Text | None
    text: str


def run(args: argparse.Namespace) -> int:
    """Call the models; 0 where all answered."""
    return asyncio.run(_run(args))


async def _run(args: argparse.Namespace) -> int:
    from myclaw_core.agent import Agent
    from myclaw_core.paths import Home

    async with Agent.open(Home.find(), recover_turns=False) as agent:
        code = 0
        for choice in _choices(agent, args.model):
            try:
                tested = await stoppable(_tested(agent, choice))
            except asyncio.CancelledError:
                stopped()
                return _STOPPED
            finally:
                await choice.provider.close()
            _tell(tested, as_json=args.json)
            code = code or int(tested.problem is not None)
        return code


def _choices(agent: Agent, named: str) -> Sequence[ModelChoice]:
    """Return the models to call.

    Raises:
        UnavailableError: None is set.
        UsageError: What was named is offered by nobody.
    """
    from myclaw_core.runtime.failover import ModelChoice

    if not named:
        if not agent.services.local:
            raise UnavailableError(
                N_("no model on this machine is set; add one with 'myclaw models add', or name one to test")
            )
        return agent.services.local
    name, model = chosen(named)
    providers = {each.provider.name: each.provider for each in (*agent.services.models, *agent.services.local)}
    providers = {**agent.dispatcher.models(), **providers}
    if name not in providers:
        raise UsageError(N_("no plugin offers the provider {provider}; see 'myclaw models list'", provider=repr(name)))
    return [ModelChoice(provider=providers[name], model=model)]


async def _tested(agent: Agent, choice: ModelChoice) -> _Tested:
    """Call one model, in a trace of its own."""
    from myclaw_core.cli.json_channel import JsonChannel
    from myclaw_core.runtime.calling import ModelCaller, TurnEndedError
    from myclaw_core.runtime.traces import new_trace
    from myclaw_core.runtime.types import Message

    is_free = choice.provider.free
    services = evolve(agent.services, provider=None, failover=(choice,), local=(choice,))
    turn = _turn(agent)
    recorder = services.recorder(new_trace(turn, services.plugins, services.config.digest))
    name = f"{choice.provider.name}:{choice.model}"
    text, problem = "", None
    async with recorder.during(turn):
        caller = ModelCaller(
            services,
            turn,
            recorder,
            JsonChannel(),
            "classify" if is_free else "answer",
            system=_SYSTEM,
            max_output_tokens=_MAX_OUTPUT_TOKENS,
        )
        try:
            reply = await caller.call([Message(role="user", text=_MESSAGE)], _LIMIT_S)
        except TurnEndedError as ended:
            recorder.trace.outcome, problem = ended.outcome, ended.notice
        else:
            recorder.trace.outcome, text = "success", reply.message.text
    calls = recorder.trace.model_calls
    return _Tested(name=name, call=calls[-1] if calls else None, problem=problem, text=text)


def _turn(agent: Agent) -> Turn:
    from myclaw_core.runtime.types import Turn

    return Turn(
        id=agent.clock.new_id(),
        session_id=str(agent.clock.new_id()),
        channel="cli",
        sender=sender(),
        autonomy="read_only",
        text=_MESSAGE,
        received_at=agent.clock.now(),
        roots=(),
        cwd=str(agent.home.workspace),
        attended=False,
    )


def _tell(tested: _Tested, *, as_json: bool) -> None:
    from myclaw_core.files.visible import visible

    if as_json:
        print(json.dumps(_json(tested), ensure_ascii=False), flush=True)
        return
    if tested.problem is not None or tested.call is None:
        line = _("{model}: {problem}", model=tested.name, problem=tested.problem or N_("it was not asked"))
    else:
        usage = tested.call.usage
        line = _(
            "{model} answered in {seconds} s: tokens in {input}, cached {cached}, out {output}; {cost_eur:.6f} EUR",
            model=tested.name,
            seconds=f"{tested.call.wall_time_ms / 1000:.2f}",
            input=usage.input_tokens,
            cached=usage.cached_tokens,
            output=usage.output_tokens,
            cost_eur=tested.call.cost_eur,
        )
    print(visible(line), flush=True)


def _json(tested: _Tested) -> dict[str, Any]:
    call = tested.call
    return {
        "model": tested.name,
        "answered": tested.problem is None,
        "problem": str(tested.problem or ""),
        "text": tested.text,
        "wall_time_ms": call.wall_time_ms if call else 0,
        "input_tokens": call.usage.input_tokens if call else 0,
        "cached_tokens": call.usage.cached_tokens if call else 0,
        "output_tokens": call.usage.output_tokens if call else 0,
        "cost_eur": call.cost_eur if call else 0.0,
    }
