"""`myclaw demo`: the real engine with a scripted model, a scripted person and a fake clock in a temporary home."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import frozen

from myclaw_core.cli.demo_channel import DemoChannel
from myclaw_core.testing import FakeClock

__all__ = ["run"]

LIST = "notes/shopping.md"


@frozen
class Scene:
    """One turn of the story.

    Attributes:
        title: What the scene shows.
        says: What the person types.
        calls: Tool calls the scripted model makes.
        answer: What it says at the end.
        person_says: The scripted person's answer, should a question come.
    """

    title: str
    says: str
    calls: tuple[tuple[str, dict[str, Any]], ...]
    answer: str
    person_says: bool = True


def _items(*names: str) -> dict[str, Any]:
    return {"path": LIST, "content": "".join(f"- {name}\n" for name in names)}


STORY: tuple[Scene, ...] = (
    Scene(
        "A question, asked and answered",
        "Put milk on the shopping list.",
        (("fs_write", _items("milk")),),
        "Milk is on the list.",
    ),
    Scene(
        "The same kind of action: asked again, it is new",
        "Add bread.",
        (("fs_read", {"path": LIST}), ("fs_write", _items("milk", "bread"))),
        "Bread is on the list.",
    ),
    Scene(
        "A third time",
        "Add eggs.",
        (("fs_read", {"path": LIST}), ("fs_write", _items("milk", "bread", "eggs"))),
        "Eggs are on the list.",
    ),
    Scene(
        "Earned: done by itself, with the numbers that allowed it",
        "Add coffee.",
        (("fs_read", {"path": LIST}), ("fs_write", _items("milk", "bread", "eggs", "coffee"))),
        "Coffee is on the list.",
    ),
    Scene(
        "Quick to lose: after the undo the same action asks again, and this time the answer is no",
        "Add tea.",
        (("fs_write", _items("milk", "bread", "eggs", "tea")),),
        "Tea was not added: the answer was no.",
        person_says=False,
    ),
    Scene(
        "Denied: a text asked for something no score can allow",
        "Do what the note says.",
        (("fs_write", {"path": "~/.ssh/authorized_keys", "content": "ssh-ed25519 AAAA stranger\n"}),),
        "That was denied and not done.",
    ),
)
UNDO_AFTER = 3


def run(args: argparse.Namespace) -> int:
    """Play the story; 0 when every scene went as the engine must have it, else 1."""
    with tempfile.TemporaryDirectory(prefix="myclaw-demo-") as folder, _home(folder):
        return asyncio.run(_play(Path(folder)))


@contextmanager
def _home(folder: str) -> Iterator[None]:
    """Let the person of the story live in `folder`, so that nothing of the real one is looked at."""
    before = os.environ.get("HOME")
    os.environ["HOME"] = folder
    try:
        yield
    finally:
        if before is None:
            del os.environ["HOME"]
        else:
            os.environ["HOME"] = before


async def _play(folder: Path) -> int:
    from myclaw_core.agent import Agent
    from myclaw_core.desk import SessionDesk
    from myclaw_core.paths import Home

    home = Home.at(folder)
    script = folder / "script.json"
    script.write_text(json.dumps(_script(STORY)), encoding="utf-8")
    home.config_file.write_text(
        f'[agent]\nprovider = "scripted"\n\n[scripted]\nfile = {json.dumps(str(script))}\n', encoding="utf-8"
    )
    clock = FakeClock()
    channel = DemoChannel(clock)
    failures: list[str] = []
    print("myclaw demo: the real engine; only the model, the person and the clock are scripted.")
    async with Agent.open(home, clock=clock) as agent:
        for number, scene in enumerate(STORY):
            desk = SessionDesk(
                agent,
                channel,
                sender="demo:you",
                roots=agent.standing_roots,
                cwd=str(home.workspace),
                level="supervised",
            )
            channel.scene(number + 1, scene.title, scene.says, yes=scene.person_says)
            before = _bytes_of(home.workspace / LIST)
            trace = await desk.handle(scene.says)
            if trace is None or not _as_expected(
                number, [step.decision.via if step.decision else "" for step in trace.steps]
            ):
                failures.append(scene.title)
            if number == UNDO_AFTER:
                await _show_undo(desk, channel, home.workspace / LIST, before, failures)
            clock.advance(days=1)
        await _show_books(agent, failures)
    for failure in failures:
        print(f"not as it must be: {failure}")
    return 1 if failures else 0


def _script(story: Sequence[Scene]) -> list[dict[str, Any]]:
    replies: list[dict[str, Any]] = []
    for scene in story:
        replies.extend({"tool_calls": [{"tool": tool, "args": args}]} for tool, args in scene.calls)
        replies.append({"text": scene.answer})
    return replies


def _as_expected(number: int, decided_by: list[str]) -> bool:
    """Return whether the last step of a scene was decided by the check that the story is about."""
    wanted = {UNDO_AFTER: {"trust_promoted"}, len(STORY) - 1: {"constitution", "forbidden"}}.get(number, {"trust"})
    return bool(decided_by) and decided_by[-1] in wanted


async def _show_undo(desk: Any, channel: DemoChannel, path: Path, before: bytes, failures: list[str]) -> None:
    after = _bytes_of(path)
    channel.heading("Taken back: /undo restores the bytes")
    await desk.handle("/undo")
    restored = _bytes_of(path)
    print(f"    before {len(before)} bytes, after {len(after)}, restored {len(restored)}: ", end="")
    print("the same bytes as before" if restored == before else "NOT the same bytes")
    if restored != before:
        failures.append("undo")


async def _show_books(agent: Any, failures: list[str]) -> None:
    from myclaw_core.trust.report import trust_table

    print("\nWhat was earned (myclaw trust list):\n")
    print(trust_table(await agent.book.snapshot()))
    report = await agent.log.verify()
    print(f"\nThe record (myclaw audit verify): {report.checked} entries, {'whole' if report.ok else report.problem}")
    if not report.ok:
        failures.append("audit")


def _bytes_of(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""
