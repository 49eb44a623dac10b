"""Whether a neuron may be designed now, and the requests for one: by hand, or after a turn that failed (stage 0)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from uuid import UUID

from myclaw_core.clock import local_zone
from myclaw_core.errors import UnavailableError, UsageError
from myclaw_core.messages import N_
from myclaw_core.runtime.types import ExecutionTrace, Turn
from myclaw_core.synthesis import store
from myclaw_core.synthesis.goals import like, plain_goal
from myclaw_core.synthesis.rests import resting
from myclaw_core.synthesis.triggers import goal_of, trigger_of
from myclaw_core.synthesis.types import Synthesis, SynthesisRequest
from myclaw_core.types.text import Text

if TYPE_CHECKING:
    from myclaw_core.agent import Agent

__all__ = ["by_hand", "open_for", "request_after", "require_ready"]

_CENTS = 100


async def require_ready(agent: Agent) -> None:
    """Check that everything is there that a design needs, before any of it costs something.

    Raises:
        UnavailableError: The sandbox, a model or the author of the prompts is missing, or the day's budget is used up.
    """
    agent.require_model()
    agent.author()
    missing = await asyncio.to_thread(agent.services.sandbox.missing)
    if missing is not None:
        raise UnavailableError(N_("no neuron can be designed without a sandbox: {missing}", missing=missing))
    standing = await agent.services.ledger.standing()
    if standing.hard_eur - standing.spent_eur - standing.reserved_eur <= 0:
        raise UnavailableError(N_("the budget of the day is used up; no neuron can be designed before midnight"))


async def open_for(agent: Agent, goal: str) -> Synthesis | None:
    """Return the synthesis that is under way for about the same goal, `None` where there is none.

    Raises:
        StoreError: The log cannot be read.
    """
    under_way = [each for each in await store.standing(agent.log) if each.stage != "ended"]
    found = await like(goal, [each.request.goal for each in under_way], agent.embedding)
    return next((each for place, each in enumerate(under_way) if place in found), None)


async def by_hand(agent: Agent, goal: str, budget_eur: float | None = None) -> SynthesisRequest:
    """Return the request of a person for a neuron.

    Args:
        budget_eur: Most that its model calls may cost; what `[synthesis]` says where `None`.

    Raises:
        UsageError: There is no goal, it rests, or a neuron for it is under way.
        UnavailableError: Something that a design needs is missing.
        StoreError: The log cannot be read.
    """
    goal = plain_goal(goal)
    if not goal:
        raise UsageError(
            N_("say what the neuron is for, such as: myclaw neurons synthesize 'sum a column of a CSV file'")
        )
    await require_ready(agent)
    problem = await _held_back(agent, goal)
    if problem is not None:
        raise UsageError(problem)
    return _request(agent, goal, agent.clock.new_id(), budget_eur)


async def request_after(agent: Agent, trace: ExecutionTrace, turn: Turn) -> Synthesis | None:
    """Record that a turn failed for want of a skill, so that the person is asked whether one may be designed.

    Returns:
        What waits for the person's word; `None` where the turn is no reason, or nothing can be designed now.

    Raises:
        StoreError: It cannot be recorded.
    """
    if agent.services.config.synthesis.after_failure != "ask" or trigger_of(trace, turn) is None:
        return None
    goal = goal_of(turn)
    try:
        await require_ready(agent)
    except UnavailableError:
        return None
    if await _held_back(agent, goal) is not None:
        return None
    request = _request(agent, goal, trace.id, None)
    return await store.request(agent.log, agent.clock, request, turn.sender, stage="direction")


async def _held_back(agent: Agent, goal: str) -> Text | None:
    """Return why no neuron is designed for a goal now, or `None`."""
    under_way = await open_for(agent, goal)
    if under_way is not None:
        return N_(
            "a neuron for about the same is under way; 'myclaw neurons synthesize --resume {id}' goes on with it",
            id=str(under_way.id)[-12:],
        )
    found = await resting(agent.log, agent.embedding, goal, agent.clock.now())
    if found is None:
        return None
    until = f"{found.until.astimezone(local_zone()):%Y-%m-%d %H:%M}"
    return N_("this was given up lately and rests until {until}: {why}", until=until, why=found.why)


def _request(agent: Agent, goal: str, trace_id: UUID, budget_eur: float | None) -> SynthesisRequest:
    most_eur = agent.services.config.synthesis.budget_eur if budget_eur is None else budget_eur
    return SynthesisRequest(
        goal=goal, trace_id=trace_id, mode="external", capability_hint=[], budget_cents=most_eur * _CENTS
    )
