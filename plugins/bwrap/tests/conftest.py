"""A sandbox on the real clock, and jobs for it."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from myclaw_bwrap.sandbox import Bubblewrap

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
