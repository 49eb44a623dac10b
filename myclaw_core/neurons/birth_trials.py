"""Holds birth tests against small changes of their body: what no test notices is named (synthesis.md, stage 5)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Literal

from attrs import evolve

from myclaw_core.errors import UnavailableError
from myclaw_core.messages import N_
from myclaw_core.neurons.birth_mutants import Mutant
from myclaw_core.neurons.birth_report import BirthReport
from myclaw_core.neurons.birth_suite import SuiteRun
from myclaw_core.neurons.wall import WallClock
from myclaw_core.types.text import Text

__all__ = ["RunWith", "held_against"]

RunWith = Callable[[bytes], Awaitable[SuiteRun]]
"""Runs the tests with another `body.py`, to the first red one."""

_AT_ONCE = 2
_FREE_BORDERS = 2
_BORDER_SHARE = 3
"""Borders off by one may survive: two, or one in so many; more are a weakness."""

_Ending = Literal["noticed", "survived", "untried"]


async def held_against(
    report: BirthReport, source: bytes, chosen: Sequence[Mutant], run_with: RunWith, wall: WallClock
) -> BirthReport:
    """Return a green report with what the tests miss.

    A change is noticed where a test is red or the tests do not come to their end. A condition that was turned round, a
    branch that is never taken and another thing returned must all be noticed. A border off by one may change nothing
    (an amount of 0 added to a sum), so that some may survive. The unchanged body runs first: tests that are not green
    twice would notice anything.

    Args:
        source: The unchanged body.
        chosen: The changes to try.
        run_with: Its runs take no longer than `wall`.
        wall: Once it is over, what is left is not tried.

    Raises:
        UnavailableError: The sandbox is missing or failed.
    """
    if not chosen:
        return report
    again = await run_with(source)
    if wall.left_s() > 0 and (why := _red(again)) is not None:
        problem = N_("its tests are green only the first time; with the same body again: {why}", why=why)
        return evolve(report, problems=(problem,))
    endings = await _endings(chosen, run_with, wall)
    tried = [mutant for mutant, ending in zip(chosen, endings, strict=True) if ending != "untried"]
    survived = [mutant for mutant, ending in zip(chosen, endings, strict=True) if ending == "survived"]
    survived.sort(key=lambda mutant: (mutant.kind == "moved", mutant.line))
    return evolve(
        report,
        mutants=len(tried),
        untried=len(chosen) - len(tried),
        survivors=tuple(map(_told, survived)),
        weakness=_weakness(survived, tried, chosen),
    )


def _red(run: SuiteRun) -> Text | None:
    """Return why a run of the tests is not green; `None` where it is."""
    if run.problem is not None:
        return run.problem
    red = next((test for test in run.tests if test.outcome == "failed"), None)
    return None if red is None else N_("{name}: {reason}", name=red.name, reason=red.reason)


async def _endings(chosen: Sequence[Mutant], run_with: RunWith, wall: WallClock) -> Sequence[_Ending]:
    """Try the changes, two at a time; what was running when the time was over shows nothing."""
    endings: list[_Ending] = ["untried"] * len(chosen)
    failures: list[UnavailableError] = []
    left = iter(enumerate(chosen))

    async def work() -> None:
        for number, mutant in left:
            if failures or wall.left_s() <= 0:
                return
            try:
                red = _red(await run_with(mutant.source))
            except UnavailableError as error:
                failures.append(error)
                return
            if red is None:
                endings[number] = "survived"
            elif wall.left_s() > 0:
                endings[number] = "noticed"

    async with asyncio.TaskGroup() as group:
        for _ in range(_AT_ONCE):
            group.create_task(work())
    if failures:
        raise failures[0]
    return endings


def _told(mutant: Mutant) -> Text:
    return N_(
        "body.py:{line}: `{was}` became `{became}`, and no test noticed",
        line=mutant.line,
        was=mutant.was,
        became=mutant.became,
    )


def _weakness(survived: Sequence[Mutant], tried: Collection[Mutant], chosen: Collection[Mutant]) -> Text | None:
    if misses := sum(mutant.kind != "moved" for mutant in survived):
        return N_(
            "changes of its body that a test must notice and none did: {n} of {tried}; test what stands there, or take "
            "out what makes no difference",
            n=misses,
            tried=len(tried),
        )
    borders = sum(mutant.kind == "moved" for mutant in tried)
    if len(survived) > _FREE_BORDERS and len(survived) * _BORDER_SHARE > borders:
        return N_(
            "borders of its body that no test noticed off by one: {n} of {tried}; test what lies just at them",
            n=len(survived),
            tried=borders,
        )
    if 2 * len(tried) < len(chosen):
        return N_(
            "its tests are too slow to be held against changes of its body: {n} of {wanted} were tried in time; "
            "make them faster",
            n=len(tried),
            wanted=len(chosen),
        )
    return None
