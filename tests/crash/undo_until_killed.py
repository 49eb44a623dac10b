"""An action (`do`) or its undo (`undo`), in processes that kill themselves at each change of the disk.

Points are before each change of a file by name, and after each commit of an undo.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from dying import Points, desk_of, die_everywhere, put_around_commits

from myclaw_core.agent import Agent
from myclaw_core.files import handles
from myclaw_core.paths import Home
from myclaw_core.testing import FakeClock

CHANGES = ("rename", "unlink", "rmdir")


class CountedOs:
    """The module `os` with points before what changes a file by name."""

    def __init__(self, points: Points) -> None:
        self._points = points

    def __getattr__(self, name: str) -> Any:
        plain = getattr(os, name)
        if name not in CHANGES:
            return plain

        def change(*args: Any, **options: Any) -> Any:
            self._points.reach(f"before {name}")
            return plain(*args, **options)

        return change


async def do(folder: Path, points: Points) -> None:
    async with Agent.open(Home.at(folder), clock=FakeClock()) as agent:
        handles.os = CountedOs(points)  # type: ignore[attr-defined]
        await desk_of(agent).handle("Tidy up")


async def undo(folder: Path, points: Points) -> None:
    async with Agent.open(Home.at(folder), clock=FakeClock()) as agent:
        turn = await desk_of(agent).handle("Tidy up")
    async with Agent.open(Home.at(folder), clock=FakeClock()) as agent:
        handles.os = CountedOs(points)  # type: ignore[attr-defined]
        put_around_commits(agent.log._store, points, "the log", before=False)
        await desk_of(agent).handle(f"/undo {turn.id}")


if __name__ == "__main__":
    die_everywhere({"do": do, "undo": undo}[sys.argv.pop()])
