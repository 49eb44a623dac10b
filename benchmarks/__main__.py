"""`python -m benchmarks [NAME] [--json]`: times each thing and its floor in the same run and prints the ratio."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from attrs import evolve

from benchmarks.timing import Comparison, Effort, Timing

__all__ = ["NAMES", "main"]

NAMES = (
    "start",
    "serve_start",
    "decision",
    "cedar",
    "trust_read",
    "trust_write",
    "trust_replay",
    "loop",
    "interrupt",
    "log_append",
    "redaction",
    "documents",
    "neuron_check",
    "neuron_load",
    "neuron_run",
    "neuron_birth",
    "embedding",
    "judging",
)
_QUICK = Effort(rounds=2, slow_rounds=1, subjects=(0, 3), steps=2, events=20)
_COLUMNS = ("what", "floor", "× floor, median", "× floor, min", "median µs", "min µs", "p99 µs", "floor median µs")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmarks and return 0."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", nargs="?", choices=NAMES, help="which one; all by default")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")
    parser.add_argument("--quick", action="store_true", help="measure next to nothing: only see that it runs")
    parser.add_argument("--events", type=int, metavar="N", help="rows of the trust store that are replayed")
    args = parser.parse_args(argv)
    effort = _QUICK if args.quick else Effort()
    if args.events:
        effort = evolve(effort, events=args.events)
    if not args.json:
        _say(_row(_COLUMNS))
        _say(_row(["---"] * len(_COLUMNS)))
    for name in [args.name] if args.name else NAMES:
        found: list[Comparison] = asyncio.run(import_module(f"benchmarks.{name}").run(effort))
        for comparison in found:
            _say(json.dumps(_document(comparison)) if args.json else _row(_cells(comparison)))
    return 0


def _document(found: Comparison) -> dict[str, Any]:
    return {
        "benchmark": found.benchmark,
        "what": found.what,
        "floor_is": found.floor_is,
        "ratio_median": found.ratio_median,
        "ratio_min": found.ratio_min,
        "thing_s": _timing(found.thing),
        "floor_s": _timing(found.floor),
        "mb_per_s": _mb_per_s(found),
    }


def _timing(timing: Timing) -> dict[str, float]:
    return {"min": timing.min_s, "median": timing.median_s, "p99": timing.p99_s}


def _mb_per_s(found: Comparison) -> float | None:
    """Return millions of characters a second, by the median."""
    return found.size / found.thing.median_s / 1e6 if found.size else None


def _cells(found: Comparison) -> list[str]:
    speed = _mb_per_s(found)
    times_s = (found.thing.median_s, found.thing.min_s, found.thing.p99_s, found.floor.median_s)
    return [
        found.what if speed is None else f"{found.what} ({speed:.0f} MB/s)",
        found.floor_is,
        f"{found.ratio_median:.1f}",
        f"{found.ratio_min:.1f}",
        *map(_micro, times_s),
    ]


def _micro(seconds: float) -> str:
    micro = seconds * 1e6
    return f"{micro:,.0f}" if micro >= 10 else f"{micro:.2f}"  # noqa: PLR2004 - two digits say enough


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
