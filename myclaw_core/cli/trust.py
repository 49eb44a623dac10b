"""`myclaw trust list | show`: what has been earned, by whom and for what, and what is still lacking."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys

from myclaw_core.cli.looking import tell_broken
from myclaw_core.cli.trust_open import OpenTrust, open_trust
from myclaw_core.errors import MyclawError, UsageError
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_, render
from myclaw_core.types.trust import TrustScore, TrustSubject

__all__ = ["run", "tell_behind"]


def run(args: argparse.Namespace) -> int:
    """Run one command that looks at trust."""
    return asyncio.run(_list(args) if args.command == "trust list" else _show(args))


def tell_behind(error: MyclawError) -> None:
    """Say in one line that what is shown is older than what happened."""
    print(f"myclaw: {visible(render(error))}", file=sys.stderr)


async def _list(args: argparse.Namespace) -> int:
    from myclaw_core.trust.report import begins_with, score_json, trust_table

    async with open_trust(on_broken=tell_broken, on_behind=tell_behind) as trust:
        scores = await trust.book.snapshot()
    if args.json:
        shown = [score_json(score) for score in scores.values() if begins_with(score, args.prefix)]
        print(json.dumps(shown, ensure_ascii=False, indent=2))
    else:
        print(visible(trust_table(scores, prefix=args.prefix, whole_turns=args.all), keep="\n"))
    return 0


async def _show(args: argparse.Namespace) -> int:
    async with open_trust(on_broken=tell_broken, on_behind=tell_behind) as trust:
        scores = await trust.book.snapshot()
        subject = _find(scores, args.subject)
        print(await _shown(trust, scores[subject], as_json=args.json))
    return 0


async def _shown(trust: OpenTrust, score: TrustScore, *, as_json: bool) -> str:
    from myclaw_core.door import thresholds_of
    from myclaw_core.trust import report
    from myclaw_core.trust.conditions import outlook

    now, subject = trust.clock.now(), score.subject
    history = await trust.book.events(subject)
    await trust.book.checked()  # until then nothing is promoted, which says nothing about the subject
    found = outlook(subject, trust.book, thresholds_of(trust.home, trust.dispatcher), now)
    if as_json:
        shown = report.score_json(score) | {
            "promotion": report.outlook_json(found) if found else None,
            "history": [report.happening_json(happening) for happening in history],
        }
        return json.dumps(shown, ensure_ascii=False, indent=2)
    view = trust.book.view(subject, now)
    told = report.subject_report(score, view, history, now) if view else ""
    return f"{told}\n\n{report.outlook_report(found)}" if found else told


def _find(scores: dict[TrustSubject, TrustScore], wanted: list[str]) -> TrustSubject:
    """Return the one subject that `ACTOR [CLASS]` names; a class may be cut short.

    Raises:
        UsageError: None fits, or several do.
    """
    actor, prefix = wanted[0], " ".join(wanted[1:])
    exact = [subject for subject in scores if subject == (actor, prefix)]
    matches = exact or [subject for subject in scores if subject[0] == actor and subject[1].startswith(prefix)]
    if not matches:
        given = " ".join(wanted)
        raise UsageError(N_("no subject '{subject}' has any history; see 'myclaw trust list'", subject=given))
    if len(matches) > 1:
        names = "; ".join(" ".join(subject) for subject in matches[:5])
        raise UsageError(N_("{n} subjects fit: {names}; name the class", n=len(matches), names=names))
    return matches[0]
