"""`myclaw doctor`: what is wrong with the installation, line by line, and what to do."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from myclaw_core.errors import UsageError
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_, _, render

if TYPE_CHECKING:
    from myclaw_core.doctor.diagnosis import Diagnosis

__all__ = ["run"]


def run(args: argparse.Namespace) -> int:
    """Print what was found; 1 where something does not work.

    Raises:
        UsageError: An option of `--prove` stands alone.
    """
    if args.prove:
        from myclaw_core.cli.prove import run as run_proof

        return run_proof(args)
    if args.replay is not None or args.cases is not None or args.seed is not None:
        raise UsageError(N_("--seed, --cases and --replay belong to --prove"))
    from myclaw_core.clock import SystemClock
    from myclaw_core.doctor.examine import examine
    from myclaw_core.paths import Home

    found = asyncio.run(examine(Home.find(), SystemClock(), call=args.call))
    if args.json:
        print(json.dumps(list(map(_json, found)), ensure_ascii=False, indent=2))
    else:
        print("\n".join(_lines(found)))
    return 1 if any(each.state == "fail" for each in found) else 0


def _json(each: Diagnosis) -> dict[str, Any]:
    return {"check": str(each.check), "state": each.state, "what": str(each.what), "todo": str(each.todo or "")}


def _lines(found: Sequence[Diagnosis]) -> Iterator[str]:
    states = {"ok": _("ok"), "warn": _("warn"), "fail": _("fail")}
    state_width = max(map(len, states.values()))
    check_width = max(len(render(each.check)) for each in found)
    for each in found:
        yield visible(f"{states[each.state]:<{state_width}}  {render(each.check):<{check_width}}  {render(each.what)}")
        if each.todo:
            yield visible(f"{'':<{state_width + check_width + 4}}{render(each.todo)}")
    failed = sum(each.state == "fail" for each in found)
    warned = sum(each.state == "warn" for each in found)
    if failed or warned:
        yield _("{failed} to mend, {warned} to look at", failed=failed, warned=warned)
    else:
        yield _("All is well.")
