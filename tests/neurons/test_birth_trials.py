"""What changes that no birth test noticed mean, and that all of them end in time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import pytest
from attrs import evolve
from births import BODY, GREEN, born
from drafted_neurons import report_of

from myclaw_core.errors import UnavailableError
from myclaw_core.messages import N_
from myclaw_core.neurons.birth_mutants import Kind, Mutant
from myclaw_core.neurons.birth_report import BirthReport, BirthTest
from myclaw_core.neurons.birth_suite import SuiteRun
from myclaw_core.neurons.birth_trials import held_against
from myclaw_core.neurons.wall import WallClock
from myclaw_core.sandbox.types import SandboxReport
from myclaw_core.testing import FakeClock
from myclaw_core.types.text import Text

REAL = b"real"
GREEN_RUN = SuiteRun(
    report=SandboxReport(outcome="ok"), tests=(BirthTest(name="test_a", line=1, outcome="passed", runs=1),)
)
RED_RUN = evolve(GREEN_RUN, tests=(evolve(GREEN_RUN.tests[0], outcome="failed", reason=N_("line 2: no")),))


def change(kind: Kind, line: int) -> Mutant:
    return Mutant(kind=kind, line=line, was="x", became="y", source=b"%d" % line)


def changes(*kinds: Kind) -> Sequence[Mutant]:
    return [change(kind, line) for line, kind in enumerate(kinds, 1)]


async def held(
    chosen: Sequence[Mutant],
    missed: Sequence[int] = (),
    *,
    real: SuiteRun = GREEN_RUN,
    each_s: float = 1.0,
    run: Callable[[bytes], SuiteRun] | None = None,
) -> BirthReport:
    """Hold changes against tests that miss those in some lines; there are 100 seconds."""
    clock = FakeClock()

    async def run_with(source: bytes) -> SuiteRun:
        await clock.sleep(each_s)
        if source == REAL:
            return real
        return run(source) if run else GREEN_RUN if int(source) in missed else RED_RUN

    report = report_of("passed", "passed", "passed")
    return await held_against(report, REAL, chosen, run_with, WallClock(clock, 100.0))


async def test_where_all_changes_are_noticed_the_tests_count_in_full() -> None:
    """That a change was tried costs nothing in R."""
    report = await held(changes("negated", "skipped", "moved", "swapped"))

    assert (report.mutants, report.untried, report.survivors, report.weakness) == (4, 0, (), None)
    assert (report.ok, report.det_pass_rate, report.cpu_s) == (True, 1.0, 0.3)


@pytest.mark.parametrize("kind", ["negated", "skipped", "swapped"])
async def test_one_change_that_had_to_be_noticed_and_was_not_is_a_weakness(kind: Kind) -> None:
    """It is named before borders; a person may still take the neuron in."""
    report = await held(changes("moved", kind, "negated"), [1, 2])

    assert list(map(str, report.survivors)) == [
        "body.py:2: `x` became `y`, and no test noticed",
        "body.py:1: `x` became `y`, and no test noticed",
    ]
    assert str(report.weakness).startswith("changes of its body that a test must notice and none did: 1 of 3; ")
    assert (report.ok, report.det_pass_rate, report.mutants) == (True, 0.0, 3)


@pytest.mark.parametrize(("missed", "of", "weak"), [(2, 2, False), (3, 9, False), (3, 8, True), (4, 11, True)])
async def test_a_few_borders_off_by_one_may_survive(missed: int, of: int, weak: bool) -> None:
    """Two, or a third: some change nothing. They are named all the same."""
    report = await held(changes(*["moved"] * of, "negated"), range(1, missed + 1))

    assert (report.weakness is not None, report.det_pass_rate) == (weak, 0.0 if weak else 1.0)
    assert len(report.survivors) == missed


async def test_what_there_was_no_time_for_is_told_and_counts_as_nothing() -> None:
    """What was red as the time ended may be red for that alone; what was green is green."""
    report = await held(changes(*["negated"] * 6), [1, 2, 6], each_s=25.0)

    assert (report.mutants, report.untried) == (2, 4)
    assert len(report.survivors) == 2


async def test_tests_too_slow_for_half_of_the_changes_are_weak() -> None:
    """Whoever makes them slow gains nothing; just half of them is enough."""
    slow = await held(changes(*["negated"] * 8), each_s=30.0)
    enough = await held(changes(*["negated"] * 4), each_s=20.0)
    slower = await held(changes(*["negated"] * 2), each_s=101.0)

    assert (slow.mutants, slow.untried, slow.det_pass_rate, slow.ok) == (1, 7, 0.0, True)
    assert str(slow.weakness) == (
        "its tests are too slow to be held against changes of its body: 1 of 8 were tried in time; make them faster"
    )
    assert (enough.mutants, enough.weakness) == (2, None)
    assert (slower.mutants, slower.untried, slower.det_pass_rate) == (0, 2, 0.0)


async def test_a_change_is_noticed_however_the_tests_end_that_are_not_green() -> None:
    """The process of the tests may end, hang, or be refused."""
    ended = evolve(GREEN_RUN, problem=N_("results missing: 1"))
    report = await held(changes("negated", "negated"), run=lambda source: ended)

    assert (report.mutants, report.survivors, report.weakness) == (2, (), None)


@pytest.mark.parametrize(
    ("real", "why"),
    [
        (RED_RUN, "test_a: line 2: no"),
        (evolve(GREEN_RUN, problem=Text("it hung")), "it hung"),
    ],
)
async def test_tests_that_are_green_only_once_are_refused(real: SuiteRun, why: str) -> None:
    """They would notice any change; nothing more is run."""

    def never(source: bytes) -> SuiteRun:
        raise AssertionError(source)

    report = await held(changes("negated"), real=real, run=never)

    assert (report.ok, report.det_pass_rate, report.mutants) == (False, 0.0, 0)
    assert list(map(str, report.problems)) == [
        f"its tests are green only the first time; with the same body again: {why}"
    ]


async def test_a_sandbox_that_fails_meanwhile_ends_it() -> None:
    """Nothing is known then."""

    def fail(source: bytes) -> SuiteRun:
        raise UnavailableError(Text(f"gone at {source.decode()}"))

    with pytest.raises(UnavailableError, match="gone at 1"):
        await held(changes("negated", "negated", "negated"), run=fail)


async def test_no_more_than_two_run_at_a_time() -> None:
    """Each change once."""
    running, most, seen = 0, 0, []

    async def run_with(source: bytes) -> SuiteRun:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        seen.append(source)
        return GREEN_RUN if source == REAL else RED_RUN

    chosen = changes(*["negated"] * 9)
    await held_against(report_of("passed"), REAL, chosen, run_with, WallClock(FakeClock(), 100.0))

    assert most == 2
    assert sorted(seen) == sorted([REAL, *(mutant.source for mutant in chosen)])


COUNTING = """
async def run(ctx, args):
    words, n = args["text"].split(), 0
    while len(words) > n:
        n += 1
    return {"n": n}
