"""A whole agent in a folder of its own, for the benchmarks that need one."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID

from myclaw_core.agent import Agent
from myclaw_core.desk import SessionDesk
from myclaw_core.paths import Home
from myclaw_core.runtime.types import ExecutionTrace
from myclaw_core.testing import FakeClock, RecordingChannel, calls, says
from myclaw_core.trust.types import TraceSignals

__all__ = [
    "closed_trace",
    "folder",
    "memory_folder",
    "opened_agent",
    "reading_turn",
    "signals_of",
    "with_subjects",
]

_MEMORY = Path("/dev/shm")  # noqa: S108 - a file system in memory: what is made durable there costs nothing


@contextmanager
def folder(parent: Path | None = None) -> Iterator[Path]:
    """Make a folder that goes at the end."""
    with TemporaryDirectory(prefix="myclaw-benchmark-", dir=parent) as name:
        yield Path(name)


def memory_folder() -> AbstractContextManager[Path]:
    """Make a folder where waiting for the disk costs nothing, if there is such a place; tools may not go there."""
    return folder(_MEMORY if _MEMORY.is_dir() else None)


@asynccontextmanager
async def opened_agent(root: Path, replies: Sequence[dict[str, Any]] = ()) -> AsyncIterator[Agent]:
    """Open an agent whose model answers at once with `replies`."""
    home = Home.at(root)
    home.root.mkdir(parents=True)
    script = home.root / "script.json"
    script.write_text(json.dumps(list(replies)), encoding="utf-8")
    home.config_file.write_text(
        f'[agent]\nprovider = "scripted"\n[scripted]\nfile = {json.dumps(str(script))}\n', encoding="utf-8"
    )
    async with Agent.open(home, clock=FakeClock()) as agent:
        await agent.record_check.ready()
        yield agent


@asynccontextmanager
async def reading_turn(root: Path, steps: int) -> AsyncIterator[tuple[SessionDesk, RecordingChannel]]:
    """Prepare a turn that reads `steps` small files, one after the other; the agent's own files lie below `root`."""
    replies = [calls(("fs_read", {"path": f"note-{number}.md"})) for number in range(steps)]
    with folder() as notes:
        for number in range(steps):
            (notes / f"note-{number}.md").write_text(f"Note {number}.\n", encoding="utf-8")
        async with opened_agent(root, [*replies, says("That was all.")]) as agent:
            channel = RecordingChannel(FakeClock())
            place = str(notes.resolve())
            yield (
                SessionDesk(agent, channel, sender="test:me", roots=(place,), cwd=place, level="supervised"),
                channel,
            )
            (trace,) = channel.ended
            if trace.outcome != "success":
                raise RuntimeError(f"the turn that was timed ended as {trace.outcome}")


async def with_subjects(agent: Agent, number: int) -> None:
    """Let trust know `number` subjects with one sample each."""
    trace = closed_trace(agent, UUID(int=number))
    await agent.book.bulk_update_from_trace(trace, signals_of(number), agent.book.applied_seq + 1)


def closed_trace(agent: Agent, trace_id: UUID) -> ExecutionTrace:
    """Return a trace that closed well just now."""
    now = agent.clock.now()
    return ExecutionTrace(
        id=trace_id,
        session_id="s",
        channel="test",
        sender="test:me",
        autonomy="supervised",
        started_at=now,
        closed_at=now,
        outcome="success",
    )


def signals_of(number: int) -> list[TraceSignals]:
    """Return one ideal sample for each of `number` subjects."""
    return [
        TraceSignals(
            subject=("fs_write", f"fs_write:~/folder-{index}/*"),
            tool_success=1.0,
            cost_efficiency=1.0,
            constitution_clean=1.0,
            human_approval_delta=1.0,
            undo_flag=0.0,
            asked=True,
        )
        for index in range(number)
    ]
