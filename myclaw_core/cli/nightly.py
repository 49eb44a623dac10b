"""`myclaw nightly`: does the work of the night once and says what there is to tell."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys

from myclaw_core.cli.trust_open import open_trust
from myclaw_core.clock import local_zone
from myclaw_core.files.visible import visible
from myclaw_core.messages import _, render
from myclaw_core.nightly.run import NightlyReport, NightlyWork, run_nightly

__all__ = ["run"]


def run(args: argparse.Namespace) -> int:
    """Do the work; 1 where a part of it failed."""
    report = asyncio.run(_run())
    if args.json:
        print(json.dumps(_json(report), ensure_ascii=False, indent=2))
    else:
        _tell(report)
    return 1 if report.problems else 0


async def _run() -> NightlyReport:
    from myclaw_core.compose import embedding_book
    from myclaw_core.door import thresholds_of
    from myclaw_core.nightly.proposing import Proposing
    from myclaw_core.undo.sweep import UndoSweeper

    async with open_trust() as trust:
        embedding = embedding_book(trust.dispatcher, trust.config, trust.clock)
        work = NightlyWork(
            log=trust.log,
            book=trust.book,
            backend=trust.backend,
            dispatcher=trust.dispatcher,
            clock=trust.clock,
            thresholds=thresholds_of(trust.home, trust.dispatcher),
            undo=UndoSweeper.of(trust.log, trust.home, trust.clock, trust.config),
            zone=local_zone(),
            proposing=Proposing.configured(trust.log, trust.clock, embedding, trust.config),
        )
        try:
            return await run_nightly(work)
        finally:
            await embedding.close()


def _tell(report: NightlyReport) -> None:
    night = report.night.isoformat()
    for problem in report.problems:
        print(f"myclaw: {visible(render(problem))}", file=sys.stderr)
    if report.problems:
        print(_("the night to {night} is not done; the next run tries again", night=night))
    elif report.done_before:
        print(_("the night to {night} was done already", night=night))
    else:
        print(_("the night to {night} is done", night=night))
    for line in report.lines:
        print(f"  {visible(render(line))}")


def _json(report: NightlyReport) -> dict[str, object]:
    return {
        "night": report.night.isoformat(),
        "done": not report.problems,
        "done_before": report.done_before,
        "lines": list(map(str, report.lines)),
        "problems": list(map(str, report.problems)),
    }
