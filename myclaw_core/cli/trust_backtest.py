"""`myclaw trust backtest`: the last 30 days again, with every action that its record allows done by itself."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Sequence
from typing import Any

from myclaw_core.cli.looking import tell_broken
from myclaw_core.cli.trust import tell_behind
from myclaw_core.cli.trust_open import OpenTrust, open_trust
from myclaw_core.columns import columns
from myclaw_core.files.visible import visible
from myclaw_core.messages import _
from myclaw_core.trust.backtest import BACKTEST_DAYS, BackTest
from myclaw_core.trust.conditions import best_of, ordinary_effect

__all__ = ["run"]


def run(args: argparse.Namespace) -> int:
    """Print what would have been asked, and what would have gone wrong."""
    return asyncio.run(_run(args))


async def _run(args: argparse.Namespace) -> int:
    async with open_trust(on_broken=tell_broken, on_behind=tell_behind) as trust:
        found = await _backtests(trust, " ".join(args.subject))
    if args.json:
        print(json.dumps([_json(one) for one in found], ensure_ascii=False, indent=2))
    elif found:
        print(_table(found))
    else:
        print(_("No action of the last {days} days could ever run by itself.", days=BACKTEST_DAYS))
    return 0


async def _backtests(trust: OpenTrust, which: str) -> list[BackTest]:
    """Return a back-test of each subject that was used, the one that would have saved most questions first."""
    from myclaw_core.door import thresholds_of

    thresholds = thresholds_of(trust.home, trust.dispatcher)
    found = []
    for subject in trust.orders.meant(which) if which else trust.book.subjects():
        effect = ordinary_effect(subject)
        if effect is not None:
            threshold = thresholds.for_effect(effect.effect_class, effect.reversibility)
            found.append(await trust.book.backtest(subject, threshold, best_of(subject)))
    return sorted(found, key=lambda one: (one.would_ask - one.asked, one.subject))


def _table(found: Sequence[BackTest]) -> str:
    headings = (_("asked"), _("would ask"), _("would run wrongly"), _("actor and class"))
    rows = [
        (str(one.asked), str(one.would_ask), str(one.would_run_wrongly), visible(" ".join(one.subject)))
        for one in found
    ]
    sums = (str(sum(getattr(one, name) for one in found)) for name in ("asked", "would_ask", "would_run_wrongly"))
    legend = _(
        "last {days} days; would run wrongly: you denied or undid it, or it broke a law, and it would have run",
        days=BACKTEST_DAYS,
    )
    return "\n".join((*columns([headings, *rows, (*sums, _("in all"))], right={0, 1, 2}), "", legend))


def _json(one: BackTest) -> dict[str, Any]:
    actor, effect_class = one.subject
    return {
        "actor": actor,
        "effect_class": effect_class,
        "days": one.days,
        "asked": one.asked,
        "would_ask": one.would_ask,
        "would_run_wrongly": one.would_run_wrongly,
    }
