"""kill -9 of the agent while a command runs: the command dies with it, and what it did can be undone."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from pathlib import Path

from myclaw_core.events.types import TraceClosed
from myclaw_core.testing import FakeClock, RecordingChannel, calls, says

AGENT = Path(__file__).with_name("agent_to_kill.py")
PATIENCE_S = 30


def run_until_changed(home: Path, project: Path) -> None:
    """Kill the agent once its command has changed everything it will, and wait for the command's end."""
    agent = subprocess.Popen([sys.executable, AGENT, home, project])
    while not (project / "changed").exists() and agent.poll() is None:
        select.select([], [], [], 0.01)
    inside = [
        os.pidfd_open(int(entry.name))
        for entry in Path("/proc").glob("[0-9]*")
        if b"sleep 7654.25" in _command_line(entry) and int(entry.name) != agent.pid
    ]
    agent.kill()
    agent.wait()
    for handle in inside:
        assert select.select([handle], [], [], PATIENCE_S)[0]
        os.close(handle)


def _command_line(entry: Path) -> bytes:
    try:
        return (entry / "cmdline").read_bytes()
    except OSError:
        return b""


async def test_a_command_dies_with_the_agent_and_can_be_undone_after_the_restart(
    open_agent, make_desk, home, tmp_path: Path, clock: FakeClock
) -> None:
    project = tmp_path / "project"
    (project / "docs").mkdir(parents=True)
    (project / "docs" / "a.md").write_bytes(b"a\x00\n")
    (project / "b.md").write_text("b\n")
    command = "rm -r docs; echo new >b.md; echo evil >.envrc; : >changed; sleep 7654.25; : >late"
    home.root.mkdir()
    script = home.root / "script.json"
    script.write_text(json.dumps([calls(("shell", {"command": command, "mode": "write", "root": str(project)}))]))
    home.config_file.write_text(
        f'[agent]\nprovider = "scripted"\n[scripted]\nfile = {json.dumps(str(script))}\n'
        "[approval]\nreading_pause_s = 0\n"
    )
    run_until_changed(home.root, project)

    channel = RecordingChannel(clock)
    async with open_agent([says("Hello.")]) as agent:
        told = "\n".join(map(str, agent.notices))
        assert "unknown outcome" in told
        assert f"{project}/.envrc; look at each" in told
        assert not (project / ".envrc").exists()
        (project / "mine.md").write_text("written after the restart\n")
        desk = make_desk(agent, channel, roots=(*agent.standing_roots, str(project)), cwd=str(project))
        (closed,) = [event.trace for _, event in await agent.log.since(0) if isinstance(event, TraceClosed)]
        await desk.handle(f"/undo {closed.id}")

    assert sorted(path.name for path in project.iterdir()) == ["b.md", "docs", "mine.md"]
    assert (project / "docs" / "a.md").read_bytes() == b"a\x00\n"
    assert (project / "b.md").read_text() == "b\n"