"""


async def test_in_the_real_sandbox_changes_are_noticed_too_where_they_never_end() -> None:
    """A loop that goes on is ended by the little CPU time that a changed body has."""
    report = await born(GREEN, COUNTING, mutants=24)

    assert (report.ok, report.det_pass_rate, report.untried) == (True, 1.0, 0)
    assert (report.mutants, report.survivors) == (3, ())
    assert [test.outcome for test in report.tests] == ["passed"] * 3


async def test_changes_are_tried_only_where_all_is_green_and_they_are_wanted() -> None:
    """What is red or could not be red is not run again."""
    unwanted = await born(GREEN, COUNTING, mutants=0)
    red = await born(GREEN.replace('{"n": 2}', '{"n": 3}'), COUNTING, mutants=24)
    idle = await born("async def test_a(run):\n    assert await run({'text': ''})\n", COUNTING, mutants=24)

    assert [each.mutants + each.untried for each in (unwanted, red, idle)] == [0, 0, 0]
    assert (unwanted.ok, unwanted.det_pass_rate) == (True, 1.0)


async def test_without_any_time_no_change_is_tried() -> None:
    """The report says so, and its tests count nothing."""
    report = await born(GREEN, BODY, mutants=24, mutants_wall_s=0.0)

    assert (report.ok, report.mutants, report.untried, report.det_pass_rate) == (True, 0, 1, 0.0)


@pytest.mark.parametrize("body", ["def run(ctx, args:\n", "x = " + "(" * 500 + ")" * 500 + "\n"])
async def test_a_body_that_cannot_be_read_has_no_changes_and_is_not_run(body: str) -> None:
    """The analysis refuses it before; here it is a problem, never a crash."""
    report = await born(GREEN, body)

    assert (report.ok, report.tests, report.sandbox.outcome) == (False, (), "killed")
    assert str(report.problems[0]).startswith("body.py:")
