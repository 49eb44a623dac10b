"""A sandbox on the real clock, and jobs for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from myclaw_bwrap.sandbox import Bubblewrap

from myclaw_core.clock import SystemClock
from myclaw_core.sandbox.sandbox import ShellJob, ShellRun

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
