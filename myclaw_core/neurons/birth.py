"""Runs the birth tests of a neuron: one whose tests are not green, or could not be red, is not born.

Tests that miss small changes of the body are green, but count nothing for R (`birth_trials`).
"""

from __future__ import annotations

import ast
import math
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from attrs import evolve, frozen

from myclaw_core.clock import Clock
from myclaw_core.messages import N_
from myclaw_core.neurons.analysis import MIN_TESTS
from myclaw_core.neurons.analysis.found import Finder
from myclaw_core.neurons.analysis.limits import readable_source
from myclaw_core.neurons.analysis.tree import parsed
from myclaw_core.neurons.birth_mutants import mutants as mutants_of
from myclaw_core.neurons.birth_report import BirthReport, BirthTest
from myclaw_core.neurons.birth_result import Ran
from myclaw_core.neurons.birth_stubs import emptied_bodies
from myclaw_core.neurons.birth_suite import Body, SuiteRun, Tell, functions_of, no_one, run_suite, sandbox_failed
from myclaw_core.neurons.birth_trials import RunWith, held_against
from myclaw_core.neurons.quotas import code_limits, wall_s
from myclaw_core.neurons.running import run_neuron
from myclaw_core.neurons.scratch import ScratchWorld
from myclaw_core.neurons.types import NeuronManifest
from myclaw_core.neurons.wall import WallClock
from myclaw_core.sandbox.code import CodeLimits
from myclaw_core.sandbox.sandbox import Sandbox
from myclaw_core.sandbox.types import SandboxReport, SandboxTest
from myclaw_core.types.text import Text

__all__ = ["MUTANTS", "MUTANTS_WALL_S", "SUITE_LIMITS", "BirthReport", "BirthTest", "run_birth_tests"]

SUITE_LIMITS = CodeLimits(wall_s=120.0, frame_bytes=16 << 20)
"""What the process that runs the tests may use; its wall clock holds for everything together."""

MUTANTS = 24
"""How many small changes of the body are tried at the most."""

MUTANTS_WALL_S = 120.0
"""Seconds for all of them together; what is not tried by then is told, and counts as nothing."""

_BODY_FILE = "body.py"
_TESTS_FILE = "test_birth.py"
_LEAST_WALL_S = 0.1
_PRINTED_CHARS = 10_000
_MUTANT_CPU = 4
"""So many times the CPU seconds of the longest test a changed body has, and one more: it may never end by itself."""


async def run_birth_tests(
    sandbox: Sandbox,
    files: Mapping[str, bytes],
    manifest: NeuronManifest,
    clock: Clock,
    *,
    limits: CodeLimits = SUITE_LIMITS,
    tell: Tell = no_one,
    mutants: int = MUTANTS,
    mutants_wall_s: float = MUTANTS_WALL_S,
) -> BirthReport:
    """Run `test_birth.py` with the body, and where all is green with emptied and changed ones, which it must notice.

    The tests run in one process, each run of the body in one of its own, so that no body can touch a result.

    Args:
        files: The bytes of a neuron that passed the static analysis, by name of the file.
        manifest: What its manifest says.
        limits: Those of the process of the tests; `wall_s` holds for the bodies and all that is run, too.
        tell: Given each result as it comes; those that never came are in the report alone.
        mutants: How many small changes of the body are tried at the most; with 0 the report says nothing of them.
        mutants_wall_s: Seconds that all of these may take together, on top of `limits`.

    Raises:
        UnavailableError: The sandbox is missing or failed; nothing is known about the neuron then.
    """
    trees = [_tree_of(file, files[file]) for file in (_TESTS_FILE, _BODY_FILE)]
    tests, body = (tree if isinstance(tree, ast.Module) else None for tree in trees)
    problems = [tree for tree in (*trees, None if tests is None else _twice(tests)) if isinstance(tree, Text)]
    if tests is None or body is None or problems:
        return BirthReport(sandbox=SandboxReport(outcome="killed"), tests=(), problems=tuple(problems))
    suite = _Suite(sandbox=sandbox, files=files, tests=tests, manifest=manifest, clock=clock, limits=limits)
    report = await _run(suite, tell)
    if not report.ok or not mutants:
        return report
    chosen = mutants_of(files[_BODY_FILE], body, mutants)
    wall = WallClock(clock, mutants_wall_s)
    return await held_against(report, files[_BODY_FILE], chosen, suite.with_bodies(report, wall), wall)


