"""Questions that runs without anybody there left: each is put in a trace of its own, in which a yes runs its call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TYPE_CHECKING

from attrs import evolve

from myclaw_core.approval.types import Deferred
from myclaw_core.clock import local_zone
from myclaw_core.messages import N_
from myclaw_core.policy.types import Situation
from myclaw_core.runtime.channel import Channel
from myclaw_core.runtime.records import TURN_KIND
from myclaw_core.runtime.services import Services
from myclaw_core.runtime.single_call import SingleCall
from myclaw_core.runtime.types import ExecutionTrace, ToolCall, Turn
from myclaw_core.shown.closing import closing
from myclaw_core.shown.markup import code
from myclaw_core.types.effect import lower_level
from myclaw_core.types.text import Text

if TYPE_CHECKING:
    from myclaw_core.agent import Agent

__all__ = ["PENDING", "LeftRunner", "asked_at", "can_be_put", "offer", "put_left", "told_of"]

_AT_ONCE = timedelta(minutes=1)
_ADMITS = "neuron_spawn"

PENDING = "/pending"
"""The command that puts what was left; the turns it begins carry it as their message."""


class LeftRunner(SingleCall):
    """Puts one question that was left and, after a yes, runs its call once; no model is asked.

    The call is judged afresh, and asked about whatever it may have earned since. It keeps the taint of the run that
    left it, and at most that run's level.

    Args:
        services: The agent's parts.
        turn: The turn of the answer, a child of that run.
        channel: Where the question is shown.
        left: What was left.
    """

    def __init__(self, services: Services, turn: Turn, channel: Channel, left: Deferred) -> None:
        action, sealed = left.request.draft.action, left.sealed
        situation = Situation(
            roots=turn.roots,
            cwd=sealed.cwd,
            tainted=action.tainted,
            attended=channel.attended,
            model=action.model,
            asks=_why_asked(services, turn, left),
        )
        call = ToolCall(id=str(left.request.id), tool=action.tool_name, args=sealed.args)
        super().__init__(services, turn, channel, call, situation=situation, left=left)


async def can_be_put(services: Services) -> list[Deferred]:
    """Return what was left by runs that are over: an answer is evidence in a run once that is closed."""
    running = {key for key, _raw in await services.log.scan(TURN_KIND)}
    return [left for left in await services.gateway.left() if str(left.origin.trace_id) not in running]


async def put_left(
    services: Services,
    channel: Channel,
    new_turn: Callable[[str], Awaitable[Turn]],
    run: Callable[[LeftRunner], Awaitable[None]],
    only: Callable[[Deferred], bool] = lambda _left: True,
) -> list[ExecutionTrace]:
    """Put everything that was left to one sender, together, and return the traces in which it was answered.

    Whoever talks with the program is the person it works for: at the terminal of their account, or paired. So each of
    their senders may see and answer what any run left; a card is bound to the sender it is shown to, and the first
    answer on any card ends the others. What a sender is being asked already is not put twice.

    Args:
        new_turn: Makes the turn as which an answer is recorded, from the words that were typed; its sender is asked.
        run: Runs each one, as `Agent.run` does.
        only: Which are put.

    Raises:
        StoreError: The log cannot be read or written.
    """
    runners = []
    for left in filter(only, await can_be_put(services) if channel.attended else ()):
        turn = await new_turn(PENDING)
        if not services.gateway.shows(left, turn.sender):
            runners.append(LeftRunner(services, _answering(services, turn, left), channel, left))
    ended = await asyncio.gather(*map(run, runners), return_exceptions=True)
    for problem in filter(None, ended):
        raise problem
    return [runner.trace for runner in runners]


async def offer(agent: Agent, channel: Channel, sender: str) -> list[ExecutionTrace]:
    """Put everything that was left to somebody who has not asked for it, such as through a messenger.

    What was granted there is told there as soon as it is over. It returns once every card was answered or has expired;
    cancelling it withdraws the cards. Calling it again puts what was left meanwhile.

    Raises:
        StoreError: The log cannot be read or written.
    """
    services = agent.services
    session_id = str(services.clock.new_id())

    async def new_turn(text: str) -> Turn:
        return Turn(
            id=services.clock.new_id(),
            session_id=session_id,
            channel=channel.name,
            sender=sender,
            autonomy=await services.levels.begin_turn(),
            text=text,
            received_at=services.clock.now(),
            roots=(),
            cwd="",
            attended=channel.attended,
            level_stands=True,
        )

    async def run(runner: LeftRunner) -> None:
        await agent.run(runner)
        if any(approval.verdict == "granted" for approval in runner.trace.approvals):
            # No conversation remembers it, so that a plain /undo there means something else.
            channel.show("\n".join(told_of(runner.trace, f"/undo {str(runner.trace.id)[:13]}")))

    return await put_left(services, channel, new_turn, run)


def told_of(trace: ExecutionTrace, undo: str = "/undo") -> list[str]:
    """Return a line of Markdown on what became of a question, without what it cost.

    Args:
        undo: What takes it back where this is read.
    """
    return [f"{said.label} {code(said.text)}" for said in closing(trace, undo) if said.label]


def _answering(services: Services, turn: Turn, left: Deferred) -> Turn:
    """Return the turn of an answer: with the folders of the run that left the question, and not above its level."""
    action, sealed = left.request.draft.action, left.sealed
    return evolve(
        turn,
        autonomy=lower_level(action.autonomy, turn.autonomy),
        roots=tuple(dict.fromkeys((*services.standing_roots, *sealed.roots))),
        cwd=sealed.cwd,
        yes_to=(),
        parent_trace_id=action.trace_id,
    )


def _why_asked(services: Services, turn: Turn, left: Deferred) -> Text | None:
    """Return why it is asked, `None` where the law alone says so.

    What the core leaves of its own accord was no run without the person, who remembers what they began just now.
    """
    tool = services.tools.get(left.request.draft.action.tool_name)
    if tool is not None and tool.internal:
        is_new = turn.received_at - left.request.created_at < _AT_ONCE and left.request.draft.action.kind == _ADMITS
        return None if is_new else N_("this was begun on {at}", at=asked_at(left))
    return N_("a run without you wanted it on {at}", at=asked_at(left))


def asked_at(left: Deferred) -> str:
    """Return when a run wanted to ask, in the person's time."""
    return f"{left.request.created_at.astimezone(local_zone()):%Y-%m-%d %H:%M}"
