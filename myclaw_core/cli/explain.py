"""`myclaw policy explain`: how each action of a recorded trace was decided; nothing is judged again."""

from __future__ import annotations

import argparse
import asyncio
import json
from typing import TYPE_CHECKING

from myclaw_core.cli.looking import opened_log
from myclaw_core.messages import _

if TYPE_CHECKING:
    from myclaw_core.events.log import EventLog
    from myclaw_core.runtime.why import DecidedStep

__all__ = ["run"]


def run(args: argparse.Namespace) -> int:
    """Print the decisions of one trace."""
    return asyncio.run(_run(args))


async def _run(args: argparse.Namespace) -> int:
    from myclaw_core.runtime.why import decided_on_record

    async with opened_log() as (log, _clock):
        trace_id = await _trace_id(log, args.trace)
        decided = await decided_on_record(log, trace_id) if trace_id else []
    if args.json:
        found = {"trace": trace_id or None, "steps": [each.json() for each in decided]}
        print(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        print(_told(trace_id, decided))
    return 0


async def _trace_id(log: EventLog, wanted: str) -> str:
    """Return the trace that is named, else the newest one; empty where nothing is recorded."""
    from myclaw_core.runtime.undoing import trace_id_of

    if wanted:
        return await trace_id_of(log, wanted)
    return next(iter(await log.trace_ids(limit=1)), "")


def _told(trace_id: str, decided: list[DecidedStep]) -> str:
    if not trace_id:
        return _("Nothing is recorded yet.")
    if not decided:
        return _("trace {trace}: no action was decided", trace=trace_id)
    return "\n\n".join((_("trace {trace}", trace=trace_id), *(each.told() for each in decided)))
