"""Commands of a model through the whole engine: judged, asked, run in the sandbox, undone."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from myclaw_core.testing import FakeClock, RecordingChannel, calls, says

Tree = dict[str, tuple[str, int, bytes]]

DESTRUCTIVE = (
    "rm -r docs",
    "find . -mindepth 1 -path './docs*' -delete",
    "python3 -c \"import shutil; shutil.rmtree('docs')\"",
    "git clean -fdx",
    "mv docs/a.md notes.md",
)


def tree(root: Path) -> Tree:
    """Everything below a folder but what no command reaches: kind, mode, and bytes or link text."""
    found = {}
    for path in sorted(root.rglob("*")):
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            found[str(path.relative_to(root))] = ("link", 0, os.fsencode(path.readlink()))
        elif stat.S_ISDIR(status.st_mode):
            found[str(path.relative_to(root))] = ("dir", stat.S_IMODE(status.st_mode), b"")
        else:
            found[str(path.relative_to(root))] = ("file", stat.S_IMODE(status.st_mode), path.read_bytes())
    return found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A git repository with an untracked folder, a script, a link and an empty folder."""
    root = tmp_path / "project"
    (root / "docs" / "deep" / "empty").mkdir(parents=True)
    (root / "docs" / "a.md").write_bytes(b"\x00binary\xff\n")
    (root / "docs" / "deep" / "run.sh").write_text("#!/bin/sh\n")
    (root / "docs" / "deep" / "run.sh").chmod(0o750)
    (root / "docs" / "deep").chmod(0o2711)
    (root / "docs" / "link").symlink_to("deep/run.sh")
    (root / "notes.md").write_text("notes\n")
    (root / ".git" / "objects").mkdir(parents=True)
    (root / ".git" / "refs").mkdir()
    (root / ".git" / "hooks").mkdir()
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (root / ".git" / "config").write_text("[core]\n\trepositoryformatversion = 0\n")
    (root / ".git" / "hooks" / "pre-commit").write_text("#!/bin/sh\n")
    return root


def shell(command: str, **args: Any) -> tuple[str, dict[str, Any]]:
    return ("shell", {"command": command, **args})


def desk_of(make_desk, agent, project: Path, channel: RecordingChannel | None = None, **options: Any):
    roots = (*agent.standing_roots, str(project))
    return make_desk(agent, channel, roots=roots, cwd=str(project), **options)


def result(trace) -> str:
    (step,) = trace.steps
    return step.exec_result.text if step.exec_result else step.error.message


@pytest.mark.parametrize("command", DESTRUCTIVE)
async def test_in_read_mode_nothing_changes_and_nobody_is_asked(
    open_agent, make_desk, project, clock: FakeClock, command
) -> None:
    before = tree(project)
    channel = RecordingChannel(clock)
    async with open_agent([calls(shell(command)), says("Done.")]) as agent:
        trace = await desk_of(make_desk, agent, project, channel).handle("Tidy up")

    assert tree(project) == before
    assert channel.cards == []
    (step,) = trace.steps
    assert {effect.kind for effect in step.effects} == {"fs_read"}
    assert step.decision.verdict == "allow"
    assert step.error is not None
    assert "Read-only file system" in step.exec_result.text


@pytest.mark.parametrize("command", DESTRUCTIVE)
async def test_in_write_mode_it_happens_and_undo_restores_every_byte(
    open_agent, make_desk, project, clock: FakeClock, command
) -> None:
    before = tree(project)
    channel = RecordingChannel(clock)
    async with open_agent([calls(shell(command, mode="write", root=str(project))), says("Done.")]) as agent:
        desk = desk_of(make_desk, agent, project, channel)
        trace = await desk.handle("Tidy up")
        after = tree(project)
        await desk.handle("/undo")

    (step,) = trace.steps
    assert step.error is None, step.error
    assert after != before
    assert tree(project) == before
    assert step.effects[0].reversibility == "reversible_with_cost"
    assert command in channel.cards[0].diff
