"""What one policy decision costs, beside the least it must do: look at the path, look up the subject."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

from benchmarks.timing import Comparison, Effort, compare
from benchmarks.world import folder, opened_agent, with_subjects
from myclaw_core.agent import Agent
from myclaw_core.policy.types import Situation
from myclaw_core.runtime.types import ExecutionTrace, ToolCall

__all__ = ["decisions", "run"]

_LINE = "Bread, milk, apples and whatever looks good; the shop by the river closes at seven.\n"
_NOTE = "notes/list.md"
_CALLS = {"fs_read": 0, "fs_write of 100 characters": 100, "fs_write of 2,000 characters": 2000}


async def run(effort: Effort) -> list[Comparison]:
    """Time decisions on three calls with few and with many subjects."""
    rows = []
    for subjects in effort.subjects:
        with folder() as root:
            async with opened_agent(root / "home") as agent:
                await with_subjects(agent, subjects)
                note = agent.home.workspace / _NOTE
                note.parent.mkdir(parents=True)
                note.write_text(_LINE, encoding="utf-8")
                floor = _walk(str(note), await agent.book.snapshot())
                rows += [
                    await compare(
                        "decision",
                        f"{what}, {subjects:,} subjects",
                        decisions(agent, size),
                        "an lstat of each folder and a look-up",
                        floor,
                        rounds=effort.rounds,
                    )
                    for what, size in _CALLS.items()
                ]
    return rows


def decisions(agent: Agent, size: int) -> Callable[[], Any]:
    """Return what judges one call; each writes a text of its own, so that no decision profits from another."""
    number = count()
    situation = Situation(roots=agent.standing_roots, cwd=str(agent.home.workspace), typed_text=f"Look after {_NOTE}")
    trace = ExecutionTrace(
        id=agent.clock.new_id(),
        session_id="s",
        channel="test",
        sender="test:me",
        autonomy="supervised",
        started_at=agent.clock.now(),
    )

    async def decide() -> None:
        args = {"path": _NOTE}
        if size:
            args["content"] = f"List {next(number)}\n{_LINE * (size // len(_LINE) + 1)}"[:size]
        call = ToolCall(id="1", tool="fs_write" if size else "fs_read", args=args)
        decision = await agent.services.policy.evaluate(call, trace, trace.sender, trace.autonomy, situation)
        if decision.verdict == "deny":  # which would be found out early
            raise RuntimeError(f"the decision that was timed is a denial: {decision.reason}")

    return decide


def _walk(path: str, subjects: Iterable[tuple[str, str]]) -> Callable[[], None]:
    known = dict.fromkeys(subjects, 1.0)
    subject = ("fs_write", "fs_write:~/folder-0/*")

    def walk() -> None:
        at = path.find("/", 1)
        while at > 0:
            os.lstat(path[:at])
            at = path.find("/", at + 1)
        os.lstat(path)
        known.get(subject)

    return walk
