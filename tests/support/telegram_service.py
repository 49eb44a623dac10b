"""The whole daemon in this process: the real Telegram messenger over real HTTP, and a clock that races, for tests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from attrs import define
from bot_api import BotApi, BotMessage, Person
from waiting_clock import WaitingClock

from myclaw_core.agent import Agent
from myclaw_core.paths import Home
from myclaw_core.serve.lock import sole_instance
from myclaw_core.serve.service import Service
from myclaw_core.sessions.pairing import Pairing

__all__ = ["Serving", "serving", "written"]

_TICK_S = 0.002
_STEP_S = 0.25


@define
class Serving:
    """A daemon that serves a bot."""

    home: Home
    agent: Agent
    clock: WaitingClock
    server: BotApi
    _racing: bool = True

    async def person(self, number: int = 7, name: str = "Ada") -> Person:
        """Return somebody who is paired."""
        pairing = Pairing(self.agent.log, self.clock)
        code, _ = await pairing.offer("telegram", "cli:me")
        assert await pairing.try_code("telegram", f"telegram:{number}", code, name)
        return self.server.user(number, name)

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait until something is so."""
        for _round in range(20_000):
            if is_so():
                return
            await asyncio.sleep(_TICK_S)
        calls = [(call.method, call.status) for call in self.server.calls[-20:]]
        raise TimeoutError(f"it never was so: {calls}; {[each.text for each in self.server.messages[-3:]]}")

    async def asked(self, person: Person, after: int = 0) -> BotMessage:
        """Wait until a person is asked, in a message after some others, and can press a button."""
        found: list[BotMessage] = []

        def is_asked() -> bool:
            found[:] = [each for each in self.server.messages[after:] if each.chat_id == person.id and each.keyboard]
            return bool(found)

        await self.until(is_asked)
        return found[-1]

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Let no time pass by itself meanwhile."""
        self._racing = False
        try:
            yield
        finally:
            self._racing = True

    async def race(self) -> None:
        """Let time pass by itself."""
        while True:
            await asyncio.sleep(_TICK_S)
            if self._racing:
                self.clock.advance(seconds=_STEP_S)


@asynccontextmanager
async def serving(
    home: Home,
    server: BotApi,
    replies: Sequence[Mapping[str, Any]],
    config: str = "",
    clock: WaitingClock | None = None,
) -> AsyncIterator[Serving]:
    """Serve until the end of the block; the model plays replies, and the clock may be one that ran before."""
    clock, stop = clock or WaitingClock(), asyncio.Event()
    written(home, server, replies, config)
    with sole_instance(home, clock) as owner:
        async with Agent.open(home, clock=clock) as agent:
            made = Serving(home, agent, clock, server)
            messengers = agent.dispatcher.messengers()
            service = Service(agent=agent, messengers=messengers, owner=owner, tell=lambda line: None)
            racing = asyncio.create_task(made.race())
            running = asyncio.create_task(service.run(stop))
            try:
                yield made
            finally:
                stop.set()
                await asyncio.wait({running})
                racing.cancel()
            await running


def written(home: Home, server: BotApi, replies: Sequence[Mapping[str, Any]], config: str = "") -> None:
    """Write what a daemon of this home finds."""
    home.create()
    script = home.root / "script.json"
    script.write_text(json.dumps(list(replies)))
    token = home.keys / "telegram.token"
    token.write_text(server.token)
    token.chmod(0o600)
    home.config_file.write_text(
        f'[agent]\nprovider = "scripted"\n[scripted]\nfile = {json.dumps(str(script))}\n'
        f"[telegram]\napi_url = {json.dumps(server.url)}\n{config}"
    )
