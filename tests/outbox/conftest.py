"""An agent with one tool that sends through the outbox, on a clock whose holds really last."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import ModuleType
from typing import Any

import pytest
from attrs import define, evolve, field
from waiting_clock import WaitingClock

from myclaw_core import hookimpl
from myclaw_core.agent import Agent
from myclaw_core.compose import load_plugins
from myclaw_core.events.types import OutboxChanged
from myclaw_core.paths import Home
from myclaw_core.runtime.channel import Held
from myclaw_core.runtime.tool import EffectSpec, Outboxed, Tool
from myclaw_core.testing import RecordingChannel, calls, says
from myclaw_core.types.text import Text

SCHEMA = {
    "type": "object",
    "properties": {"to": {"type": "string"}, "text": {"type": "string"}},
    "required": ["to", "text"],
    "additionalProperties": False,
}


@define
class Post:
    """What a recipient's side has received.

    Attributes:
        letters: What was delivered, as `(text, key)`.
        answer: Runs at each delivery and may raise; its result is what the delivery tells besides.
        missing: Why nothing can be sent.
    """

    letters: list[tuple[str, str]] = field(factory=list)
    answer: Callable[[], Any] = lambda: None
    missing: Text | None = None

    async def deliver(self, args: Any, key: str) -> Any:
        """Receive a letter."""
        self.letters.append((args["text"], key))
        result = self.answer()
        return await result if asyncio.iscoroutine(result) else result

    def tool(self) -> Tool:
        """Return the tool that sends letters here."""
        return Tool(
            name="send",
            description="Send a letter.",
            schema=SCHEMA,
            effects=(EffectSpec(kind="outbound_message", arg="to"),),
            outbox=Outboxed(deliver=self.deliver, missing=lambda: self.missing),
        )


class HoldingChannel(RecordingChannel):
    """Keeps every display of what is held."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.displays: list[list[Held]] = []

    def held(self, held: Any) -> None:
        """Keep it."""
        self.displays.append(list(held))


@pytest.fixture
def clock() -> WaitingClock:
    """A clock on which a hold lasts until the test lets it pass."""
    return WaitingClock()


@pytest.fixture
def post() -> Post:
    """Where letters arrive."""
    return Post()


@pytest.fixture
def channel(clock: WaitingClock) -> HoldingChannel:
    """A channel whose person says yes."""
    return HoldingChannel(clock)


@pytest.fixture
def opened(open_agent: Callable[..., Any], home: Home, post: Post) -> Callable[..., AbstractAsyncContextManager[Agent]]:
    """Open an agent that sends `letters`, each in a turn of its own."""

    @asynccontextmanager
    async def open_(*letters: str, to: str = "anna", **options: Any) -> AsyncIterator[Agent]:
        replies = [reply for text in letters for reply in (calls(("send", {"to": to, "text": text})), says("Held."))]
        async with open_agent(replies, plugins=with_tool(home, post.tool()), **options) as agent:
            yield agent

    return open_


def with_tool(home: Home, tool: Tool) -> Any:
    """Return the installed plugins and one more, which offers `tool`."""
    home.root.mkdir(parents=True, exist_ok=True)
    plugins = load_plugins(home)
    module = ModuleType("post")
    module.myclaw_tools = hookimpl(lambda: [tool])  # type: ignore[attr-defined]
    module.myclaw_tools.__name__ = "myclaw_tools"
    plugins.manager.register(module, "post")
    return evolve(plugins, reports=(*plugins.reports, evolve(plugins.reports[0], name="post", distribution="post")))


@pytest.fixture
def states() -> Callable[[Agent], Any]:
    """Return the states that messages went through, as the log tells."""

    async def read(agent: Agent) -> list[str]:
        return [event.state for _, event in await agent.log.since(0) if isinstance(event, OutboxChanged)]

    return read
