"""What writing and reading a trace as a document costs, beside JSON alone."""

from __future__ import annotations

import json
from functools import partial

from benchmarks.timing import Comparison, Effort, compare
from benchmarks.world import memory_folder, reading_turn
from myclaw_core.codec import dumps, loads
from myclaw_core.runtime.types import ExecutionTrace

__all__ = ["run"]


async def run(effort: Effort) -> list[Comparison]:
    """Time one trace both ways."""
    with memory_folder() as root:
        async with reading_turn(root / "home", effort.steps) as (desk, channel):
            await desk.handle("Read all the notes.")
    (trace,) = channel.ended
    written = dumps(trace)
    document = json.loads(written)
    what = f"a trace of {effort.steps} steps"
    rounds = effort.slow_rounds * 10
    writing = await compare(
        "documents", f"writing {what}", partial(dumps, trace), "json", partial(json.dumps, document), rounds=rounds
    )
    reading = await compare(
        "documents",
        f"reading {what}",
        partial(loads, ExecutionTrace, written, "the trace"),
        "json",
        partial(json.loads, written),
        rounds=rounds,
    )
    return [writing, reading]
