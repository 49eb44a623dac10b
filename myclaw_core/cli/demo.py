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
from typing import TYPE_CHECKING, Any

from myclaw_core.cli.demo_channel import DemoChannel
from myclaw_core.cli.demo_story import LIST, Scene, story
from myclaw_core.messages import _, render
from myclaw_core.testing import FakeClock

if TYPE_CHECKING:
    from myclaw_core.agent import Agent
    from myclaw_core.desk import SessionDesk

__all__ = ["run"]


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
    from myclaw_core.paths import Home

    home, scenes = Home.at(folder), story()
    script = folder / "script.json"
    script.write_text(json.dumps(_script(scenes)), encoding="utf-8")
    home.config_file.write_text(
        f'[agent]\nprovider = "scripted"\n\n[scripted]\nfile = {json.dumps(str(script))}\n', encoding="utf-8"
    )
    clock = FakeClock()
    channel = DemoChannel(clock)
    failures: list[str] = []
    print(_("myclaw demo: the real engine; only the model, the person and the clock are scripted."))
    async with Agent.open(home, clock=clock) as agent:
        for number, scene in enumerate(scenes, 1):
            await _show_scene(agent, channel, number, scene, failures)
            clock.advance(days=1)
        await _show_books(agent, failures)
    for failure in failures:
        print(_("not as it must be: {what}", what=failure))
    return 1 if failures else 0


def _script(scenes: Sequence[Scene]) -> list[dict[str, Any]]:
    replies: list[dict[str, Any]] = []
    for scene in scenes:
        replies.extend({"tool_calls": [{"tool": tool, "args": args}]} for tool, args in scene.calls)
        replies.append({"text": scene.answer})
    return replies


async def _show_scene(agent: Agent, channel: DemoChannel, number: int, scene: Scene, failures: list[str]) -> None:
    from myclaw_core.desk import SessionDesk

    desk = SessionDesk(
        agent,
        channel,
        sender="demo:you",
        roots=agent.standing_roots,
        cwd=str(agent.home.workspace),
        level="supervised",
    )
    channel.scene(number, scene.title, scene.says, yes=scene.person_says)
    path = agent.home.workspace / LIST
    before = _bytes_of(path)
    trace = await desk.handle(scene.says)
    decided = [step.decision.via for step in trace.steps if step.decision] if trace else []
    if not decided or decided[-1] not in scene.decided_by:
        failures.append(scene.title)
    if scene.is_undone:
        await _show_undo(desk, channel, path, before, failures)


async def _show_undo(desk: SessionDesk, channel: DemoChannel, path: Path, before: bytes, failures: list[str]) -> None:
    after = _bytes_of(path)
    channel.heading(_("Taken back: /undo restores the bytes"))
    await desk.handle("/undo")
    restored = _bytes_of(path)
    sizes = {"before": len(before), "after": len(after), "restored": len(restored)}
    if restored == before:
        told = _("before {before} bytes, after {after}, restored {restored}: the same bytes as before", **sizes)
    else:
        told = _("before {before} bytes, after {after}, restored {restored}: NOT the same bytes", **sizes)
    print(f"    {told}")
    if restored != before:
        failures.append("undo")


async def _show_books(agent: Agent, failures: list[str]) -> None:
    from myclaw_core.trust.report import trust_table

    earned = _("What was earned (myclaw trust list):")
    print(f"\n{earned}\n")
    print(trust_table(await agent.book.snapshot()))
    report = await agent.log.verify()
    state = render(report.problem) if report.problem else _("whole")
    told = _("The record (myclaw audit verify): {n} entries, {state}", n=report.checked, state=state)
    print(f"\n{told}")
    if not report.ok:
        failures.append("audit")


def _bytes_of(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""
