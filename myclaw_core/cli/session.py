"""`myclaw session`: the autonomy level of all sessions, set for a time after its cost was stated and agreed to."""

from __future__ import annotations

import argparse
import asyncio
import json
from datetime import timedelta
from typing import Any

from attrs import frozen

from myclaw_core.budget.estimate import Estimate
from myclaw_core.cli.asking import says_yes
from myclaw_core.cli.books import Books, open_books
from myclaw_core.cli.looking import tell_broken
from myclaw_core.cli.person import sender
from myclaw_core.errors import UsageError
from myclaw_core.messages import N_, _, render
from myclaw_core.types.effect import Autonomy, autonomy_le

__all__ = ["run"]


@frozen(kw_only=True)
class _Offer:
    """What a level would mean."""

    needs_consent: bool
    configured: Autonomy
    estimate: Estimate


def run(args: argparse.Namespace) -> int:
    """Show, set or end the level; 1 where the person said no."""
    if args.end and (args.level or args.lasts_s):
        raise UsageError(N_("give either --end or --level with --for"))
    if bool(args.level) != bool(args.lasts_s):
        raise UsageError(N_("give --level and --for together, such as --level full --for 24h"))
    if args.level:
        return _begin(args, timedelta(seconds=args.lasts_s))
    return asyncio.run(_end(args) if args.end else _show(args))


def _begin(args: argparse.Namespace, lasts: timedelta) -> int:
    offer = asyncio.run(_offer(args.level, lasts))
    if offer.needs_consent and not _agrees(args, offer):
        print(_("nothing was changed"))
        return 1
    return asyncio.run(_set(args, lasts, offer.estimate.eur if offer.needs_consent else None))


def _agrees(args: argparse.Namespace, offer: _Offer) -> bool:
    """State what a level costs and means, and return whether the person agrees."""
    if args.json:
        if not args.yes:
            raise UsageError(N_("--json asks nobody; add --yes to agree to what 'myclaw session' states without it"))
        return True
    print(render(offer.estimate.text))
    if args.level == "full":
        print(_("Inside the open folders, what can be undone runs without a question; what cannot is asked each time."))
    print(_("Every session follows it; then {level} stands again.", level=offer.configured))
    return args.yes or says_yes(_("Start? [y/N] "))


async def _offer(level: Autonomy, lasts: timedelta) -> _Offer:
    async with open_books() as books:
        return _Offer(
            needs_consent=await books.levels.needs_consent(level),
            configured=books.levels.configured,
            estimate=await books.ledger.estimate(level, lasts),
        )


async def _set(args: argparse.Namespace, lasts: timedelta, estimate_eur: float | None) -> int:
    async with open_books() as books:
        await books.levels.begin(sender(), args.level, lasts, estimate_eur=estimate_eur)
        await _tell(args, books, estimate_eur=estimate_eur)
    return 0


async def _show(args: argparse.Namespace) -> int:
    async with open_books(on_broken=tell_broken) as books:
        await _tell(args, books)
    return 0


async def _end(args: argparse.Namespace) -> int:
    """End the level that was set; where that raises the level, its cost is stated before."""
    async with open_books(on_broken=tell_broken) as books:
        after = books.levels.configured
        if not args.json and not autonomy_le(after, await books.levels.now()):
            print(render((await books.ledger.estimate(after)).text))
        if not await books.levels.end(sender()) and not args.json:
            print(_("no level was set for a time"))
        await _tell(args, books)
    return 0


async def _tell(args: argparse.Namespace, books: Books, **more: Any) -> None:
    if not args.json:
        print(render(await books.levels.words()))
        return
    term = await books.levels.term()
    found = {
        "level": await books.levels.now(),
        "until": term.ends_at.isoformat().replace("+00:00", "Z") if term else None,
        "set_by": term.sender if term else None,
        "configured": books.levels.configured,
    }
    print(json.dumps(found | more, ensure_ascii=False))
