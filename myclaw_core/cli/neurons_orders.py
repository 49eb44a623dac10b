"""`myclaw neurons disable | rehabilitate | remove`: what the person orders about one neuron."""

from __future__ import annotations

import argparse
import asyncio
import json

from myclaw_core.cli.neurons_open import open_neurons
from myclaw_core.cli.person import sender, tell_notices
from myclaw_core.files.visible import visible
from myclaw_core.messages import _
from myclaw_core.neurons.records import find
from myclaw_core.neurons.words import removed_told
from myclaw_core.paths import Home

__all__ = ["run"]


def run(args: argparse.Namespace) -> int:
    """Do what is ordered; 1 where the person said no."""
    orders = {
        "neurons disable": _disable,
        "neurons rehabilitate": _rehabilitate,
        "neurons remove": _remove,
    }
    return asyncio.run(orders[args.command](args))


async def _disable(args: argparse.Namespace) -> int:
    async with open_neurons() as neurons:
        await neurons.orders.disable(args.name, sender())
    if args.json:
        print(json.dumps({"disabled": args.name}, ensure_ascii=False))
    else:
        told = _("{name} is switched off; 'myclaw neurons rehabilitate {name}' lets it run again", name=args.name)
        print(visible(told))
    return 0


async def _remove(args: argparse.Namespace) -> int:
    async with open_neurons() as neurons:
        removed = await neurons.orders.remove(args.name, sender())
    if args.json:
        print(json.dumps({"removed": args.name, "kept": str(removed.kept or "")}, ensure_ascii=False))
    else:
        for line in removed_told(args.name, removed):
            print(visible(line))
    return 0


async def _rehabilitate(args: argparse.Namespace) -> int:
    """Put the question as it is put in a conversation."""
    from myclaw_core.agent import Agent
    from myclaw_core.desk import SessionDesk

    async with Agent.open(Home.find()) as agent:
        tell_notices(agent.notices)
        channel = agent.channel("terminal")
        desk = SessionDesk(
            agent, channel, sender=sender(), roots=agent.standing_roots, cwd=str(agent.home.workspace), level=None
        )
        await desk.handle(f"/neurons rehabilitate {args.name}")
        record = await find(agent.log, args.name)
    return 0 if record is not None and record.status == "active" else 1
