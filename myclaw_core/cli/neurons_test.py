"""`myclaw neurons test`: the birth tests of a neuron, in the sandbox; nothing is changed or signed."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from myclaw_core.cli.waiting import waiting
from myclaw_core.errors import UnavailableError
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_, _, n_, render

if TYPE_CHECKING:
    from myclaw_core.clock import Clock
    from myclaw_core.neurons.birth_report import BirthReport, BirthTest
    from myclaw_core.sandbox.sandbox import Sandbox

__all__ = ["run"]

_MS_PER_S = 1000
_STUB = {
    "noticed": N_("a body that does nothing fails them"),
    "unnoticed": N_("a body that does NOTHING passes them, too"),
    "not_run": N_("so they were not tried on a body that does nothing"),
}


def run(args: argparse.Namespace) -> int:
    """Analyse a neuron, run its birth tests and print a line for each; 1 where anything is refused."""
    from myclaw_core.cli.looking import lenient_plugins
    from myclaw_core.cli.neurons import folder_of, print_findings, read_files
    from myclaw_core.clock import SystemClock
    from myclaw_core.neurons.checking import check_neuron
    from myclaw_core.paths import Home

    home, clock = Home.find(), SystemClock()
    folder = folder_of(home, args.neuron)
    name, files = folder.resolve().name, read_files(folder)
    dispatcher, config = lenient_plugins(home, clock)
    if found := check_neuron(files, name, dispatcher.analyze, programs=config.neurons.programs):
        print_findings(name, found, as_json=args.json)
        return 1
    told: list[str] = []

    def tell(test: BirthTest) -> None:
        told.append(test.name)
        _print_test(test, say)

    with waiting(_("its tests run in the sandbox …")) as say:
        sandbox = dispatcher.sandbox(config.slots.sandbox)
        report = _tested(sandbox, files, clock, _tell_nobody if args.json else tell)
    if args.json:
        print(json.dumps(_document(name, report), ensure_ascii=False, indent=2))
    else:
        _print(name, report, told)
    return 0 if report.ok else 1


def _tell_nobody(_test: BirthTest) -> None:
    """Leave a result for the document."""


def _tested(
    sandbox: Sandbox, files: Mapping[str, bytes], clock: Clock, tell: Callable[[BirthTest], None]
) -> BirthReport:
    """Return what the tests show.

    Raises:
        UnavailableError: The sandbox is missing.
    """
    import asyncio

    from myclaw_core.neurons.birth import run_birth_tests
    from myclaw_core.neurons.manifest import MANIFEST_FILE, read_manifest
    from myclaw_core.neurons.normal import normalized

    if missing := sandbox.missing_for_code():
        raise UnavailableError(missing)
    files = {file: normalized(data) for file, data in files.items()}
    return asyncio.run(run_birth_tests(sandbox, files, read_manifest(files[MANIFEST_FILE]), clock, tell=tell))


def _document(name: str, report: BirthReport) -> dict[str, Any]:
    sandbox = report.sandbox
    return {
        "name": name,
        "ok": report.ok,
        "findings": [],
        "det_pass_rate": report.det_pass_rate,
        "stub": report.stub,
        "problems": list(map(str, report.problems)),
        "mutants": report.mutants,
        "untried": report.untried,
        "survivors": list(map(str, report.survivors)),
        "weakness": None if report.weakness is None else str(report.weakness),
        "tests": [
            {
                "name": test.name,
                "line": test.line,
                "outcome": test.outcome,
                "reason": str(test.reason),
                "wall_ms": test.wall_ms,
                "cpu_s": round(test.cpu_s, 3),
                "peak_memory_bytes": test.peak_memory_bytes,
                "runs": test.runs,
                "log": list(test.log),
                "printed": list(test.printed),
            }
            for test in report.tests
        ],
        "wall_ms": sandbox.wall_ms,
        "cpu_s": round(sandbox.cpu_s, 3),
        "peak_memory_bytes": sandbox.peak_memory_bytes,
        "stdout": sandbox.stdout,
        "stderr": sandbox.stderr,
    }


def _print_test(test: BirthTest, say: Callable[[str], None]) -> None:
    """Print how a test ended; below a red one stands what the body said."""
    say(visible(_line(test)))
    for line in _said(test) if test.outcome == "failed" else ():
        say(f"    {visible(line)}")


def _print(name: str, report: BirthReport, told: Collection[str]) -> None:
    """Print what is still to be told: the tests whose result never came, and how all of it ended."""
    for test in report.tests:
        if test.name not in told:
            _print_test(test, print)
    for problem in report.problems:
        print(visible(_("refused: {problem}", problem=problem)))
    if not report.ok:
        for printed in (report.sandbox.stdout + report.sandbox.stderr).splitlines():
            print(visible(_("printed: {line}", line=printed)))
    for line in _changes(report):
        print(visible(line))
    passed = sum(test.outcome == "passed" for test in report.tests)
    print(
        visible(
            n_(
                "{name}: {passed} of {n} test passed, {stub}; {lasted}, {cpu_s} s of CPU, {memory} MB",
                "{name}: {passed} of {n} tests passed, {stub}; {lasted}, {cpu_s} s of CPU, {memory} MB",
                n=len(report.tests),
                name=name,
                passed=passed,
                stub=render(_STUB[report.stub]),
                **_used(report.sandbox.wall_ms, report.cpu_s, report.sandbox.peak_memory_bytes),
            )
        )
    )


def _changes(report: BirthReport) -> Iterator[str]:
    """Yield what came of the small changes of the body."""
    for survivor in report.survivors:
        yield render(survivor)
    if report.weakness is not None:
        yield _("weak: {problem}; its tests count 0 in its score", problem=report.weakness)
    if report.mutants:
        yield n_(
            "{noticed} of {n} small change of its body was noticed",
            "{noticed} of {n} small changes of its body were noticed",
            n=report.mutants,
            noticed=report.mutants - len(report.survivors),
        )
    if report.untried:
        yield n_(
            "{n} more was not tried: the time was over",
            "{n} more were not tried: the time was over",
            n=report.untried,
        )


def _line(test: BirthTest) -> str:
    used = _used(test.wall_ms, test.cpu_s, test.peak_memory_bytes)
    if test.outcome == "passed":
        return _("passed  {name}: {lasted}, {cpu_s} s of CPU, {memory} MB", name=test.name, **used)
    return _(
        "FAILED  {name}: {lasted}, {cpu_s} s of CPU, {memory} MB: {reason}",
        name=test.name,
        reason=test.reason,
        **used,
    )


def _said(test: BirthTest) -> Iterator[str]:
    """Yield what the body said while the test ran it."""
    for line in test.log:
        yield _("its body noted: {line}", line=line)
    for line in test.printed:
        yield _("its body printed: {line}", line=line)


def _used(wall_ms: int, cpu_s: float, memory_bytes: int) -> Mapping[str, str]:
    lasted = _("{ms} ms", ms=wall_ms) if wall_ms < _MS_PER_S else _("{s:.1f} s", s=wall_ms / _MS_PER_S)
    return {"lasted": lasted, "cpu_s": f"{cpu_s:.2f}", "memory": f"{memory_bytes / 1e6:.1f}"}
