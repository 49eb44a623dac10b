"""How long stages 4 and 5 take for a draft, beside its tests alone, and those beside the bare interpreter."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.timing import Comparison, Effort, compare
from myclaw_core.clock import SystemClock
from myclaw_core.neurons.birth import MUTANTS, run_birth_tests
from myclaw_core.neurons.checking import check_neuron
from myclaw_core.neurons.manifest import read_manifest
from myclaw_core.neurons.normal import NEURON_FILES
from myclaw_core.neurons.shipped import shipped_folder

__all__ = ["run"]

_NAME = "note_index"
"""An ordinary one: 100 lines, 12 tests."""


async def run(effort: Effort) -> list[Comparison]:
    """Time a shipped neuron as if it were a draft; nothing is kept."""
    if not shutil.which("bwrap"):
        return []
    from myclaw_bwrap.sandbox import Bubblewrap

    clock = SystemClock()
    sandbox, files = Bubblewrap(clock), _files(shipped_folder() / _NAME)
    manifest = read_manifest(files["manifest.yaml"], _NAME)

    async def tested(mutants: int = 0) -> int:
        report = await run_birth_tests(sandbox, files, manifest, clock, mutants=mutants)
        if report.det_pass_rate < 1.0 or report.mutants != mutants:
            raise RuntimeError(f"its tests are not green: {report.problems} {report.weakness}")
        return len(report.tests)

    async def draft() -> None:
        if findings := check_neuron(files, _NAME, lambda _files: ()):
            raise RuntimeError(f"it is refused: {findings[0].message}")
        await tested(MUTANTS)

    tests, rounds = await tested(), max(1, effort.slow_rounds // 3)
    what = f"its {tests} tests, with the body and with emptied ones"
    of_draft = f"stages 4 and 5 of a draft: analysis, {tests} tests, {MUTANTS} changed bodies"
    return [
        await compare("neuron_birth", of_draft, draft, what, tested, rounds=rounds),
        await compare("neuron_birth", what, tested, "the bare interpreter", _interpreter, rounds=rounds),
    ]


def _files(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in NEURON_FILES}


def _interpreter() -> None:
    command = (os.path.realpath(sys.executable), "-I", "-S", "-B", "-c", "import os")
    subprocess.run(  # noqa: S603 - this interpreter, with arguments that stand in this file
        command, env={}, stdin=subprocess.DEVNULL, capture_output=True, check=True
    )
