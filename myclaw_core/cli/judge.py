"""`myclaw judge`: whether the judge and the critic are heard, and how well they were measured to do."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from attrs import frozen

from myclaw_core.columns import columns
from myclaw_core.errors import UnavailableError
from myclaw_core.events.words import word
from myclaw_core.files.visible import visible
from myclaw_core.messages import _, render
from myclaw_core.types.text import Text

if TYPE_CHECKING:
    from myclaw_core.agent import Agent
    from myclaw_core.judging.seat import CriticSeat, JudgeSeat
    from myclaw_core.judging.types import Calibration

__all__ = ["calibration_json", "run", "taken"]


@frozen(kw_only=True)
class _Heard:
    """How a slot stands.

    Attributes:
        name: Who sits there; empty where nobody does.
        why: Why nobody is heard, or `None`.
    """

    kind: str
    name: str
    model: str
    why: Text | None


def run(args: argparse.Namespace) -> int:
    """List how the slots stand and what is on record."""
    return asyncio.run(_list(args))


def taken(agent: Agent, kind: str) -> JudgeSeat | CriticSeat:
    """Return the seat of the judge or the critic of the slots.

    Raises:
        UnavailableError: Nobody sits there.
    """
    from myclaw_core.judging.seat import CriticSeat, JudgeSeat

    slots, dispatcher = agent.services.config.slots, agent.dispatcher
    if kind == "judge":
        return JudgeSeat.of(dispatcher.judge(slots.judge), agent.log, agent.clock)
    return CriticSeat.of(dispatcher.critic(slots.critic), agent.log, agent.clock)


def calibration_json(found: Calibration) -> dict[str, Any]:
    """Return a measurement for programs."""
    from myclaw_core.events.log import stamp
    from myclaw_core.judging.seat import passes

    return {
        "kind": found.kind,
        "name": found.name,
        "rubric": found.rubric,
        "model": found.model,
        "items": found.items,
        "n": found.n,
        "auc": round(found.auc, 4),
        "by_language": {language: round(value, 4) for language, value in found.by_language.items()},
        "passes": passes(found),
        "at": stamp(found.at),
    }


async def _list(args: argparse.Namespace) -> int:
    from myclaw_core.agent import Agent
    from myclaw_core.judging.records import calibrations
    from myclaw_core.paths import Home

    async with Agent.open(Home.find(), recover_turns=False) as agent:
        heard = [await _heard(agent, kind) for kind in ("judge", "critic")]
        found = await calibrations(agent.log)
    if args.json:
        print(json.dumps(_document(heard, found), ensure_ascii=False, indent=2))
        return 0
    for line in (*map(_told, heard), "", *_table(found)):
        print(visible(line))
    return 0


async def _heard(agent: Agent, kind: str) -> _Heard:
    from myclaw_core.runtime.scoring import first_that_scores

    local = agent.services.local
    model = first_that_scores(local).model if local else ""
    try:
        seat = taken(agent, kind)
    except UnavailableError as error:
        return _Heard(kind=kind, name="", model=model, why=error.text)
    return _Heard(kind=kind, name=seat.name, model=model, why=await seat.heard(model))


def _told(each: _Heard) -> str:
    kind = word(each.kind)
    if each.why is not None:
        return _("{kind}: not heard: {why}", kind=kind, why=render(each.why))
    return _("{kind}: {name} is heard, with {model}", kind=kind, name=each.name, model=each.model)


def _table(found: Sequence[Calibration]) -> Iterator[str]:
    from myclaw_core.clock import local_zone
    from myclaw_core.judging.seat import passes

    if not found:
        yield _("nothing was measured yet; 'myclaw judge calibrate' does that")
        return
    head = (_("who"), _("rubric"), _("model"), _("items"), _("AUC"), _("by language"), _("when"), _("good enough"))
    rows = [
        (
            f"{word(each.kind)} {each.name}",
            each.rubric,
            each.model,
            f"{each.n}",
            f"{each.auc:.2f}",
            ", ".join(f"{language} {value:.2f}" for language, value in sorted(each.by_language.items())),
            f"{each.at.astimezone(local_zone()):%Y-%m-%d %H:%M}",
            _("yes") if passes(each) else _("no"),
        )
        for each in found
    ]
    yield from columns([head, *rows], right=(3, 4))


def _document(heard: Sequence[_Heard], found: Sequence[Calibration]) -> dict[str, Any]:
    return {
        "seats": [
            {
                "kind": each.kind,
                "name": each.name,
                "model": each.model,
                "heard": each.why is None,
                "why": str(each.why or ""),
            }
            for each in heard
        ],
        "measured": [*map(calibration_json, found)],
    }
