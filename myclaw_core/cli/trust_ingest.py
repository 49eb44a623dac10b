"""`myclaw trust ingest`: takes closed traces in from a file of JSON lines."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from typing import BinaryIO

from myclaw_core.cli.jsonl import LINE_LIMIT_BYTES, numbered_lines, open_lines
from myclaw_core.cli.trust_open import open_trust
from myclaw_core.files.visible import visible
from myclaw_core.messages import n_, render
from myclaw_core.runtime.types import ExecutionTrace
from myclaw_core.trust.costs import UsualCosts
from myclaw_core.trust.ingest import Ingested, ingest
from myclaw_core.trust.signals import extract
from myclaw_core.trust.types import TraceSignals

__all__ = ["run"]


def run(args: argparse.Namespace) -> int:
    """Take a file in and say what became of its lines; 1 where one of them is wrong."""
    if args.file == "-":
        done = asyncio.run(_ingested(sys.stdin.buffer))
    else:
        with open_lines(args.file) as file:
            done = asyncio.run(_ingested(file))
    _tell(args, done)
    return 1 if done.problems else 0


async def _ingested(file: BinaryIO) -> Ingested:
    async with open_trust() as trust:
        costs = UsualCosts(trust.log)
        await costs.refresh()

        def signals(trace: ExecutionTrace) -> tuple[TraceSignals, ...]:
            return extract(trace, trust.dispatcher.signals, costs.context)

        lines = numbered_lines(file)
        done = await ingest(lines, trust.log, signals, trust.clock, most_bytes=LINE_LIMIT_BYTES)
        await trust.follower.catch_up()
    return done


def _tell(args: argparse.Namespace, done: Ingested) -> None:
    if args.json:
        problems = [{"line": line, "problem": str(problem)} for line, problem in done.problems]
        print(json.dumps({"taken": done.taken, "known": done.known, "problems": problems}, ensure_ascii=False))
        return
    for _line, problem in done.problems:
        print(f"myclaw: {visible(render(problem))}", file=sys.stderr)
    print(n_("{n} trace taken in", "{n} traces taken in", done.taken))
    if done.known:
        print(n_("{n} trace was known already", "{n} traces were known already", done.known))
    if done.problems:
        print(n_("{n} line is wrong", "{n} lines are wrong", len(done.problems)))
