"""kill -9 within an action, and within its undo, at any change of the disk: the next undo brings everything back."""

from __future__ import annotations

import json
import stat
from pathlib import Path

from dying import deaths, desk_of

from myclaw_core.agent import Agent
from myclaw_core.events.types import TraceClosed, UndoApplied
from myclaw_core.paths import Home
from myclaw_core.runtime.types import ExecutionTrace
from myclaw_core.testing import FakeClock

DRIVER = Path(__file__).with_name("undo_until_killed.py")
SCRIPT = [
    {
        "tool_calls": [
            {"tool": "fs_edit", "args": {"path": "notes/log.md", "old": "one", "new": "1"}},
            {"tool": "fs_move", "args": {"src": "notes/new.md", "dst": "notes/old.md", "overwrite": True}},
            {"tool": "fs_delete", "args": {"path": "notes/box"}},
        ]
    },
    {"text": "Done."},
]
Tree = dict[str, tuple[int, bytes]]


def prepare(folder: Path) -> Home:
    home = Home.at(folder)
    home.create()
    notes = home.workspace / "notes"
    (notes / "box/empty").mkdir(parents=True)
    for name in ("log.md", "new.md", "old.md"):
        (notes / name).write_text(f"one {name}\n")
    (notes / "box/run").write_bytes(b"\x00\xff")
    (notes / "box/run").chmod(0o750)
    (notes / "box").chmod(0o2711)
    script = folder / "script.json"
    script.write_text(json.dumps(SCRIPT))
    home.config_file.write_text(f'[agent]\nprovider = "scripted"\n[scripted]\nfile = {json.dumps(str(script))}\n')
    return home


def tree(home: Home) -> Tree:
    """Return mode and bytes of everything that the turn works with."""
    return {
        str(path.relative_to(home.workspace)): (
            stat.S_IMODE(path.lstat().st_mode),
            b"" if path.is_dir() else path.read_bytes(),
        )
        for path in sorted((home.workspace / "notes").rglob("*"))
    }


async def traces(agent: Agent) -> list[ExecutionTrace]:
    return [event.trace for _, event in await agent.log.since(0) if isinstance(event, TraceClosed)]


async def undo_what_is_left(home: Home) -> list[UndoApplied]:
    """Open the home again, undo its first turn, and return every undo on record."""
    async with Agent.open(home, clock=FakeClock()) as agent:
        assert [name for name in tree(home) if ".myclaw-" in name] == []
        closed = await traces(agent)
        if closed and closed[0].steps:
            await desk_of(agent).handle(f"/undo {closed[0].id}")
        assert (await agent.log.verify()).ok
        return [event for _, event in await agent.log.since(0) if isinstance(event, UndoApplied)]


async def test_an_action_that_is_killed_at_any_change_is_undone_after_the_restart(tmp_path: Path) -> None:
    """No half-made file is left behind either."""
    before = tree(prepare(tmp_path / "0"))
    places = deaths(DRIVER, tmp_path, "do")
    for number in places:
        home = Home.at(tmp_path / str(number))
        await undo_what_is_left(home)
        assert tree(home) == before, number
    assert len(places) > 4


async def test_an_undo_that_is_killed_at_any_change_is_finished_by_the_next_and_counts_once(tmp_path: Path) -> None:
    """Each step is booked as undone exactly once, whichever undo did it."""
    before = tree(prepare(tmp_path / "0"))
    places = deaths(DRIVER, tmp_path, "undo")
    for number in places:
        home = Home.at(tmp_path / str(number))
        applied = await undo_what_is_left(home)
        assert tree(home) == before, number
        assert sorted(event.step_index for event in applied if event.reverted) == [0, 1, 2], number
    assert len(places) > 9
