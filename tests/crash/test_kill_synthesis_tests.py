"""kill -9 while birth tests run, and at each stage before: nothing runs on, and the command goes on with the design."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from designing import REPORT, LaterClock, configure
from designs import draft, replies
from dying import THROUGH, deaths
from sampling import sampled

from myclaw_core.agent import Agent
from myclaw_core.paths import Home
from myclaw_core.synthesis import store

DRIVER = Path(__file__).with_name("synthesis_until_killed.py")
PROGRAM = Path(sys.executable).with_name("myclaw")
PATIENCE_S = 60


def resumed(home: Home, *replies: Any) -> dict[str, Any]:
    """Go on by the command, with what the model answers then."""
    (home.root / "script.json").write_text(json.dumps(replies))
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(home.root), "MYCLAW_HOME": str(home.root), "LANG": "C.UTF-8"}
    listed = [PROGRAM, "neurons", "proposals", "--json"]
    (found,) = json.loads(subprocess.run(listed, env=environ, capture_output=True, text=True, check=True).stdout)
    command = [PROGRAM, "neurons", "synthesize", "--json", "--resume", found["id"]]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    return dict(json.loads(done.stdout))


async def test_a_process_that_dies_while_tests_run_leaves_no_sandbox_and_the_command_tests_it_again(
    tmp_path: Path,
) -> None:
    """The tests are run anew; no model is asked for anything again."""
    configure(tmp_path / "0")
    places = deaths(DRIVER, tmp_path, "tests", step=2)
    assert len(places) > 1
    for where in places.values():
        if where != THROUGH:
            assert where.split(), "no sandbox was running"
            assert all(map(is_gone, map(int, where.split())))
    told = resumed(Home.at(tmp_path / "1"))
    assert (told["stage"], told["retries"], told["result"]) == ("approval", 0, None)


@pytest.mark.sampled
@pytest.mark.timeout(600)
async def test_the_command_goes_on_with_a_design_that_was_killed_at_whatever_stage(
    tmp_path: Path, birth_report: bytes
) -> None:
    configure(tmp_path / "0")
    (tmp_path / "0" / REPORT).write_bytes(birth_report)
    stages = set()
    for number in deaths(DRIVER, tmp_path, "request", step=sampled(19, 3)):
        home = Home.at(tmp_path / str(number))
        async with Agent.open(home, clock=LaterClock()) as agent:
            every = await store.standing(agent.log)
        if not every or every[0].stage == "approval":
            continue
        stages.add(every[0].stage)
        told = resumed(home, *(replies() if every[0].stage == "spec" else [draft()]))
        assert (told["stage"], told["retries"], told["result"]) == ("approval", 0, None)
    assert "spec" in stages


def is_gone(pid: int) -> bool:
    """Wait until a process has ended that nobody waits for but the system."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], PATIENCE_S)[0])
    finally:
        os.close(handle)
