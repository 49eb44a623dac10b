"""`myclaw trust repair`: makes damaged scores again from their events."""

from __future__ import annotations

import argparse
import asyncio
import json

from myclaw_core.cli.trust_open import open_trust
from myclaw_core.cli.trust_orders import agrees
from myclaw_core.errors import TrustCorruptionError
from myclaw_core.files.visible import visible
from myclaw_core.messages import _, n_
from myclaw_core.trust.audit import TrustReport
from myclaw_core.types.text import joined
from myclaw_core.types.trust import TrustSubject

__all__ = ["run"]


def run(args: argparse.Namespace) -> int:
    """Say what is damaged, ask, and mend it; 1 where the person said no, or the events themselves are damaged."""
    report = asyncio.run(_checked())
    if report.problems and not report.damaged:
        raise TrustCorruptionError(joined(report.problems))
    if not report.damaged:
        _tell(args, (), _("No score is damaged."))
        return 0
    told = n_(
        "{n} score is not what its events give:", "{n} scores are not what their events give:", len(report.damaged)
    )
    if not agrees(args, "\n".join((told, *_lines(report.damaged))), _("Make them again from their events? [y/N] ")):
        return 1
    damaged = asyncio.run(_repaired())
    _tell(args, damaged, n_("{n} score made again:", "{n} scores made again:", len(damaged)))
    return 0


async def _checked() -> TrustReport:
    async with open_trust() as trust:
        return await trust.book.verify()


async def _repaired() -> tuple[TrustSubject, ...]:
    async with open_trust() as trust:
        return await trust.book.repair()


def _tell(args: argparse.Namespace, subjects: tuple[TrustSubject, ...], head: str) -> None:
    if args.json:
        named = [{"actor": actor, "effect_class": effect_class} for actor, effect_class in subjects]
        print(json.dumps({"repaired": named}, ensure_ascii=False))
    else:
        print("\n".join((head, *_lines(subjects))))


def _lines(subjects: tuple[TrustSubject, ...]) -> list[str]:
    return [f"  {visible(' '.join(subject))}" for subject in subjects]
