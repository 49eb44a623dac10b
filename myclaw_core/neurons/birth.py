"""Runs the birth tests of a neuron: one whose tests are not green, or could not be red, is not born."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from attrs import evolve

from myclaw_core.clock import Clock
from myclaw_core.messages import N_
from myclaw_core.neurons.analysis import MIN_TESTS
from myclaw_core.neurons.analysis.found import Finder
from myclaw_core.neurons.analysis.limits import readable_source
from myclaw_core.neurons.analysis.tree import parsed
from myclaw_core.neurons.birth_report import BirthReport, BirthTest
from myclaw_core.neurons.birth_result import Ran
from myclaw_core.neurons.birth_stubs import emptied_bodies
from myclaw_core.neurons.birth_suite import Body, SuiteRun, Tell, functions_of, no_one, run_suite, sandbox_failed
from myclaw_core.neurons.quotas import wall_s
from myclaw_core.neurons.running import run_neuron
from myclaw_core.neurons.scratch import ScratchWorld
from myclaw_core.neurons.types import NeuronManifest
from myclaw_core.neurons.wall import WallClock
from myclaw_core.sandbox.code import CodeLimits
from myclaw_core.sandbox.sandbox import Sandbox
from myclaw_core.sandbox.types import SandboxReport, SandboxTest
from myclaw_core.types.text import Text

__all__ = ["SUITE_LIMITS", "BirthReport", "BirthTest", "run_birth_tests"]

SUITE_LIMITS = CodeLimits(wall_s=120.0, frame_bytes=16 << 20)
"""What the process that runs the tests may use; its wall clock holds for everything together."""

_TESTS_FILE = "test_birth.py"
_LEAST_WALL_S = 0.1
_PRINTED_CHARS = 10_000


async def run_birth_tests(
    sandbox: Sandbox,
    files: Mapping[str, bytes],
    manifest: NeuronManifest,
    clock: Clock,
    *,
    limits: CodeLimits = SUITE_LIMITS,
    tell: Tell = no_one,
) -> BirthReport:
    """Run `test_birth.py` with the body, and where all is green with emptied ones too, which must be noticed.

    The tests run in one process, each run of the body in one of its own, so that no body can touch a result.

    Args:
        files: The bytes of a neuron that passed the static analysis, by name of the file.
        manifest: What its manifest says.
        limits: Those of the process of the tests; `wall_s` holds for the bodies and all that is run, too.
        tell: Given each result as it comes; those that never came are in the report alone.

    Raises:
        UnavailableError: The sandbox is missing or failed; nothing is known about the neuron then.
    """
    tree = _tests_in(files[_TESTS_FILE])
    if isinstance(tree, Text):
        return BirthReport(sandbox=SandboxReport(outcome="killed"), tests=(), problems=(tree,))
    wall = WallClock(clock, limits.wall_s)

    async def tested(body: Body, tell: Tell = no_one) -> SuiteRun:
        left = evolve(limits, wall_s=max(wall.left_s(), _LEAST_WALL_S))
        return await run_suite(sandbox, files[_TESTS_FILE], tree, body, clock, left, tell)

    run = await tested(_real_body(sandbox, files, manifest, clock, wall), tell)
    few = [] if len(run.tests) >= MIN_TESTS else [_too_few(len(run.tests))]
    report = BirthReport(sandbox=_together(run), tests=run.tests, problems=(*few, *filter(None, [run.problem])))
    if not report.ok:
        return report
    problems = await _not_noticed(tested, manifest)
    return evolve(report, problems=problems, stub="unnoticed" if problems else "noticed")


def _tests_in(source: bytes) -> ast.Module | Text:
    """Return the syntax tree of the tests, or why it cannot be told which there are."""
    finder = Finder(_TESTS_FILE)
    text = readable_source(source, finder)
    tree = None if text is None else parsed(text, finder)
    if tree is None:
        found = finder.findings()[0]
        return N_("{file}:{line}: {problem}", file=found.file, line=found.line, problem=found.message)
    counted = Counter(function.name for function in functions_of(tree))
    twice = next((name for name, count in counted.items() if count > 1), None)
    return tree if twice is None else N_("test_birth.py has two tests with the name {name}; rename one", name=twice)


def _real_body(
    sandbox: Sandbox, files: Mapping[str, bytes], manifest: NeuronManifest, clock: Clock, wall: WallClock
) -> Body:
    async def body(args: dict[str, Any], world: ScratchWorld) -> Ran:
        limit_s = min(wall_s(manifest.quotas), max(wall.left_s(), _LEAST_WALL_S))
        end = await run_neuron(sandbox, files, manifest, args, world, WallClock(clock, limit_s))
        if end.report.outcome == "unavailable":
            raise sandbox_failed(end.report)
        return Ran(
            output=end.output,
            error=end.error,
            raised=end.raised,
            message=end.message,
            cpu_s=end.report.cpu_s,
            peak_memory_bytes=end.report.peak_memory_bytes,
            log=end.log,
            printed=tuple((end.report.stdout + end.report.stderr)[:_PRINTED_CHARS].splitlines()),
        )

    return body


async def _not_noticed(tested: Callable[[Body], Awaitable[SuiteRun]], manifest: NeuronManifest) -> tuple[Text, ...]:
    """Return why the tests are refused: they pass, all or too many of them, with a body that has nothing in it."""
    passed: list[set[str]] = []
    names: set[str] = set()
    for emptied in emptied_bodies(manifest.output_schema):
        run = await tested(_always(emptied.ran))
        if run.problem is not None:
            return (N_("with an emptied body the tests do not end as they should: {problem}", problem=run.problem),)
        names = {test.name for test in run.tests}
        passed.append({test.name for test in run.tests if test.outcome == "passed"})
        if passed[-1] == names:
            return (emptied.unnoticed,)
    idle = set.intersection(*passed)
    if len(names - idle) >= MIN_TESTS:
        return ()
    return (
        N_(
            "too few tests that can tell the body from an emptied one: {n}; there must be at least {least}, "
            "and these pass whatever the body does: {names}",
            n=len(names - idle),
            least=MIN_TESTS,
            names=", ".join(sorted(idle)),
        ),
    )


def _always(ran: Ran) -> Body:
    async def body(args: dict[str, Any], world: ScratchWorld) -> Ran:
        return ran

    return body


def _together(run: SuiteRun) -> SandboxReport:
    """Return the report of the process of the tests with what the bodies used."""
    return evolve(
        run.report,
        tests=[SandboxTest(name=test.name, outcome=test.outcome, wall_ms=test.wall_ms) for test in run.tests],
        cpu_s=run.report.cpu_s + sum(test.cpu_s for test in run.tests),
        peak_memory_bytes=max([run.report.peak_memory_bytes, *(test.peak_memory_bytes for test in run.tests)]),
    )


def _too_few(count: int) -> Text:
    return N_("too few tests: {n}; there must be at least {least}: positive, edge, negative", n=count, least=MIN_TESTS)
