"""How long one run of code in the sandbox takes, beside the bare interpreter and beside plain bubblewrap."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable

from benchmarks.timing import Comparison, Effort, compare
from myclaw_core.clock import SystemClock
from myclaw_core.sandbox.code import CodeJob

__all__ = ["run"]

_BWRAP = "/usr/bin/bwrap"
_PLAIN = ("--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--")
_ANSWER = b"import os; os.write(0, bytes(4))"


async def run(effort: Effort) -> list[Comparison]:
    """Time code that sends one empty frame; the floors only start the interpreter."""
    if not shutil.which("bwrap"):
        return []
    from myclaw_bwrap.sandbox import Bubblewrap

    sandbox = Bubblewrap(SystemClock())
    job = CodeJob(files={"main.py": _ANSWER}, main="main.py")

    async def one() -> None:
        async with sandbox.start(job) as running:
            frames = [frame async for frame in running]
            report = await running.report()
        if (report.outcome, frames) != ("ok", [b""]):
            raise RuntimeError(f"the run ended as {report.outcome}: {report.stderr}")

    return [
        await compare("neuron_run", "a run in the sandbox", one, floor_is, _program(command), rounds=effort.slow_rounds)
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
