"""Processes that kill themselves, one at each point of what they do: the common part of the `kill -9` tests.

A driver is a script that ends in `die_everywhere(run)`; a test starts it with `deaths(driver, folder)`. All its
processes are forked from one interpreter that has imported everything.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import traceback
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any, NoReturn, Protocol

from myclaw_core.agent import Agent
from myclaw_core.desk import SessionDesk
from myclaw_core.files.access import PinnedFiles
from myclaw_core.testing import RecordingChannel

__all__ = [
    "THROUGH",
    "Points",
    "Reachable",
    "deaths",
    "desk_of",
    "die_everywhere",
    "put_around_changes",
    "put_around_commits",
    "put_around_file_calls",
]

THROUGH = "through"
"""Where a process was that passed all points."""


class Reachable(Protocol):
    """Something with points."""

    def reach(self, name: str) -> None:
        """Pass a point."""


class Points:
    """Counts the points of a run and dies at one of them."""

    def __init__(self, fatal: int) -> None:
        self._fatal = fatal
        self._passed = 0

    def reach(self, name: str) -> None:
        """Pass a point, or tell its name and die there."""
        self._passed += 1
        if self._passed == self._fatal:
            sys.stdout.write(f"{name}\n")
            sys.stdout.flush()
            os.kill(os.getpid(), signal.SIGKILL)


def put_around_commits(store: Any, points: Reachable, what: str, *, before: bool = True) -> None:
    """Put points before and after each commit of a store, or only after it."""
    plain_transaction = store.transaction

    @asynccontextmanager
    async def transaction() -> AsyncIterator[Any]:
        async with plain_transaction() as tx:
            yield tx
            if before:
                points.reach(f"before a commit of {what}")
        points.reach(f"after a commit of {what}")

    store.transaction = transaction


def put_around_changes(agent: Agent, points: Reachable) -> None:
    """Put points around every commit of both stores and around each change of a file."""
    put_around_commits(agent.log._store, points, "the log")
    put_around_commits(agent.book._backend, points, "trust")
    plain_apply = PinnedFiles.apply

    def apply(self: PinnedFiles, change: Any) -> None:
        points.reach("before the file changes")
        plain_apply(self, change)
        points.reach("after the file changed")

    PinnedFiles.apply = apply  # type: ignore[method-assign]


def put_around_file_calls(points: Reachable) -> None:
    """Put a point before each call that moves, removes or syncs a file or folder, and one after each that makes one."""

    def before(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            points.reach(f"before {name}")
            return plain(*args, **options)

        return call

    def after(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            result = plain(*args, **options)
            points.reach(f"after {name}")
            return result

        return call

    plain_open = os.open

    def open_(path: Any, flags: int, *args: Any, **options: Any) -> int:
        return (after("creat", plain_open) if flags & os.O_CREAT else plain_open)(path, flags, *args, **options)

    for name in ("rename", "replace", "unlink", "rmdir", "fsync"):
        setattr(os, name, before(name, getattr(os, name)))
    os.mkdir = after("mkdir", os.mkdir)
    os.open = open_


def desk_of(agent: Agent, channel: RecordingChannel | None = None) -> SessionDesk:
    """Return a session in which the person answers every question with yes, or as the channel says."""
    return SessionDesk(
        agent,
        channel or RecordingChannel(agent.clock),
        sender="test:me",
        roots=agent.standing_roots,
        cwd=str(agent.home.workspace),
        level="supervised",
    )


def die_everywhere(run: Callable[[Path, Points], Coroutine[Any, Any, object]]) -> None:
    """Carry out `FOLDER STEP`: run in a copy of `FOLDER/0` for every `STEP`th point until one process gets through.

    The copies are named by the number of their point; a line tells where each process died.
    """
    folder, step = Path(sys.argv[1]), int(sys.argv[2])
    for fatal in count(1, step):
        home = folder / str(fatal)
        shutil.copytree(folder / "0", home)
        child = os.fork()
        if child == 0:
            _live(run(home, Points(fatal)))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code == 0:
            return
        if code != -signal.SIGKILL:
            sys.exit(f"the process that was to die at point {fatal} failed")


def _live(work: Coroutine[Any, Any, object]) -> NoReturn:
    """Do the work and end the process without going back to what it was forked from."""
    try:
        asyncio.run(work)
        print(THROUGH, flush=True)
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def deaths(driver: Path, folder: Path, *args: str, step: int = 1) -> dict[int, str]:
    """Run a driver; return where the process died, for the number of each point that was tried.

    The last one got `THROUGH`: its number is that of no point.

    Args:
        folder: Where `0` is the home that each process has a copy of.
        args: Further arguments of the driver.
        step: Try every so many points.
    """
    command = [sys.executable, str(driver), str(folder), str(step), *args]
    path = os.pathsep.join(filter(None, (str(Path(__file__).parent), os.environ.get("PYTHONPATH"))))
    environ = os.environ | {"PYTHONPATH": path}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environ)
    assert done.returncode == 0, done.stderr
    return dict(zip(count(1, step), done.stdout.splitlines(), strict=False))
