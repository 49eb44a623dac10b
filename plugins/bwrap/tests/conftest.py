"""A sandbox on the real clock, and jobs for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from myclaw_bwrap.sandbox import Bubblewrap

import myclaw_core
from myclaw_core.clock import SystemClock
from myclaw_core.sandbox.code import CodeJob, CodeLimits
from myclaw_core.sandbox.sandbox import ShellJob, ShellRun
from myclaw_core.sandbox.types import SandboxReport

RunShell = Callable[..., Awaitable[ShellRun]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An open folder with one file in it."""
    folder = tmp_path / "root"
    folder.mkdir()
    (folder / "note.txt").write_text("note\n")
    return folder


@pytest.fixture
def job(root: Path) -> Callable[..., ShellJob]:
    """Make a job on the folder: read mode unless the test says otherwise."""

    def made(command: str, mode: Any = "read", **options: Any) -> ShellJob:
        settings: dict[str, Any] = {
            "roots": (str(root),),
            "write_root": "" if mode == "read" else str(root),
            "cwd": str(root),
            "timeout_s": 20.0,
            "output_limit_bytes": 100_000,
        }
        return ShellJob(command=command, mode=mode, **(settings | options))

    return made


@pytest.fixture
def run(job: Callable[..., ShellJob]) -> RunShell:
    """Run one command."""
    sandbox = Bubblewrap(SystemClock())

    async def ran(command: str, mode: Any = "read", **options: Any) -> ShellRun:
        return await sandbox.run(job(command, mode, **options))

    return ran


RunCode = Callable[..., Awaitable[SandboxReport]]


@pytest.fixture
def main_name() -> str:
    """A name for the file that is run, by which its processes are told from those of other test runs."""
    return f"main_{os.getpid()}.py"


@pytest.fixture
def code_job(main_name: str) -> Callable[..., CodeJob]:
    """Make a job of one file; keywords are limits."""

    def made(code: str, **limits: Any) -> CodeJob:
        settings: dict[str, Any] = {"wall_s": 20.0} | limits
        return CodeJob(files={main_name: code.encode()}, main=main_name, limits=CodeLimits(**settings))

    return made


@pytest.fixture
def run_code(code_job: Callable[..., CodeJob]) -> RunCode:
    """Run code to its end; its frames are not fetched."""
    sandbox = Bubblewrap(SystemClock())

    async def ran(code: str, **limits: Any) -> SandboxReport:
        async with sandbox.start(code_job(code, **limits)) as running:
            return await running.report()

    return ran


AS_USER = Path(__file__).with_name("code_as_user.py")
USER = 65534
USERS = ("me", "somebody")
Tried = Callable[..., Awaitable[Any]]
HELPERS = """
import json, os, socket
def tried(act, *arguments, **options):
    try:
        return act(*arguments, **options) if act is not open else open(*arguments).read()
    except OSError as error:
        return f"E{error.errno}"
def answers(found):
    print(json.dumps(found))
"""


def interpreter_for_others() -> str:
    """Return a Python that every user can start, this one where it is one."""
    program = Path(os.path.realpath(sys.executable))
    open_to_all = all(folder.stat().st_mode & 0o001 for folder in program.parents)
    return str(program) if open_to_all else "/usr/bin/python3"


def told_by_somebody(code: str, limits: dict[str, Any]) -> dict[str, Any]:
    """Run code in a sandbox that an ordinary user starts, and return the report."""
    import attrs

    places = [Path(each.__file__ or "").parents[1] for each in (myclaw_core, attrs)]
    places.append(Path(__file__).parents[1] / "src")
    done = subprocess.run(
        [interpreter_for_others(), "-B", AS_USER, str(USER), code, json.dumps(limits)],
        env={"PYTHONPATH": ":".join(map(str, places)), "LANG": "C.UTF-8", "CANARY_VARIABLE": "canary"},
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.fixture(params=USERS)
def report(request: pytest.FixtureRequest, run_code: Any) -> Tried:
    """Run code as whoever runs the tests and, where that is root, as an ordinary user too."""

    async def reported(code: str, **limits: Any) -> dict[str, Any]:
        if request.param == "me" or os.geteuid() != 0:
            found = await run_code(code, **limits)
            return {name: getattr(found, name) for name in ("outcome", "exit_code", "stdout", "stderr", "cpu_s")}
        return told_by_somebody(code, limits)

    return reported


@pytest.fixture
def answers(report: Tried) -> Tried:
    """Run code after a few helpers, and return what it gave to `answers`."""

    async def answered(code: str, **limits: Any) -> Any:
        found = await report(HELPERS + code, **limits)
        assert (found["outcome"], found["exit_code"]) == ("ok", 0), found
        return json.loads(found["stdout"])

    return answered
