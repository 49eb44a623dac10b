"""Runs many random histories through engine and oracle, on all cores, and reports the first difference."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from attrs import frozen
from histories import History, draw, shortened
from household import Household
from side_by_side import compare
from stores import MemoryStores

__all__ = ["Run", "run"]

_CHUNK = 250


@frozen
class Run:
    """What a run of histories gave.

    Attributes:
        seen: How often each verdict was reached through each check.
        difference: The first difference with what replays it; empty where there was none.
    """

    seen: Counter[str]
    difference: str = ""


def run(first: int, count: int) -> Run:
    """Compare the histories of `count` seeds from `first` on."""
    seen: Counter[str] = Counter()
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        parts = [pool.submit(_run_some, start, min(_CHUNK, first + count - start)) for start in _starts(first, count)]
        for part in as_completed(parts):
            seen += part.result().seen
            if part.result().difference:
                pool.shutdown(cancel_futures=True)
                return Run(seen, part.result().difference)
    return Run(seen)


def _starts(first: int, count: int) -> Iterator[int]:
    yield from range(first, first + count, _CHUNK)


def _run_some(first: int, count: int) -> Run:
    with TemporaryDirectory(prefix="household-") as base:
        return asyncio.run(_compare_some(Household(Path(base)), first, count))


async def _compare_some(household: Household, first: int, count: int) -> Run:
    async def differs(history: History) -> bool:
        return await compare(history, household, MemoryStores()) is not None

    seen: Counter[str] = Counter()
    for seed in range(first, first + count):
        if await compare(draw(seed), household, MemoryStores(), seen) is not None:
            history = await shortened(draw(seed), differs)
            difference = await compare(history, household, MemoryStores())
            return Run(seen, f"seed {seed}, {difference}\nreplay with compare({history!r}, …)")
    return Run(seen)