async def _run(suite: _Suite, tell: Tell) -> BirthReport:
    """Return what the tests show with the body and with emptied ones."""
    wall = WallClock(suite.clock, suite.limits.wall_s)
    run = await suite.run(suite.body(wall), wall, tell)
    few = [] if len(run.tests) >= MIN_TESTS else [_too_few(len(run.tests))]
    report = BirthReport(sandbox=_together(run), tests=run.tests, problems=(*few, *filter(None, [run.problem])))
    if not report.ok:
        return report
    problems = await _not_noticed(lambda body: suite.run(body, wall), suite.manifest)
    return evolve(report, problems=problems, stub="unnoticed" if problems else "noticed")


def _tree_of(file: str, source: bytes) -> ast.Module | Text:
    """Return the syntax tree of a file, or why there is none."""
    finder = Finder(file)
    text = readable_source(source, finder)
    tree = None if text is None else parsed(text, finder)
    if tree is None:
        found = finder.findings()[0]
        return N_("{file}:{line}: {problem}", file=found.file, line=found.line, problem=found.message)
    return tree


def _twice(tests: ast.Module) -> Text | None:
    """Return why it cannot be told which tests there are."""
    counted = Counter(function.name for function in functions_of(tests))
    twice = next((name for name, count in counted.items() if count > 1), None)
    return None if twice is None else N_("test_birth.py has two tests with the name {name}; rename one", name=twice)


@frozen(kw_only=True)
class _Suite:
    """The tests of one neuron, to be run with one body or another."""

    sandbox: Sandbox
    files: Mapping[str, bytes]
    tests: ast.Module
    manifest: NeuronManifest
    clock: Clock
    limits: CodeLimits

    async def run(self, body: Body, wall: WallClock, tell: Tell = no_one, *, to_first_red: bool = False) -> SuiteRun:
        """Run the tests; they and the body end with the wall clock."""
        limits = evolve(self.limits, wall_s=max(wall.left_s(), _LEAST_WALL_S))
        source = self.files[_TESTS_FILE]
        return await run_suite(
            self.sandbox, source, self.tests, body, self.clock, limits, tell, to_first_red=to_first_red
        )

    def body(self, wall: WallClock) -> Body:
        """Return what runs the body, each time in a sandbox of its own."""

        async def body(args: dict[str, Any], world: ScratchWorld) -> Ran:
            limit_s = min(wall_s(self.manifest.quotas), max(wall.left_s(), _LEAST_WALL_S))
            limited = WallClock(self.clock, limit_s)
            end = await run_neuron(self.sandbox, self.files, self.manifest, args, world, limited)
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

    def with_bodies(self, report: BirthReport, wall: WallClock) -> RunWith:
        """Return what runs the tests with another source of the body, which has little more CPU time than they took."""
        cpu_s = 1 + math.ceil(_MUTANT_CPU * max(test.cpu_s for test in report.tests))
        quotas = {**self.manifest.quotas, "cpu_s": min(cpu_s, code_limits(self.manifest.quotas).cpu_s)}
        manifest = evolve(self.manifest, quotas=quotas)

        async def run_with(source: bytes) -> SuiteRun:
            suite = evolve(self, files={**self.files, _BODY_FILE: source}, manifest=manifest)
            return await suite.run(suite.body(wall), wall, to_first_red=True)

        return run_with


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
