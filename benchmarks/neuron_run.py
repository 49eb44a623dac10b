"""How long one call of a neuron takes, beside the bare interpreter and beside plain bubblewrap."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable

from benchmarks.timing import Comparison, Effort, compare
from myclaw_core.clock import SystemClock
from myclaw_core.neurons.running import run_neuron
from myclaw_core.neurons.scratch import Given, ScratchWorld
from myclaw_core.neurons.types import NeuronManifest
from myclaw_core.neurons.wall import WallClock

__all__ = ["run"]

_BWRAP = "/usr/bin/bwrap"
_PLAIN = ("--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--")
_BODY = b"""\
async def run(ctx, args):
    with ctx.open("~/a.txt") as file:
        return {"lines": len(file.readlines())}
"""
_MANIFEST = NeuronManifest(
    name="line_count",
    version="1.0.0",
    purpose="Count the lines of a file.",
    input_schema={"type": "object"},
    output_schema={"type": "object", "required": ["lines"]},
    capabilities=("fs-read:~/*",),
    may_call=(),
    quotas={},
    origin="adopted",
)


async def run(effort: Effort) -> list[Comparison]:
    """Time a neuron that reads one small file; the floors only start the interpreter."""
    if not shutil.which("bwrap"):
        return []
    from myclaw_bwrap.sandbox import Bubblewrap

    clock = SystemClock()
    sandbox = Bubblewrap(clock)

    async def one() -> None:
        world = ScratchWorld(Given(files={"~/a.txt": b"one\ntwo\n"}))
        end = await run_neuron(sandbox, {"body.py": _BODY}, _MANIFEST, {}, world, WallClock(clock, 30))
        if end.output != {"lines": 2}:
            raise RuntimeError(f"the run ended as {end.outcome}: {end.error} {end.report.stderr}")

    return [
        await compare("neuron_run", "a call of a neuron", one, floor_is, _program(command), rounds=effort.slow_rounds)
        for floor_is, command in _floors().items()
    ]


def _floors() -> dict[str, tuple[str, ...]]:
    python = (os.path.realpath(sys.executable), "-I", "-S", "-B", "-c", "import os")
    return {"the bare interpreter": python, "the interpreter in plain bubblewrap": (_BWRAP, *_PLAIN, *python)}


def _program(command: tuple[str, ...]) -> Callable[[], None]:
    def call() -> None:
        subprocess.run(  # noqa: S603 - this interpreter, with arguments that stand in this file
            command, env={}, stdin=subprocess.DEVNULL, capture_output=True, check=True
        )

    return call
