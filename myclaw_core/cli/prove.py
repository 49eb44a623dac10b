"""`myclaw doctor --prove`: tries on this installation what myclaw promises; nothing is run and nothing written."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from myclaw_core.files.visible import visible
from myclaw_core.messages import _, n_, render

if TYPE_CHECKING:
    from myclaw_core.doctor.prove.run import Tried

__all__ = ["DEFAULT_CASES", "run"]

DEFAULT_CASES = 500
_SEEDS = 10**9


def run(args: argparse.Namespace) -> int:
    """Print what the cases showed; 1 where a promise was broken, or never put to the test."""
    import asyncio

    from myclaw_core.clock import SystemClock

    clock = SystemClock()
    seed = clock.new_id().int % _SEEDS if args.seed is None else args.seed
    cases = args.cases or DEFAULT_CASES
    tried = asyncio.run(_tried(args, clock, seed, cases))
    if args.json:
        print(json.dumps({"seed": seed, "properties": list(map(_json, tried))}, ensure_ascii=False, indent=2))
    else:
        print("\n".join(_lines(tried, None if args.replay else seed)))
    return 0 if all(each.telling and each.problem is None for each in tried) else 1


async def _tried(args: argparse.Namespace, clock: Any, seed: int, cases: int) -> Sequence[Tried]:
    from myclaw_core.doctor.prove.bench import Bench
    from myclaw_core.doctor.prove.run import prove, replay
    from myclaw_core.paths import Home

    async with Bench.open(Home.find(), clock) as bench:
        return [await replay(bench, args.replay)] if args.replay else await prove(bench, seed=seed, cases=cases)


def _json(each: Tried) -> dict[str, Any]:
    return {
        "property": each.property,
        "claim": str(each.claim),
        "held": each.problem is None,
        "cases": each.cases,
        "telling": each.telling,
        "problem": str(each.problem or ""),
        "case": json.loads(each.line) if each.line else None,
    }


def _lines(tried: Sequence[Tried], seed: int | None) -> Iterator[str]:
    ok, untried, broken = _("ok"), _("warn"), _("fail")
    width = max(map(len, (ok, untried, broken))) + 2
    for each in tried:
        state = broken if each.problem is not None else ok if each.telling else untried
        yield visible(f"{state:<{width}}{render(each.claim)}")
        yield from (" " * width + line for line in _details(each))
    failed = sum(each.problem is not None for each in tried)
    open_ones = sum(each.problem is None and not each.telling for each in tried)
    if seed is not None:
        yield _("seed {seed}; '--seed {seed}' draws the same cases again", seed=str(seed))
    if failed:
        yield n_("{n} promise is broken here", "{n} promises are broken here", failed)
    elif open_ones:
        yield n_(
            "No case breaks a promise, but {n} promise was not put to the test; try more with --cases",
            "No case breaks a promise, but {n} promises were not put to the test; try more with --cases",
            open_ones,
        )
    else:
        yield _("No case breaks a promise.")


def _details(each: Tried) -> Iterator[str]:
    if each.problem is not None:
        yield visible(_("case {number}, made as small as it goes: {problem}", number=each.cases, problem=each.problem))
        yield f"myclaw doctor --prove --replay {shlex.quote(each.line)}"
    elif each.telling:
        yield n_(
            "{n} case, {telling} to the point", "{n} cases, {telling} to the point", each.cases, telling=each.telling
        )
    else:
        yield n_(
            "{n} case, not to the point: this shows nothing",
            "{n} cases, none to the point: this shows nothing",
            each.cases,
        )
