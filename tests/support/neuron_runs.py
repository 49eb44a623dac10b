"""Runs of bodies in the real sandbox, against a world of real files in a folder."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from myclaw_bwrap.sandbox import Bubblewrap

from myclaw_core.clock import SystemClock
from myclaw_core.messages import N_
from myclaw_core.neurons.running import BodyEnd, run_neuron
from myclaw_core.neurons.types import NeuronManifest
from myclaw_core.neurons.wall import WallClock
from myclaw_core.neurons.world import CtxError

__all__ = [
    "EVERYTHING",
    "NOW",
    "PEER",
    "SANDBOX",
    "FolderWorld",
    "living_runs",
    "manifest_of",
    "run_body",
    "what_is_here",
]

SANDBOX = Bubblewrap(SystemClock())
"""It looks once whether it can run here."""

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)

EVERYTHING: Mapping[str, Any] = {
    "capabilities": ("fs-read:~/*", "fs-write:~/*", "network:example.org", "llm", "clock", "random"),
    "may_call": ("tool_a", "neuron:other"),
}
"""What a manifest declares that may use all of `ctx`."""

PEER = """
import os, sys, time, json
def give(data):
    while data:
        data = data[os.write(0, data):]
def frame(data):
    data = data if isinstance(data, bytes) else json.dumps(data).encode()
    give(len(data).to_bytes(4, "big") + data)
def take(count):
    found = b""
    while len(found) < count and (chunk := os.read(0, count - len(found))):
        found += chunk
    return found
def answer():
    return take(int.from_bytes(take(4), "big"))
def run(ctx, args):
"""
"""The beginning of a body that speaks to the host by itself; what it does follows, indented."""


class FolderWorld:
    """Real files below one folder, which is `~`, and answers that the test gives.

    Args:
        answer: What a call, a fetch and a model answer.
    """

    def __init__(self, home: Path, answer: Callable[[str, Any], Awaitable[Any]] | None = None) -> None:
        self.home = home
        self.lines: list[str] = []
        self.asked: list[tuple[str, Any]] = []
        self._answer = answer

    def real_path(self, path: str) -> str:
        given = f"{self.home}{path[1:]}" if path == "~" or path.startswith("~/") else path
        return os.path.realpath(given)

    def holds(self, path: str) -> bytes:
        """Return what a file holds."""
        return Path(self.real_path(path)).read_bytes()

    def put(self, path: str, content: bytes) -> None:
        """Let a file hold `content`."""
        Path(self.real_path(path)).write_bytes(content)

    def files(self) -> dict[str, bytes]:
        """Return what each file of the folder holds, by its name."""
        return {each.name: each.read_bytes() for each in self.home.iterdir()}

    async def read(self, path: str) -> bytes:
        self.asked.append(("read", path))
        try:
            return self.holds(path)
        except FileNotFoundError:
            raise CtxError(N_("there is no {path}", path=path), "missing") from None
        except OSError as error:
            raise CtxError(N_("{path}: {reason}", path=path, reason=str(error.strerror)), "failed") from None

    async def write(self, path: str, content: bytes) -> None:
        self.asked.append(("write", path))
        self.put(path, content)

    async def call(self, name: str, args: dict[str, Any]) -> Any:
        return await self._answered(name, args)

    async def fetch(self, url: str) -> str:
        return str(await self._answered("fetch", url))

    async def llm(self, prompt: str) -> str:
        return str(await self._answered("llm", prompt))

    def now(self) -> datetime:
        return NOW

    def random(self) -> float:
        return 0.25

    async def undeclared(self, name: str) -> None:
        self.asked.append(("undeclared", name))

    def log(self, text: str) -> None:
        self.lines.append(text)

    async def _answered(self, what: str, asked: Any) -> Any:
        self.asked.append((what, asked))
        return {"got": asked} if self._answer is None else await self._answer(what, asked)


def manifest_of(**fields: Any) -> NeuronManifest:
    """Return a manifest; without fields it declares nothing and lets its output be anything."""
    return NeuronManifest(
        **{
            "name": "a_neuron",
            "version": "1.0.0",
            "purpose": "Test.",
            "input_schema": {"type": "object"},
            "output_schema": {},
            "capabilities": (),
            "may_call": (),
            "quotas": {},
            "origin": "test",
        }
        | fields
    )


async def run_body(
    source: str, world: Any, args: Any = None, *, wall: WallClock | None = None, limit_s: float = 20.0, **fields: Any
) -> BodyEnd:
    """Run a body once in the real sandbox; keywords are fields of its manifest."""
    return await run_neuron(
        SANDBOX,
        {"body.py": source.encode()},
        manifest_of(**fields),
        {} if args is None else args,
        world,
        wall or WallClock(SystemClock(), limit_s),
    )


def living_runs() -> set[int]:
    """Return the processes that this one has started in a sandbox of code and that are still there."""
    found = set()
    for task in Path("/proc/self/task").iterdir():
        with suppress(OSError):
            for pid in (task / "children").read_text().split():
                with suppress(OSError):
                    if b"bwrap" in Path(f"/proc/{pid}/cmdline").read_bytes():
                        found.add(int(pid))
    return found


def what_is_here() -> list[Any]:
    """Return what a run might leave behind: mounts, descriptors, files of bubblewrap, processes."""
    descriptors = sorted(each.name for each in Path("/proc/self/fd").iterdir())
    files = {each.name for each in Path("/tmp").iterdir() if "bindfile" in each.name or "bwrap" in each.name}
    return [Path("/proc/self/mountinfo").read_text(), descriptors, files, living_runs()]
