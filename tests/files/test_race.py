"""Another process swaps a folder and a file for links to elsewhere while the agent writes there (security row 8)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from sampling import sampled

from myclaw_core.policy.types import Situation
from myclaw_core.runtime.steps import StepRunner
from myclaw_core.runtime.traces import new_trace
from myclaw_core.runtime.types import ActionStep, ToolCall, Turn
from myclaw_core.testing import RecordingChannel
from myclaw_core.undo.types import UndoRecord

WRITES = sampled(1_500, 5_000)
A_MESSAGE = 20
ROOMY = "\n".join(
    ("[policy]", *(f"per_{span}_per_{whom} = 1000000" for span in ("minute", "day") for whom in ("class", "sender")))
)


class Unrecorded:
    """Takes every step and writes nothing down: thousands of traces are not what is raced here."""

    def __init__(self, turn: Turn) -> None:
        self.trace = new_trace(turn, (), "")
        self.seen: Counter[str] = Counter()

    async def decided(self, steps: Any) -> None:
        """Take decided steps."""

    def answered(self, steps: Any, approvals: Any) -> None:
        """Take answers."""

    async def intended(self, step: ActionStep, undo: UndoRecord | None) -> ActionStep:
        """Let a step go on."""
        return evolve(step, state="intent", undo_id=undo.id if undo else None)

    async def ended(self, step: ActionStep, *args: Any, **options: Any) -> ActionStep:
        """Count how a step ended."""
        self.seen[step.state if step.error is None else step.error.kind] += 1
        return step


@contextmanager
def flipped(root: Path, outside: Path) -> Iterator[list[int]]:
    """Let another process swap things in `root` meanwhile; at the end the list holds how often it did."""
    script = Path(__file__).with_name("flip.py")
    command = [sys.executable, str(script), str(root), str(outside)]
    flips: list[int] = []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield flips
        flips.append(int(process.communicate()[0]))


@pytest.mark.sampled
async def test_no_byte_lands_outside_while_a_folder_and_a_file_flip_with_links_during_many_writes(
    open_agent: Any, clock: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each write is judged, planned, judged again, journalled and executed as in a turn; what is asked is granted."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # what is raced is where bytes go, not when they are safe
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("secret")
    async with open_agent(config=ROOMY) as agent:
        root = agent.home.workspace / "flipping"
        (root / "sub").mkdir(parents=True)
        (root / "note.txt").touch()
        turn = Turn(
            id=clock.new_id(),
            session_id="s",
            channel="test",
            sender="test:me",
            autonomy="full",
            text="write",
            received_at=clock.now(),
            roots=agent.standing_roots,
            cwd=str(root),
        )
        recorder: Any = Unrecorded(turn)
        situation = Situation(roots=turn.roots, cwd=turn.cwd)
        with flipped(root, outside) as flips:
            for start in range(0, WRITES, A_MESSAGE):
                runner = StepRunner(agent.services, turn, recorder, RecordingChannel(clock))
                await runner.run([_write(number) for number in range(start, start + A_MESSAGE)], "m", situation)

    assert [path.name for path in outside.iterdir()] == ["secret.txt"]
    assert (outside / "secret.txt").read_text() == "secret"
    assert recorder.seen.total() == WRITES
    assert recorder.seen["done"] > 100
    assert recorder.seen["denied"] > 100
    assert flips[0] > 100


def _write(number: int) -> ToolCall:
    path = "note.txt" if number % 4 == 0 else f"sub/{number}.txt"
    return ToolCall(id=str(number), tool="fs_write", args={"path": path, "content": f"payload {number}"})
