"""A local Bot API server, the bot that talks to it, and a core that only takes note."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import suppress

import pytest
from attrs import define, field
from bot_api import BotApi
from myclaw_telegram.api import Api
from myclaw_telegram.backoff import Backoff
from myclaw_telegram.door import Door
from myclaw_telegram.polling import Polling
from myclaw_telegram.updates import Pressed
from noting_core import NotingCore

from myclaw_core.testing import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    """A clock that the test moves."""
    return FakeClock()


@pytest.fixture
def server() -> Iterator[BotApi]:
    """A Bot API server on this machine."""
    with BotApi() as running:
        yield running


@pytest.fixture
async def api(server: BotApi, clock: FakeClock) -> AsyncIterator[Api]:
    """The bot, reaching that server."""
    made = Api(server.token, clock=clock, api_url=server.url)
    yield made
    await made.close()


@pytest.fixture
def core() -> NotingCore:
    """A core that serves `telegram:7`."""
    return NotingCore()


@define
class Loop:
    """The polling loop, in the background.

    Attributes:
        presses: The presses that were acted on.
        faults: What was recorded as broken.
        press: What a press does besides.
    """

    api: Api
    core: NotingCore
    clock: FakeClock
    presses: list[Pressed] = field(factory=list)
    faults: list[str] = field(factory=list)
    press: Callable[[Pressed], None] = lambda press: None
    groups: Sequence[int] = ()
    _task: asyncio.Task[None] | None = None
    _door: Door | None = None

    def start(self) -> asyncio.Task[None]:
        """Begin to poll."""

        async def pressed(press: Pressed) -> None:
            self.presses.append(press)
            self.core.changed.set()
            self.press(press)

        self._door = Door(self.api, self.core, self.clock, pressed, self.faults.append)
        backoff = Backoff(self.clock, jitter=lambda: 1.0)
        polling = Polling(self.api, self.core, self.clock, self._door, groups=self.groups, backoff=backoff)
        self._task = asyncio.create_task(polling.run())
        return self._task

    async def stop(self) -> None:
        """End it, as a restart would."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await task
        if self._door is not None:
            await self._door.close()


@pytest.fixture
async def loop(api: Api, core: NotingCore, clock: FakeClock) -> AsyncIterator[Loop]:
    """A polling loop that was not started yet."""
    made = Loop(api, core, clock)
    yield made
    await made.stop()


@pytest.fixture
def png() -> Callable[[int], bytes]:
    """Make pictures of a size in bytes."""

    def make(size_bytes: int) -> bytes:
        head = b"\x89PNG\r\n\x1a\n"
        return head + bytes(size_bytes - len(head))

    return make
