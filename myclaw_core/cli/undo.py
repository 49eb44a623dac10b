"""`myclaw undo`: takes back what one turn changed, from outside of any conversation."""

from __future__ import annotations

import argparse
import asyncio
import getpass
import sys
from typing import TYPE_CHECKING

from myclaw_core.cli.looking import tell_broken
from myclaw_core.files.resolve import display_path
from myclaw_core.files.visible import visible

if TYPE_CHECKING:
    from myclaw_core.agent import Agent
    from myclaw_core.runtime.types import ExecutionTrace, Turn
    from myclaw_core.runtime.undoing import UndoLine

__all__ = ["run"]


def run(args: argparse.Namespace) -> int:
    """Take one turn back; 1 where something of it could not be."""
    return asyncio.run(_run(args))


async def _run(args: argparse.Namespace) -> int:
    from myclaw_core.agent import Agent
    from myclaw_core.paths import Home
    from myclaw_core.runtime.undoing import find_trace, first_words, last_changing

    async with Agent.open(Home.find(), on_broken=tell_broken) as agent:
        for notice in agent.notices:
            print(f"myclaw: {visible(str(notice))}", file=sys.stderr)
        sender = f"cli:{getpass.getuser()}"
        log = agent.log
        wanted: str = args.trace
        original = await (find_trace(log, wanted) if wanted else last_changing(log, sender, "myclaw undo"))
        lines = await agent.undo(_turn(agent, sender, original), original, force=args.force)
    print(f"taking back {first_words(original)!r} (trace {str(original.id)[:13]})")
    print("\n".join(map(_told, lines)) or "it changed nothing")
    return 0 if all(line.reverted for line in lines) else 1


def _turn(agent: Agent, sender: str, original: ExecutionTrace) -> Turn:
    from myclaw_core.runtime.types import Turn

    new_id = agent.clock.new_id()
    return Turn(
        id=new_id,
        session_id=str(new_id),
        channel="cli",
        sender=sender,
        autonomy=agent.services.config.agent.level,
        text=f"/undo {original.id}",
        received_at=agent.clock.now(),
        roots=agent.standing_roots,
        cwd=str(agent.home.workspace),
    )


def _told(line: UndoLine) -> str:
    state = "undone" if line.reverted else "not undone"
    targets = ", ".join(display_path(effect.target) for effect in line.step.effects)
    details = "; ".join(map(str, line.details))
    return visible(f"{state}: {line.step.tool_name} {targets}" + (f" ({details})" if details else ""))
