"""`myclaw trust revoke | restore | rollback`: takes trust away and gives it back, and says before what that means."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime

from myclaw_core.cli.asking import says_yes
from myclaw_core.cli.person import sender
from myclaw_core.cli.trust_open import open_trust
from myclaw_core.clock import local_zone
from myclaw_core.columns import columns
from myclaw_core.errors import UsageError
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_, _, n_
from myclaw_core.trust.happenings import Sample
from myclaw_core.trust.stamp import stamp
from myclaw_core.trust.subject import subjects_fitting
from myclaw_core.types.trust import TrustSubject

__all__ = ["agrees", "run"]

_EVERYTHING = "*"


def run(args: argparse.Namespace) -> int:
    """Do what is ordered; 1 where the person said no."""
    orders = {"trust revoke": _revoke, "trust restore": _restore, "trust rollback": _rollback}
    return orders[args.command](args)


def agrees(args: argparse.Namespace, told: str, question: str) -> bool:
    """Say what a command will do and return whether the person wants that.

    Raises:
        UsageError: Nobody can be asked, and `--yes` was not given.
    """
    if args.json:
        if not args.yes:
            raise UsageError(N_("--json asks nobody; add --yes to agree to what is said without it"))
        return True
    print(told)
    if args.yes or says_yes(question):
        return True
    print(_("nothing was changed"))
    return False


def _revoke(args: argparse.Namespace) -> int:
    if bool(args.subject) == args.all:
        raise UsageError(N_("give either a subject or --all"))
    which = _EVERYTHING if args.all else " ".join(args.subject)
    if args.all:
        n = asyncio.run(_count())
        if not n:
            _tell(args, "revoked", (), _("No action has earned anything yet."))
            return 0
        told = n_("Takes away all that {n} subject has earned.", "Takes away all that {n} subjects have earned.", n)
        if not agrees(args, told, _("Take it away? [y/N] ")):
            return 1
    return asyncio.run(_revoked(args, which))


async def _count() -> int:
    async with open_trust() as trust:
        return len(subjects_fitting(_EVERYTHING, trust.book.subjects()))


async def _revoked(args: argparse.Namespace, which: str) -> int:
    async with open_trust() as trust:
        subjects = await trust.orders.revoke(which, sender=sender())
    _tell(args, "revoked", subjects, _("Taken away; this asks again:"))
    return 0


def _restore(args: argparse.Namespace) -> int:
    return asyncio.run(_restored(args, " ".join(args.subject)))


async def _restored(args: argparse.Namespace, which: str) -> int:
    async with open_trust() as trust:
        lost = trust.orders.taken_away(which)
        if lost:
            await trust.orders.restore(which, sender=sender())
    _tell(args, "restored", lost, _("Given back:") if lost else _("Nothing of that was taken away."))
    return 0


def _rollback(args: argparse.Namespace) -> int:
    which, to = " ".join(args.subject), _moment(args.to)
    if not agrees(args, asyncio.run(_rollback_told(which, to)), _("Roll back? [y/N] ")):
        return 1
    return asyncio.run(_rolled_back(args, which, to))


def _moment(text: str) -> datetime:
    """Return the moment that was typed; one without a time zone is local.

    Raises:
        UsageError: It is none.
    """
    try:
        moment = datetime.fromisoformat(text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=local_zone())
        for zone in (UTC, local_zone()):
            moment.astimezone(zone)  # at either end of the calendar it has no such date
    except (ValueError, OverflowError) as error:
        raise UsageError(
            N_("--to is {text}; give a moment such as 2026-03-01, 2026-03-01T18:30 or 2026-03-01T17:30Z", text=text)
        ) from error
    return moment


async def _rollback_told(which: str, to: datetime) -> str:
    rows = []
    async with open_trust() as trust:
        for subject in trust.orders.meant(which):
            happened = [one for one in await trust.book.events(subject) if isinstance(one, Sample)]
            lost = sum(one.at >= to for one in happened)
            rows.append((str(lost), _("of {n} samples", n=len(happened)), visible(" ".join(subject))))
    head = _(
        "What was recorded from {moment} on counts no more:", moment=f"{to.astimezone(local_zone()):%Y-%m-%d %H:%M}"
    )
    return "\n".join((head, *(f"  {line}" for line in columns(rows, right={0}))))


async def _rolled_back(args: argparse.Namespace, which: str, to: datetime) -> int:
    async with open_trust() as trust:
        subjects = await trust.orders.rollback(which, to, sender=sender())
    _tell(args, "rolled_back", subjects, _("Rolled back:"), to=stamp(to))
    return 0


def _tell(args: argparse.Namespace, word: str, subjects: Sequence[TrustSubject], head: str, **more: str) -> None:
    if args.json:
        named = [{"actor": actor, "effect_class": effect_class} for actor, effect_class in subjects]
        print(json.dumps({word: named, **more}, ensure_ascii=False))
    else:
        print("\n".join((head, *(f"  {visible(' '.join(subject))}" for subject in subjects))))
