"""How long the daemon takes until it serves, beside a bare interpreter and beside the command that opens as much."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from benchmarks.timing import Comparison, Effort, compare
from benchmarks.world import memory_folder

__all__ = ["run"]

_ROOT = Path(__file__).parents[1]
_FLOORS = {"a bare interpreter": ("-c", "pass"), "myclaw trust list": ("-m", "myclaw_core", "trust", "list")}


async def run(effort: Effort) -> list[Comparison]:
    """Time a start without a messenger in a home that is new the first time; stopping it is not timed."""
    with memory_folder() as root:
        script = root / "script.json"
        script.write_text("[]", encoding="utf-8")
        settings = f'[agent]\nprovider = "scripted"\n[scripted]\nfile = {json.dumps(str(script))}\n'
        (root / "config.toml").write_text(settings, encoding="utf-8")
        environ = os.environ | {"MYCLAW_HOME": str(root), "LANGUAGE": "en"}
        return [
            await compare(
                "serve_start",
                "myclaw serve until it is ready",
                lambda: _ready_s(environ),
                floor_is,
                _program(environ, arguments),
                rounds=effort.slow_rounds,
            )
            for floor_is, arguments in _FLOORS.items()
        ]


def _ready_s(environ: dict[str, str]) -> float:
    """Return the seconds from the start of the process to its line."""
    begin = perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "myclaw_core", "serve"],
        env=environ,
        cwd=_ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        ready = any(line.startswith("ready:") for line in process.stdout or ())
        spent_s = perf_counter() - begin
        process.terminate()
        _out, err = process.communicate()
    if not ready or process.returncode:
        raise RuntimeError(f"the daemon did not start or stop: {err}")
    return spent_s


def _program(environ: dict[str, str], arguments: tuple[str, ...]) -> Callable[[], None]:
    def call() -> None:
        subprocess.run(  # noqa: S603 - this interpreter, with arguments that stand in this file
            [sys.executable, *arguments],
            env=environ,
            cwd=_ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
        )

    return call
