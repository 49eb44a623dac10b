"""One letter, sent by processes that kill themselves, one at each point from its intent to its end.

Points lie before and after each commit of the core database, from that of the intent on, and around the delivery, which
writes into `letters` of its home.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import ModuleType
from typing import Any

from attrs import evolve
from dying import Points, desk_of, die_everywhere, put_around_commits

from myclaw_core import hookimpl
from myclaw_core.agent import Agent
from myclaw_core.compose import load_plugins
from myclaw_core.paths import Home
from myclaw_core.runtime.tool import EffectSpec, Outboxed, Tool
from myclaw_core.testing import FakeClock


class LaterPoints:
    """Points that count once a message is put into the outbox."""

    def __init__(self, points: Points) -> None:
        self._points = points
        self._counting = False

    def reach(self, name: str) -> None:
        if self._counting:
            self._points.reach(name)

    def count_from_put(self, agent: Agent) -> None:
        outbox = agent.services.outbox
        plain = outbox.put

        async def put(*args: Any, **named: Any) -> None:
            await plain(*args, **named)
            self._counting = True

        outbox.put = put  # type: ignore[method-assign]


def plugins_with(home: Home, points: LaterPoints) -> Any:
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


async def run(folder: Path, points: Points) -> None:
    later = LaterPoints(points)
    home = Home.at(folder)
    async with Agent.open(home, clock=FakeClock(), plugins=plugins_with(home, later)) as agent:
        put_around_commits(agent.log._store, later, "the log")
        later.count_from_put(agent)
        await desk_of(agent).handle("Write to Anna")
        await agent.services.outbox.wait()


if __name__ == "__main__":
    die_everywhere(run)
