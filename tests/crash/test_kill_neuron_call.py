"""kill -9 at each point of a turn in which a neuron reads and writes: the record is whole, nothing runs again."""

from __future__ import annotations

import json
from pathlib import Path

from dying import THROUGH, deaths, desk_of
from neurons_in_turns import called

from myclaw_core.agent import Agent
from myclaw_core.events.types import TraceClosed
from myclaw_core.paths import Home
from myclaw_core.testing import FakeClock, says

DRIVER = Path(__file__).with_name("neuron_call_until_killed.py")
BEFORE, AFTER = "old\n", "ONE\n"


def prepare(folder: Path) -> None:
    home = Home.at(folder)
    home.create()
    (home.workspace / "a.md").write_text("one\n")
    (home.workspace / "b.md").write_text(BEFORE)
    script = folder / "script.json"
    script.write_text(json.dumps([called("copy", **{"from": "a.md", "to": "b.md"}), says("Copied.")]))
    home.config_file.write_text(f'[agent]\nprovider = "scripted"\n[scripted]\nfile = {json.dumps(str(script))}\n')


async def check_after_restart(home: Home, where: str) -> str:
    """Open the home again and return what the steps had come to."""
    content = (home.workspace / "b.md").read_text()
    assert content in {BEFORE, AFTER}, where
    async with Agent.open(home, clock=FakeClock()) as agent:
        assert (home.workspace / "b.md").read_text() == content, f"{where}: something ran again"
        assert (await agent.log.verify()).ok, where
        assert (await agent.book.verify()).ok, where
        assert await agent.services.gateway.pending() == [], where
        assert await agent.log.scan("turn") == [], where
        traces = [event.trace for _, event in await agent.log.since(0) if isinstance(event, TraceClosed)]
        steps = traces[0].steps if traces else []
        assert [step.index for step in steps] == list(range(len(steps))), where
        assert all(step.callers for step in steps[1:]), where
        if content == AFTER:
            assert steps[-1].undo_id is not None, where
            await desk_of(agent).handle(f"/undo {traces[0].id}")
            assert (home.workspace / "b.md").read_text() == BEFORE, where
        return " ".join(step.state for step in steps)


async def test_a_kill_at_every_point_leaves_a_consistent_record(tmp_path: Path) -> None:
    """The steps of the neuron and the one in which it ran each stay as far as they had come."""
    prepare(tmp_path / "0")
    died = deaths(DRIVER, tmp_path, step=3)
    seen = {await check_after_restart(Home.at(tmp_path / str(point)), where) for point, where in died.items()}

    assert list(died.values())[-1] == THROUGH
    assert {"intent done intent", "done done done"} <= seen
