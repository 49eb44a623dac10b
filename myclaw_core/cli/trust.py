"""`myclaw trust list | show`: what has been earned, by whom and for what."""

from __future__ import annotations

import argparse
import asyncio
import json

from myclaw_core.cli.looking import tell_broken
from myclaw_core.errors import UsageError
from myclaw_core.messages import N_
from myclaw_core.types.trust import TrustScore, TrustSubject

__all__ = ["run"]


def run(args: argparse.Namespace) -> int:
    """Run one trust command."""
    return asyncio.run(_list(args) if args.command == "trust list" else _show(args))


async def _list(args: argparse.Namespace) -> int:
    from myclaw_core.agent import Agent
    from myclaw_core.paths import Home
    from myclaw_core.trust.report import score_json, trust_table

    async with Agent.open(Home.find(), recover_turns=False, on_broken=tell_broken) as agent:
        scores = await agent.book.snapshot()
    if args.json:
        print(json.dumps([score_json(score) for score in scores.values()], ensure_ascii=False, indent=2))
    else:
        print(trust_table(scores, whole_turns=args.all))
    return 0


async def _show(args: argparse.Namespace) -> int:
    from myclaw_core.agent import Agent
    from myclaw_core.paths import Home
    from myclaw_core.trust.report import happening_json, score_json, subject_report

    async with Agent.open(Home.find(), recover_turns=False, on_broken=tell_broken) as agent:
        scores = await agent.book.snapshot()
        subject = _find(scores, args.subject)
        now = agent.clock.now()
        view = agent.book.view(subject, now)
        history = await agent.book.events(subject)
    if args.json:
        events = [happening_json(happening) for happening in history]
        print(json.dumps(score_json(scores[subject]) | {"history": events}, ensure_ascii=False, indent=2))
    elif view is not None:
        print(subject_report(scores[subject], view, history, now))
    return 0


def _find(scores: dict[TrustSubject, TrustScore], wanted: list[str]) -> TrustSubject:
    """Return the one subject that `ACTOR [CLASS]` names; a class may be cut short.

    Raises:
        UsageError: None fits, or several do.
    """
    actor = wanted[0]
    prefix = wanted[1] if len(wanted) > 1 else ""
    exact = [subject for subject in scores if subject == (actor, prefix)]
    matches = exact or [subject for subject in scores if subject[0] == actor and subject[1].startswith(prefix)]
    if not matches:
        given = " ".join(wanted)
        raise UsageError(N_("no subject '{subject}' has any history; see 'myclaw trust list'", subject=given))
    if len(matches) > 1:
        names = "; ".join(" ".join(subject) for subject in matches[:5])
        raise UsageError(N_("{n} subjects fit: {names}; name the class", n=len(matches), names=names))
    return matches[0]
