"""Sends one letter in processes that kill themselves, one at each point from its intent to its end: `FOLDER`.

Points lie before and after each commit of the core database, from that of the intent on, and around the delivery, which
writes into `letters` of its home. Each process works in a copy of `FOLDER/0`, until one gets through; a line tells
where each died.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "crash"))

from attrs import evolve
from turn_until_killed import Points, put_around_commits

from myclaw_core import hookimpl
from myclaw_core.agent import Agent
from myclaw_core.compose import load_plugins
from myclaw_core.desk import SessionDesk
from myclaw_core.paths import Home
from myclaw_core.runtime.tool import EffectSpec, Outboxed, Tool
from myclaw_core.testing import FakeClock, RecordingChannel


class LaterPoints(Points):
    """Points that count once a message is put into the outbox."""

    counting = False

    def reach(self, name: str) -> None:
        if self.counting:
            super().reach(name)

    def count_from_put(self, agent: Agent) -> None:
        outbox = agent.services.outbox
        plain = outbox.put

        async def put(*args: Any, **named: Any) -> None:
            await plain(*args, **named)
            self.counting = True

        outbox.put = put  # type: ignore[method-assign]


def plugins_with(home: Home, points: Points) -> Any:
    """Return the installed plugins and one more, which offers the tool `send`."""

    async def deliver(args: Any, key: str) -> None:
        points.reach("before the letter arrives")
        with (home.root / "letters").open("a") as letters:
            letters.write(f"{key} {args['text']}\n")
            letters.flush()
            os.fsync(letters.fileno())
        points.reach("after the letter arrived")

    tool = Tool(
        name="send",
        description="Send a letter.",
        schema={"type": "object"},
        effects=(EffectSpec(kind="outbound_message", arg="to"),),
        outbox=Outboxed(deliver=deliver),
    )
    plugins = load_plugins(home)
    module = ModuleType("post")
    module.myclaw_tools = hookimpl(lambda: [tool])  # type: ignore[attr-defined]
    module.myclaw_tools.__name__ = "myclaw_tools"
    plugins.manager.register(module, "post")
    return evolve(plugins, reports=(*plugins.reports, evolve(plugins.reports[0], name="post", distribution="post")))


async def run(folder: Path, fatal: int) -> int:
    clock = FakeClock()
    points = LaterPoints(fatal)
    home = Home.at(folder)
    async with Agent.open(home, clock=clock, plugins=plugins_with(home, points)) as agent:
        put_around_commits(agent.log._store, points, "the log")
        points.count_from_put(agent)
        desk = SessionDesk(
            agent,
            RecordingChannel(clock),
            sender="test:me",
            roots=agent.standing_roots,
            cwd=str(agent.home.workspace),
            level="supervised",
        )
        await desk.handle("Write to Anna")
        await agent.services.outbox.wait()
    return len(points.names)


def main(folder: Path) -> None:
    fatal = 0
    while True:
        fatal += 1
        shutil.copytree(folder / "0", folder / str(fatal))
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            passed = asyncio.run(run(folder / str(fatal), fatal))
            print(f"through after {passed} points", flush=True)
            os._exit(0)
        if os.waitpid(child, 0)[1] == 0:
            return


if __name__ == "__main__":
    main(Path(sys.argv[1]))
