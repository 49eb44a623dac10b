"""Random turns of real tools and of commands in the sandbox, taken back one after the other."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from random import Random
from typing import Any

import pytest

from myclaw_core.testing import FakeClock, RecordingChannel, calls, says

PATHS = ("a", "é", ".hidden", "with space", "sub", "sub/a", "sub/deep/b", "🦆/x", "-rf", "link", "link/a")
COMMANDS = (
    "printf 'made\\n' > made; mkdir -p 'sub/new folder'",
    "rm -rf sub; ln -s a link",
    "find . -type f -exec chmod 0600 {} +; chmod 2711 sub",
    "mv a sub/ 2>/dev/null; touch -- -rf; mkdir empty",
    'for f in * .hidden; do [ -f "$f" ] && printf x >> "$f"; done; true',
    "chmod 0 -- * ; mkdir sub/deep 2>/dev/null; false",
    "python3 -c \"import os; os.mkfifo('pipe'); os.symlink('nowhere', 'dangling')\"; rm -f pipe",
)


def tree(root: Path) -> dict[str, tuple[str, int, bytes]]:
    """Everything below a folder: kind, mode, and bytes or link text."""
    found = {}
    for path in sorted(root.rglob("*")):
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            found[str(path)] = ("link", 0, os.fsencode(path.readlink()))
        elif stat.S_ISDIR(mode):
            found[str(path)] = ("dir", stat.S_IMODE(mode), b"")
        else:
            found[str(path)] = ("file", stat.S_IMODE(mode), path.read_bytes())
    return found


def make(root: Path, chance: Random) -> None:
    (root / "sub/deep/empty").mkdir(parents=True)
    (root / "sub").chmod(0o2775)
    for path in ("a", ".hidden", "sub/a", "sub/deep/b", "with space"):
        (root / path).write_bytes(chance.choice([b"", b"two words\r\n", chance.randbytes(40)]))
        (root / path).chmod(chance.choice([0o600, 0o644, 0o755, 0o4711]))


def call(chance: Random) -> tuple[str, dict[str, Any]]:
    """Return a call of one of the tools; some cannot be done where they come."""
    path, other = chance.choice(PATHS), chance.choice(PATHS)
    return chance.choice(
        [
            ("fs_write", {"path": path, "content": f"{chance.random()}"}),
            ("fs_edit", {"path": path, "old": "two", "new": "2"}),
            ("fs_move", {"src": path, "dst": other}),
            ("fs_move", {"src": path, "dst": other, "overwrite": True}),
            ("fs_delete", {"path": path}),
            ("shell", {"command": chance.choice(COMMANDS), "mode": "write"}),
        ]
    )


@pytest.mark.parametrize("seed", range(10))
async def test_turns_are_taken_back_one_after_the_other(
    open_agent: Any, make_desk: Any, clock: FakeClock, tmp_path: Path, seed: int
) -> None:
    """Through policy, executor, sandbox and journal, until nothing is left."""
    chance = Random(seed)
    root = tmp_path / "project"
    root.mkdir()
    make(root, chance)
    before = tree(root)
    turns = [calls(*(call(chance) for _ in range(chance.randint(1, 3)))) for _ in range(4)]
    channel = RecordingChannel(clock)
    async with open_agent([reply for turn in turns for reply in (turn, says("Done."))]) as agent:
        desk = make_desk(agent, channel, roots=(*agent.standing_roots, str(root)), cwd=str(root))
        traces = [await desk.handle(f"Turn {number}") for number in range(len(turns))]
        assert any(step.undo_id for trace in traces for step in trace.steps)
        for _ in range(len(turns) + 1):
            await desk.handle("/undo")
            if channel.shown[-1].startswith("Nothing left"):
                break

    assert channel.shown[-1].startswith("Nothing left"), channel.shown
    assert tree(root) == before
