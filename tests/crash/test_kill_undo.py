"""kill -9 within an action, and within its undo, at any change of the disk: the next undo brings everything back."""

from __future__ import annotations

import json
import signal
import stat
import subprocess
import sys
from pathlib import Path

from myclaw_core.agent import Agent
from myclaw_core.desk import SessionDesk
from myclaw_core.events.types import TraceClosed, UndoApplied
from myclaw_core.paths import Home
from myclaw_core.runtime.types import ExecutionTrace
from myclaw_core.testing import FakeClock, RecordingChannel

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


def run_until(home: Home, message: str, fatal: int) -> bool:
    """Handle a message until a point; return whether the process was killed there."""
    command = [sys.executable, str(DRIVER), str(home.root), message, str(fatal)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode in {0, -signal.SIGKILL}, ended.stderr
    return ended.returncode != 0


def desk_of(agent: Agent) -> SessionDesk:
    return SessionDesk(
        agent,
        RecordingChannel(agent.clock),
        sender="test:me",
        roots=agent.standing_roots,
        cwd=str(agent.home.workspace),
        level="supervised",
    )


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
    fatal, killed = 1, True
    while killed:
        home = prepare(tmp_path / str(fatal))
        before = tree(home)
        killed = run_until(home, "Tidy up", fatal)
        await undo_what_is_left(home)
        assert tree(home) == before, fatal
        fatal += 1
    assert fatal > 5


async def test_an_undo_that_is_killed_at_any_change_is_finished_by_the_next_and_counts_once(tmp_path: Path) -> None:
    """Each step is booked as undone exactly once, whichever undo did it."""
    fatal, killed = 1, True
    while killed:
        home = prepare(tmp_path / str(fatal))
        before = tree(home)
        async with Agent.open(home, clock=FakeClock()) as agent:
            turn = await desk_of(agent).handle("Tidy up")
        assert tree(home) != before
        killed = run_until(home, f"/undo {turn.id}", fatal)
        applied = await undo_what_is_left(home)
        assert tree(home) == before, fatal
        assert sorted(event.step_index for event in applied if event.reverted) == [0, 1, 2], fatal
        fatal += 1
    assert fatal > 10
