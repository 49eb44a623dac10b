"""`myclaw neurons synthesize`: designs a neuron for a goal, with a line on each stage, and asks before it is let in."""

from __future__ import annotations

import argparse
import asyncio
import json
import math
from typing import TYPE_CHECKING, Any

from myclaw_core import codec
from myclaw_core.cli.person import sender, tell_notices
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
    from myclaw_core.cli.talk import stoppable, stopped
    from myclaw_core.paths import Home

    if args.json:
        use_language("en")
    async with Agent.open(Home.find()) as agent:
        tell_notices(agent.notices)
        try:
            ended = await stoppable(_designed(agent, args))
        except asyncio.CancelledError:
            stopped()
            return _STOPPED
    return _end(ended, as_json=args.json)


async def _designed(agent: Agent, args: argparse.Namespace) -> Synthesis:
    from myclaw_core.runtime.quiet import QuietChannel
    from myclaw_core.synthesis.pipeline import Synthesizer
    from myclaw_core.synthesis.store import matching
    from myclaw_core.synthesis.wanted import by_hand, require_ready

    channel = None if args.json else agent.channels.get("terminal")
    synthesizer = Synthesizer(agent, QuietChannel(), channel, _silent if args.json else _say)
    if args.resume:
        synthesis = await matching(agent.log, args.resume)
        if synthesis.stage not in ("ended", "approval", "direction"):
            await require_ready(agent)
        return await synthesizer.go_on(synthesis)
    request = await by_hand(agent, args.goal, args.budget)
    return await synthesizer.synthesize(request, sender())


def _say(line: Text) -> None:
    print(visible(render(line)), flush=True)


def _silent(_line: Text) -> None:
    """Say nothing: a program reads the end."""


def _end(synthesis: Synthesis, *, as_json: bool) -> int:
    """Tell how it stands, and return the exit code."""
    result = synthesis.result
    if as_json:
        print(json.dumps(_json(synthesis), ensure_ascii=False, indent=2))
    elif result is None:
        again = f"myclaw neurons synthesize --resume {str(synthesis.id)[-12:]}"
        line = _("it waits; '{command}' goes on with it", command=again)
        print(visible(line))
    else:
        print(_("cost: {cost_eur:.4f} EUR, retries: {n}", cost_eur=result.cost_cents / 100, n=result.retries_used))
    return 0 if result is None or result.outcome == "born" else 1


def _json(synthesis: Synthesis) -> dict[str, Any]:
    return {
        "id": str(synthesis.id),
        "stage": synthesis.stage,
        "retries": synthesis.retries,
        "cost_eur": round(synthesis.cost_eur, 6),
        "feedback": list(map(str, synthesis.feedback)),
        "result": None if synthesis.result is None else codec.unstructure(synthesis.result),
    }
