"""`myclaw trust report`: what the person's attention was spent on, and what moved."""

from __future__ import annotations

import argparse
import asyncio
import json

from myclaw_core.cli.looking import tell_broken
from myclaw_core.cli.trust import tell_behind
from myclaw_core.cli.trust_open import OpenTrust, open_trust
from myclaw_core.clock import local_zone
from myclaw_core.trust.attention import AttentionCounter, first_monday, recorded
from myclaw_core.trust.attention_report import AttentionReport, attention_json, attention_text
from myclaw_core.trust.flags import top_drift, wishful

__all__ = ["run"]


def run(args: argparse.Namespace) -> int:
    """Print the report."""
    return asyncio.run(_run(args))


async def _run(args: argparse.Namespace) -> int:
    async with open_trust(on_broken=tell_broken, on_behind=tell_behind) as trust:
        report = await _report(trust, args.weeks)
    if args.json:
        print(json.dumps(attention_json(report), ensure_ascii=False, indent=2))
    else:
        print(attention_text(report))
    return 0


async def _report(trust: OpenTrust, weeks: int) -> AttentionReport:
    now, zone = trust.clock.now(), local_zone()
    counter = AttentionCounter(zone)
    async for at, event in recorded(trust.log, first_monday(now, weeks, zone)):
        counter.take(at, event)
    scores = await trust.book.snapshot()
    return AttentionReport(
        weeks=counter.weeks(now, weeks),
        drift=await top_drift(trust.book, now),
        wishful=wishful(scores.values()),
    )
