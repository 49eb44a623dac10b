"""How long a turn goes on after it was told to stop: with a model that never answers, a command, and a search."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

from benchmarks.timing import Comparison, Effort, compare
from benchmarks.world import folder
from myclaw_core.agent import Agent
from myclaw_core.clock import SystemClock
from myclaw_core.desk import SessionDesk
from myclaw_core.paths import Home
from myclaw_core.runtime.channel import Status
from myclaw_core.testing import FakeClock, RecordingChannel, calls

__all__ = ["run"]

_FILES = 3000
_LOOK_EVERY_S = 0.005
_SHELL = "trap '' TERM INT HUP; sleep 600 & echo >started; while :; do sleep 600; done"


class _Telling(RecordingChannel):
    """Tells when a tool or the model is at work."""

    def __init__(self) -> None:
        super().__init__(FakeClock())
        self.working = asyncio.Event()

    def status(self, status: Status) -> None:
        """Tell of a tool."""
        if status.phase == "tool":
            self.working.set()


async def run(effort: Effort) -> list[Comparison]:
    """Time from the cancellation of a turn to its closed trace; the floor is the cancellation of a task that waits."""
    with folder() as root:
        numbers = count()
        kinds: dict[str, Callable[[Path], Any]] = {
            "a turn whose model never answers": _model,
            "a turn that searches 3,000 files": _search,
        }
        if shutil.which("bwrap"):
            kinds["a turn whose command ignores signals"] = _command
        return [
            await compare(
                "interrupt",
                f"stopping {what}",
                _timed(kind, root, numbers),
                "cancelling a task that waits",
                _floor,
                rounds=effort.slow_rounds,
            )
            for what, kind in kinds.items()
        ]


def _timed(kind: Callable[[Path], Any], root: Path, numbers: Any) -> Callable[[], Any]:
    async def timed() -> float:
        async with kind(root / f"{next(numbers)}") as turn:
            start = perf_counter()
            turn.cancel()
            await asyncio.wait({turn})
            return perf_counter() - start

    return timed


async def _floor() -> float:
    task = asyncio.ensure_future(asyncio.Event().wait())
    await asyncio.sleep(0)
    start = perf_counter()
    task.cancel()
    await asyncio.wait({task})
    return perf_counter() - start


@asynccontextmanager
async def _model(root: Path) -> AsyncIterator[asyncio.Future[Any]]:
    """Run a turn whose model takes the question over a real connection and says nothing."""
    asked, left = asyncio.Event(), asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asked.set()
        while await reader.read(1 << 16):
            pass
        left.set()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    config = f'[agent]\nprovider = "openai"\nmodel = "m"\n[openai]\nbase_url = "http://127.0.0.1:{port}/v1"\n'
    async with server, _turn(root, config, root) as (turn, _):
        await asked.wait()
        yield turn
        await left.wait()


@asynccontextmanager
async def _search(root: Path) -> AsyncIterator[asyncio.Future[Any]]:
    """Run a turn that looks for something in many files."""
    place = root / "files"
    place.mkdir(parents=True)
    for number in range(_FILES):
        (place / f"{number}.md").write_text("bread\n" * 50, encoding="utf-8")
    async with _turn(root, _script(root, ("fs_search", {"pattern": "milk"})), place) as (turn, channel):
        await channel.working.wait()
        yield turn


@asynccontextmanager
async def _command(root: Path) -> AsyncIterator[asyncio.Future[Any]]:
    """Run a turn whose command ignores every signal that can be ignored."""
    place = root / "files"
    place.mkdir(parents=True)
    args = {"command": _SHELL, "mode": "write", "root": str(place), "timeout_s": 600}
    async with _turn(root, _script(root, ("shell", args)), place) as (turn, _):
        await asyncio.to_thread(_until, (place / "started").exists)
        yield turn


@asynccontextmanager
async def _turn(root: Path, config: str, place: Path) -> AsyncIterator[tuple[asyncio.Future[Any], _Telling]]:
    """Begin a turn and see that it was closed as stopped."""
    home = Home.at(root / "home")
    home.root.mkdir(parents=True)
    home.config_file.write_text(config + "[approval]\nreading_pause_s = 0\n", encoding="utf-8")
    async with Agent.open(home, clock=SystemClock()) as agent:
        await agent.record_check.ready()
        channel = _Telling()
        yield asyncio.ensure_future(_desk(agent, channel, place).handle("Go")), channel
    if [trace.outcome for trace in channel.ended] != ["abandoned"]:
        raise RuntimeError(f"the turn that was stopped ended as {[trace.outcome for trace in channel.ended]}")


def _desk(agent: Agent, channel: RecordingChannel, place: Path) -> SessionDesk:
    real = str(place.resolve())
    return SessionDesk(agent, channel, sender="test:me", roots=(real,), cwd=real, level="full")


def _until(happened: Callable[[], bool]) -> None:
    while not happened():
        sleep(_LOOK_EVERY_S)


def _script(root: Path, call: tuple[str, dict[str, Any]]) -> str:
    file = root / "script.json"
    file.write_text(json.dumps([calls(call)]), encoding="utf-8")
    return f'[agent]\nprovider = "scripted"\n[scripted]\nfile = {json.dumps(str(file))}\n'
