"""Times a thing and its floor in turns, so that whatever else the machine does slows both."""

from __future__ import annotations

import gc
from collections.abc import Callable
from inspect import isawaitable
from statistics import median
from time import perf_counter
from typing import Any

from attrs import frozen

__all__ = ["Comparison", "Effort", "Timing", "compare", "times"]

Call = Callable[[], Any]


@frozen(kw_only=True)
class Effort:
    """How much is measured.

    Attributes:
        rounds: How often a cheap thing and its floor are timed.
        slow_rounds: The same for what takes a part of a second: processes and whole turns.
        subjects: How many subjects trust knows, for each measurement in which that counts.
        steps: Steps of a turn, events of a transaction.
        events: Rows of the trust store that are replayed.
    """

    rounds: int = 2000
    slow_rounds: int = 15
    subjects: tuple[int, ...] = (0, 100, 10_000)
    steps: int = 20
    events: int = 50_000


@frozen(kw_only=True)
class Timing:
    """How long one thing took, in seconds a call."""

    min_s: float
    median_s: float
    p99_s: float

    @classmethod
    def of(cls, samples_s: list[float]) -> Timing:
        """Sum up at least one sample."""
        ordered = sorted(samples_s)
        return cls(min_s=ordered[0], median_s=median(ordered), p99_s=ordered[int((len(ordered) - 1) * 0.99)])


@frozen(kw_only=True)
class Comparison:
    """One line of the table.

    Attributes:
        benchmark: The file it comes from.
        what: What was timed.
        floor_is: What it is held against.
        thing: Its timing.
        floor: The timing of the floor.
        size: Characters a call goes through; 0 where that says nothing.
    """

    benchmark: str
    what: str
    floor_is: str
    thing: Timing
    floor: Timing
    size: int = 0

    @property
    def ratio_median(self) -> float:
        """Return how many times the floor it takes, by medians."""
        return self.thing.median_s / self.floor.median_s

    @property
    def ratio_min(self) -> float:
        """Return how many times the floor it takes, by the fastest of each."""
        return self.thing.min_s / self.floor.min_s


async def compare(
    benchmark: str, what: str, thing: Call, floor_is: str, floor: Call, *, rounds: int, calls: int = 1, size: int = 0
) -> Comparison:
    """Time `thing` and `floor` in turns, after one untimed call of each.

    Args:
        thing: What is timed; one that returns a `float` has timed itself, in seconds.
        floor: Likewise.
        rounds: How often each is timed.
        calls: How many things happen in one call of `thing` or `floor`; see `times`.
        size: Characters a call goes through.
    """
    await _seconds(thing)
    await _seconds(floor)
    samples: tuple[list[float], list[float]] = ([], [])
    gc.collect()
    for _ in range(rounds):
        for call, found in zip((thing, floor), samples, strict=True):
            found.append(await _seconds(call) / calls)
    return Comparison(
        benchmark=benchmark,
        what=what,
        floor_is=floor_is,
        thing=Timing.of(samples[0]),
        floor=Timing.of(samples[1]),
        size=size,
    )


def times(number: int, call: Call) -> Call:
    """Return what makes a call `number` times: what takes less than a microsecond cannot be timed alone."""

    def repeated() -> None:
        for _ in range(number):
            call()

    return repeated


async def _seconds(call: Call) -> float:
    start = perf_counter()
    result = call()
    if isawaitable(result):
        result = await result
    spent = perf_counter() - start
    return result if isinstance(result, float) else spent
