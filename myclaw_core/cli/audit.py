"""`myclaw audit show | verify`: what happened, and whether the record of it is whole."""

from __future__ import annotations

import argparse
import asyncio
import json
from typing import TYPE_CHECKING

from myclaw_core.errors import UsageError

if TYPE_CHECKING:
    from myclaw_core.agent import Agent

__all__ = ["run"]


def run(args: argparse.Namespace) -> int:
    """Run one audit command."""
    return asyncio.run(_show(args) if args.command == "audit show" else _verify(args))


async def _show(args: argparse.Namespace) -> int:
    from myclaw_core import codec
    from myclaw_core.agent import Agent
    from myclaw_core.events.narrative import narrate
    from myclaw_core.paths import Home

    async with Agent.open(Home.find(), recover_turns=False) as agent:
        trace_id = await _trace_id(agent, args.trace)
        if trace_id is None:
            print("" if args.json else "Nothing is recorded yet.", end="" if args.json else "\n")
            return 0
        entries = await agent.log.events(trace_id)
        if args.json:
            for head, event in entries:
                body = None if event is None else codec.unstructure(event)
                print(
                    json.dumps({"seq": head.seq, "at": head.at, "type": head.type, "event": body}, ensure_ascii=False)
                )
        else:
            print("\n".join(narrate(trace_id, entries)))
    return 0


async def _trace_id(agent: Agent, wanted: str) -> str | None:
    matches = await agent.log.trace_ids(wanted.lower(), limit=2)
    if not matches and not wanted:
        return None
    if not matches:
        raise UsageError(f"no trace starts with {wanted!r}; '/status' in a conversation names its last one")
    if wanted and len(matches) > 1:
        raise UsageError(f"more than one trace starts with {wanted!r}; give more of the id")
    return matches[0]


async def _verify(args: argparse.Namespace) -> int:
    from myclaw_core.agent import Agent
    from myclaw_core.paths import Home

    async with Agent.open(Home.find(), recover_turns=False) as agent:
        events = await agent.log.verify()
        trust = await agent.book.verify()
    summary = {
        "events": {
            "ok": events.ok,
            "checked": events.checked,
            "first_bad": events.first_bad_seq,
            "problem": str(events.problem or ""),
        },
        "trust": {
            "ok": trust.ok,
            "checked": trust.rows,
            "first_bad": trust.first_bad_row,
            "problem": "; ".join(map(str, trust.problems)),
        },
    }
    if args.json:
        print(json.dumps(summary, ensure_ascii=False))
    else:
        for name, part in summary.items():
            state = "whole" if part["ok"] else f"NOT whole: {part['problem']}"
            print(f"{name + ':':<8}{part['checked']:>6} checked, {state}")
    return 0 if events.ok and trust.ok else 1
