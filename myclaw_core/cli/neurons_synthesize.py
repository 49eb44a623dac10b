"""`myclaw neurons synthesize`: designs a neuron for a goal, with a line on each stage, and asks before it is let in."""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import sys
from typing import TYPE_CHECKING, Any

from myclaw_core import codec
from myclaw_core.cli.design_words import how_it_ended
from myclaw_core.cli.person import sender, tell_notices
from myclaw_core.clock import local_zone
from myclaw_core.errors import UsageError
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_, _, render, use_language

if TYPE_CHECKING:
    from myclaw_core.agent import Agent
    from myclaw_core.synthesis.types import Synthesis
    from myclaw_core.types.text import Text

__all__ = ["run"]

_MOST_EUR = 100.0
_STOPPED = 130
_SHORT = 12


def run(args: argparse.Namespace) -> int:
    """Design one neuron; 0 where it was let in or waits for an answer, 1 where it was not made."""
    if bool(args.goal.strip()) == bool(args.resume):
        raise UsageError(N_("give GOAL, what the neuron shall do, or --resume ID"))
    if args.budget is not None and not (math.isfinite(args.budget) and 0 < args.budget <= _MOST_EUR):
        raise UsageError(N_("--budget must be an amount above 0 and at most {most} EUR", most=int(_MOST_EUR)))
    if args.resume and args.budget is not None:
        raise UsageError(N_("--budget goes with GOAL: what was begun keeps its budget"))
    return asyncio.run(_run(args))


async def _run(args: argparse.Namespace) -> int:
    from myclaw_core.agent import Agent
    from myclaw_core.cli.talk import stoppable
    from myclaw_core.paths import Home

    if args.json:
        use_language("en")
    async with Agent.open(Home.find()) as agent:
        tell_notices(agent.notices)
        try:
            ended = await stoppable(_designed(agent, args))
        except asyncio.CancelledError:
            await _stopped(agent, args)
            return _STOPPED
        if args.json:
            print(json.dumps(_json(ended), ensure_ascii=False, indent=2))
        else:
            await _tell_end(agent, ended)
    return 0 if ended.result is None or ended.result.outcome == "born" else 1


async def _designed(agent: Agent, args: argparse.Namespace) -> Synthesis:
    from myclaw_core.runtime.quiet import QuietChannel
    from myclaw_core.synthesis.pipeline import Synthesizer
    from myclaw_core.synthesis.store import matching
    from myclaw_core.synthesis.wanted import by_hand, require_ready

    say = _silent if args.json else _say
    channel = None if args.json else agent.channels.get("terminal")
    synthesizer = Synthesizer(agent, QuietChannel(), channel, say)
    if args.resume:
        synthesis = await matching(agent.log, args.resume)
        if synthesis.result is not None:
            say(how_it_ended(synthesis))
        elif synthesis.stage not in ("approval", "direction"):
            await require_ready(agent)
        return await synthesizer.go_on(synthesis)
    request = await by_hand(agent, args.goal, args.budget)
    most = N_("its model calls may cost up to {cost_eur} EUR", cost_eur=f"{request.budget_cents / 100:.4g}")
    say(N_("a neuron is designed for it; {most}", most=most))
    return await synthesizer.synthesize(request, sender())


def _say(line: Text) -> None:
    print(visible(render(line)), flush=True)


def _silent(_line: Text) -> None:
    """Say nothing: a program reads the end."""


async def _stopped(agent: Agent, args: argparse.Namespace) -> None:
    """Say how to go on with what was stopped."""
    from myclaw_core.cli.talk import stopped
    from myclaw_core.synthesis.store import matching
    from myclaw_core.synthesis.wanted import open_for

    left = await matching(agent.log, args.resume) if args.resume else await open_for(agent, args.goal)
    if left is None:
        stopped()
        return
    told = _("stopped; '{command}' goes on with it, and 'myclaw serve' where it runs", command=_again(left))
    print(f"myclaw: {visible(told)}", file=sys.stderr)


async def _tell_end(agent: Agent, synthesis: Synthesis) -> None:
    """Say what happens next with what waits, and what was spent on what ended."""
    from myclaw_core.synthesis.rests import resting

    result = synthesis.result
    if result is None:
        print(visible(_("it waits; '{command}' goes on with it", command=_again(synthesis))))
        return
    print(_("cost: {cost_eur:.4f} EUR, retries: {n}", cost_eur=result.cost_cents / 100, n=result.retries_used))
    found = await resting(agent.log, agent.embedding, synthesis.request.goal, agent.clock.now())
    if found is not None:
        until = f"{found.until.astimezone(local_zone()):%Y-%m-%d %H:%M}"
        print(_("no neuron is designed for about the same before {until}", until=until))


def _again(synthesis: Synthesis) -> str:
    return f"myclaw neurons synthesize --resume {str(synthesis.id)[-_SHORT:]}"


def _json(synthesis: Synthesis) -> dict[str, Any]:
    return {
        "id": str(synthesis.id),
        "stage": synthesis.stage,
        "retries": synthesis.retries,
        "cost_eur": round(synthesis.cost_eur, 6),
        "feedback": list(map(str, synthesis.feedback)),
        "result": None if synthesis.result is None else codec.unstructure(synthesis.result),
    }
