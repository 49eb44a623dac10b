"""`myclaw budget`: what was spent, on what, and what is left."""

from __future__ import annotations

import argparse
import asyncio
import json

from myclaw_core.budget.report import WEEK_DAYS, budget_json, budget_text
from myclaw_core.cli.books import open_books
from myclaw_core.cli.looking import tell_broken

__all__ = ["run"]


def run(args: argparse.Namespace) -> int:
    """Print today and the last days."""
    return asyncio.run(_run(args))


async def _run(args: argparse.Namespace) -> int:
    async with open_books(on_broken=tell_broken) as books:
        standing, days = await books.ledger.standing(), await books.ledger.books(WEEK_DAYS)
    if args.json:
        print(json.dumps(budget_json(standing, days), ensure_ascii=False, indent=2))
    else:
        print(budget_text(standing, days))
    return 0
