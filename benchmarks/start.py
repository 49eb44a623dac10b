"""How long commands take to start, beside a bare interpreter and beside the imports they cannot do without."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.timing import Comparison, Effort, compare
from benchmarks.world import memory_folder

__all__ = ["run"]

_COMMANDS = (("--version",), ("--help",), ("trust", "list"), ("policy", "check"))
_ROOT = Path(__file__).parents[1]
_LIST_PACKAGES = """
import sys
from myclaw_core.cli import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
names = [
    name for name, module in sys.modules.items()
    if "site-packages" in (getattr(module, "__file__", None) or "") and not name.startswith(("_", "myclaw_"))
    and "." not in name
]
print(*names, sep=",", file=sys.stderr)
"""


async def run(effort: Effort) -> list[Comparison]:
    """Time commands that print little; `policy check` is given no line to judge."""
    with memory_folder() as root:
        environ = os.environ | {"MYCLAW_HOME": str(root)}
        bare = _program(environ, "-c", "pass")
        rows = []
        for arguments in _COMMANDS:
            command = _program(environ, "-m", "myclaw_core", *arguments)
            floors = {"a bare interpreter": bare}
            packages = _packages(environ, arguments)
            if packages:
                floors["importing the packages of others it uses"] = _program(environ, "-c", f"import {packages}")
            rows += [
                await compare(
                    "start", f"myclaw {' '.join(arguments)}", command, floor_is, floor, rounds=effort.slow_rounds
                )
                for floor_is, floor in floors.items()
            ]
        return rows


def _program(environ: Mapping[str, str], *arguments: str) -> Callable[[], str]:
    def call() -> str:
        done = subprocess.run(  # noqa: S603 - this interpreter, with arguments that stand in this file
            [sys.executable, *arguments],
            env=environ,
            cwd=_ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stderr

    return call


def _packages(environ: Mapping[str, str], arguments: tuple[str, ...]) -> str:
    """Return what the command imports of others, comma-separated; nothing for one that ends within its parser."""
    return _program(environ, "-c", _LIST_PACKAGES, *arguments)().strip()
