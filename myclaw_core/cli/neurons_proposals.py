"""`myclaw neurons proposals | dossier`: what may be designed, is under way or ended, and all about one draft."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from myclaw_core import codec
from myclaw_core.cli.design_words import about, stage_word
from myclaw_core.clock import local_zone
from myclaw_core.columns import columns
from myclaw_core.files.visible import visible
from myclaw_core.messages import _
from myclaw_core.neurons.admission import Admission

if TYPE_CHECKING:
    from myclaw_core.neurons.drafts import Tested
    from myclaw_core.synthesis.types import Synthesis

__all__ = ["run"]

_SHORT = 12
_GOAL_CHARS = 60


def run(args: argparse.Namespace) -> int:
    """Print the list, or one dossier."""
    if args.command == "neurons dossier":
        return asyncio.run(_dossier(args.id, as_json=args.json))
    found = asyncio.run(_proposals())
    if args.json:
        print(json.dumps(list(map(_json, found)), ensure_ascii=False, indent=2))
    else:
        print("\n".join(_lines(found)))
    return 0


async def _proposals() -> Sequence[Synthesis]:
    from myclaw_core.cli.neurons_open import open_neurons
    from myclaw_core.synthesis.store import standing

    async with open_neurons() as neurons:
        return await standing(neurons.trust.log)


def _lines(found: Sequence[Synthesis]) -> Iterator[str]:
    if not found:
        yield _("nothing was proposed; 'myclaw neurons synthesize GOAL' designs a neuron")
        return
    rows = [[_("id"), _("since"), _("stage"), _("goal")]]
    for each in found:
        goal = each.request.goal
        shown = goal if len(goal) <= _GOAL_CHARS else f"{goal[: _GOAL_CHARS - 1]}…"
        at = f"{each.at.astimezone(local_zone()):%Y-%m-%d %H:%M}"
        rows.append([str(each.id)[-_SHORT:], at, stage_word(each), visible(shown)])
    yield from columns(rows)
    if any(each.stage == "direction" for each in found):
        yield _("what waits for your word to begin: 'myclaw neurons synthesize --resume ID' asks you")
    if any(each.stage == "approval" for each in found):
        yield _("a draft waits for your answer: 'myclaw neurons dossier ID' shows it, /pending puts the question")


def _json(each: Synthesis) -> dict[str, Any]:
    document = codec.unstructure(each)
    document["feedback"] = list(map(str, each.feedback))
    document.pop("files", None)
    return dict(document)


async def _dossier(named: str, *, as_json: bool) -> int:
    from myclaw_core.cli.neurons_open import open_neurons
    from myclaw_core.neurons import records
    from myclaw_core.neurons.dossier import dossier
    from myclaw_core.synthesis.store import matching

    async with open_neurons() as neurons:
        trust = neurons.trust
        synthesis = await matching(trust.log, named)
        if synthesis.stage != "approval":
            print(_document(synthesis, None) if as_json else about(synthesis))
            return 0
        admission = Admission.configured(trust.home, trust.log, trust.clock, trust.dispatcher, trust.config)
        draft = admission.drafts.read(synthesis.digest)
        replaces = records.digest_on_record(await records.find(trust.log, draft.manifest.name))
        if as_json:
            print(_document(synthesis, draft.tested))
        else:
            print(dossier(draft, admission.around(draft.manifest, replaces)))
    return 0


def _document(synthesis: Synthesis, tested: Tested | None) -> str:
    """Return how it stands and, where its draft waits for an answer, what the tests of that showed."""
    document = {"proposal": _json(synthesis), "tested": codec.unstructure(tested)}
    return json.dumps(document, ensure_ascii=False, indent=2)
