"""`myclaw doctor`: what is wrong with the installation, line by line, and what to do."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from myclaw_core.files.visible import visible

if TYPE_CHECKING:
    from myclaw_core.doctor.diagnosis import Diagnosis

__all__ = ["run"]

_CHECK_WIDTH = 14


def run(args: argparse.Namespace) -> int:
    """Print what was found; 1 where something does not work."""
    from attrs import asdict

    from myclaw_core.clock import SystemClock
    from myclaw_core.doctor.examine import examine
    from myclaw_core.paths import Home

    found = asyncio.run(examine(Home.find(), SystemClock(), call=args.call))
    if args.json:
        print(json.dumps([asdict(each) for each in found], ensure_ascii=False, indent=2))
    else:
        print("\n".join(_lines(found)))
    return 1 if any(each.state == "fail" for each in found) else 0


def _lines(found: Sequence[Diagnosis]) -> Iterator[str]:
    for each in found:
        yield visible(f"{each.state:<4}  {each.check:<{_CHECK_WIDTH}}  {each.what}")
        if each.todo:
            yield visible(f"{'':<{_CHECK_WIDTH + 8}}{each.todo}")
    failed = sum(each.state == "fail" for each in found)
    warned = sum(each.state == "warn" for each in found)
    yield f"{failed} to mend, {warned} to look at" if failed or warned else "All is well."
