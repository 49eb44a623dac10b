"""`myclaw undo`: takes back what one turn changed, from outside of any conversation."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from myclaw_core.cli.looking import tell_broken
from myclaw_core.cli.person import sender, tell_notices
from myclaw_core.files.resolve import display_path
from myclaw_core.files.visible import visible
from myclaw_core.messages import _, render

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
    from myclaw_core.runtime.undoing import find_trace, last_changing

    async with Agent.open(Home.find(), on_broken=tell_broken) as agent:
        tell_notices(agent.notices)
        who = sender()
        log = agent.log
        wanted: str = args.trace
        original = await (find_trace(log, wanted) if wanted else last_changing(log, who, "myclaw undo"))
        lines = await agent.undo(_turn(agent, who, original), original, force=args.force)
    print(json.dumps(_json(original, lines), ensure_ascii=False) if args.json else _report(original, lines))
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


def _json(original: ExecutionTrace, lines: Sequence[UndoLine]) -> dict[str, Any]:
    return {
        "trace": str(original.id),
        "undone": all(line.reverted for line in lines),
        "steps": [
            {
                "tool": line.step.tool_name,
                "targets": [effect.target for effect in line.step.effects],
                "undone": line.reverted,
                "details": list(map(str, line.details)),
            }
            for line in lines
        ],
    }


def _report(original: ExecutionTrace, lines: Sequence[UndoLine]) -> str:
    from myclaw_core.runtime.undoing import first_words

    words, trace = first_words(original), str(original.id)[:13]
    head = _("taking back '{words}' (trace {trace})", words=words, trace=trace)
    return "\n".join([head, *(map(_line, lines) if lines else [_("it changed nothing")])])


def _line(line: UndoLine) -> str:
    targets = ", ".join(dict.fromkeys(display_path(effect.target) for effect in line.step.effects))
    what = f"{line.step.tool_name} {targets}"
    told = _("undone: {what}", what=what) if line.reverted else _("not undone: {what}", what=what)
    details = "; ".join(map(render, line.details))
    return visible(f"{told} ({details})" if details else told)
