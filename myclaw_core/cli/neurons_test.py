"""`myclaw neurons test`: the birth tests of a neuron, in the sandbox; nothing is changed or signed."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from myclaw_core.cli.waiting import waiting
from myclaw_core.errors import UnavailableError, UsageError
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_, _, n_, render

if TYPE_CHECKING:
    from myclaw_core.clock import Clock
    from myclaw_core.neurons.birth_report import BirthReport, BirthTest
    from myclaw_core.paths import Home
    from myclaw_core.sandbox.sandbox import Sandbox

__all__ = ["run"]

_STUB = {
    "noticed": N_("an emptied body is noticed"),
    "unnoticed": N_("an emptied body is NOT noticed"),
    "not_run": N_("no emptied body was tried"),
}


def run(args: argparse.Namespace) -> int:
    """Analyse a neuron, run its birth tests and print a line for each; 1 where anything is refused."""
    from myclaw_core.cli.looking import tell_broken
    from myclaw_core.cli.neurons import print_findings, read_files
    from myclaw_core.clock import SystemClock
    from myclaw_core.compose import configured_dispatcher, load_plugins
    from myclaw_core.neurons.checking import check_neuron
    from myclaw_core.paths import Home

    home, clock = Home.find(), SystemClock()
    folder = _folder(home, args.neuron)
    name, files = folder.resolve().name, read_files(folder)
    plugins = load_plugins(home, lenient=True)
    dispatcher, config = configured_dispatcher(home, plugins, clock, lambda _fault: None, on_broken=tell_broken)
    if found := check_neuron(files, name, dispatcher.analyze, programs=config.neurons.programs):
        print_findings(name, found, as_json=args.json)
        return 1
    with waiting(_("its tests run in the sandbox …")):
        report = _tested(dispatcher.sandbox(config.slots.sandbox), files, clock)
    if args.json:
        print(json.dumps(_document(name, report), ensure_ascii=False, indent=2))
    else:
        _print(name, report)
    return 0 if report.ok else 1


def _folder(home: Home, neuron: str) -> Path:
    """Return the folder that is meant: a path, else the name of a neuron that was adopted or is shipped."""
    from myclaw_core.neurons.manifest import NEURON_NAME
    from myclaw_core.neurons.shipped import shipped_folder

    places = [Path(neuron)]
    if NEURON_NAME.fullmatch(neuron):
        places += [home.neurons / neuron, shipped_folder() / neuron]
    found = next(filter(Path.is_dir, places), None)
    if found is None:
        raise UsageError(
            N_("{name} is neither a folder nor a neuron; 'myclaw neurons list' lists what there is", name=neuron)
        )
    return found


def _tested(sandbox: Sandbox, files: Mapping[str, bytes], clock: Clock) -> BirthReport:
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
    return asyncio.run(run_birth_tests(sandbox, files, read_manifest(files[MANIFEST_FILE]), clock))


def _document(name: str, report: BirthReport) -> dict[str, Any]:
    sandbox = report.sandbox
    return {
        "name": name,
        "ok": report.ok,
        "findings": [],
        "det_pass_rate": report.det_pass_rate,
        "stub": report.stub,
        "problems": list(map(str, report.problems)),
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


def _print(name: str, report: BirthReport) -> None:
    for test in report.tests:
        print(visible(_line(test)))
        for line in _said(test) if test.outcome == "failed" else ():
            print(f"    {visible(line)}")
    for problem in report.problems:
        print(visible(_("refused: {problem}", problem=problem)))
    if not report.ok:
        for printed in (report.sandbox.stdout + report.sandbox.stderr).splitlines():
            print(visible(_("printed: {line}", line=printed)))
    passed = sum(test.outcome == "passed" for test in report.tests)
    print(
        visible(
            n_(
                "{name}: {passed} of {n} test passed, {stub}; {wall_ms} ms, {cpu_s} s of CPU, {memory} MB",
                "{name}: {passed} of {n} tests passed, {stub}; {wall_ms} ms, {cpu_s} s of CPU, {memory} MB",
                n=len(report.tests),
                name=name,
                passed=passed,
                stub=render(_STUB[report.stub]),
                **_used(report.sandbox.wall_ms, report.cpu_s, report.sandbox.peak_memory_bytes),
            )
        )
    )


def _line(test: BirthTest) -> str:
    used = _used(test.wall_ms, test.cpu_s, test.peak_memory_bytes)
    if test.outcome == "passed":
        return _("passed  {name}: {wall_ms} ms, {cpu_s} s of CPU, {memory} MB", name=test.name, **used)
    return _(
        "FAILED  {name}: {wall_ms} ms, {cpu_s} s of CPU, {memory} MB: {reason}",
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


def _used(wall_ms: int, cpu_s: float, memory_bytes: int) -> Mapping[str, str | int]:
    return {"wall_ms": wall_ms, "cpu_s": f"{cpu_s:.2f}", "memory": f"{memory_bytes / 1e6:.1f}"}
