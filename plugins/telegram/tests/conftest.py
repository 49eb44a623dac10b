"""A local Bot API server, the bot that talks to it, and a core that only takes note."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import suppress
from uuid import UUID

import pytest
from attrs import define, field
from bot_api import BotApi
from myclaw_telegram.api import Api
from myclaw_telegram.backoff import Backoff
from myclaw_telegram.door import Door
from myclaw_telegram.polling import Polling
from myclaw_telegram.updates import Pressed

from myclaw_core.approval.types import Reply
from myclaw_core.errors import StoreError
from myclaw_core.runtime.messenger import Health, Incoming
from myclaw_core.testing import FakeClock
from myclaw_core.types.text import Text

CODE = "ABCD-EFGH"


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


@define
class Core:
    """What a messenger is offered, in memory.

    Attributes:
        paired: Who is served.
        received: What was taken over, each key once; `offered` what came, also twice.
        broken: How many of the next messages cannot be kept.
        changed: Told of every change; `until` waits for it.
    """

    paired: set[str] = field(factory=lambda: {"telegram:7"})
    commands: Sequence[tuple[str, str]] = (("/help", "What there is."), ("/revoke-trust", "Take trust back."))
    received: list[Incoming] = field(factory=list)
    offered: list[str] = field(factory=list)
    turned: list[tuple[str, str]] = field(factory=list)
    codes: list[tuple[str, str, str]] = field(factory=list)
    replies: list[Reply] = field(factory=list)
    kept: dict[str, bytes] = field(factory=dict)
    healths: list[Health] = field(factory=list)
    broken: int = 0
    changed: asyncio.Event = field(factory=asyncio.Event)

    @property
    def texts(self) -> list[str]:
        """Return the words that were taken over."""
        return [incoming.text for incoming in self.received]

    @property
    def state(self) -> str:
        """Return the last health."""
        return self.healths[-1].state if self.healths else ""

    async def is_paired(self, sender: str) -> bool:
        return sender in self.paired

    async def pair(self, sender: str, code: str, name: str) -> Text:
        self.codes.append((sender, code, name))
        self.changed.set()
        if code != CODE:
            return Text("that is not the code")
        self.paired.add(sender)
        return Text("paired")

    async def turned_away(self, sender: str, what: str) -> None:
        self.turned.append((sender, what))
        self.changed.set()

    async def receive(self, incoming: Incoming) -> None:
        if self.broken:
            self.broken -= 1
            raise StoreError("the disk is full")
        self.offered.append(incoming.key)
        if incoming.key not in {each.key for each in self.received}:
            self.received.append(incoming)
        self.changed.set()

    async def submit(self, reply: Reply) -> Text | None:
        self.replies.append(reply)
        self.changed.set()
        return None

    async def again(self, sender: str, request_id: UUID, key: str) -> Text | None:
        return None

    async def recall(self, sender: str, held_id: UUID) -> Text:
        return Text("recalled")

    async def load(self, name: str) -> bytes | None:
        return self.kept.get(name)

    async def save(self, name: str, value: bytes) -> None:
        self.kept[name] = value
        self.changed.set()

    def health(self, health: Health) -> None:
        if not self.healths or self.healths[-1] != health:
            self.healths.append(health)
        self.changed.set()

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait until something is so; looked at after each change.

        Raises:
            TimeoutError: It never was.
        """
        async with asyncio.timeout(20):
            while not is_so():
                self.changed.clear()
                await self.changed.wait()


@pytest.fixture
def core() -> Core:
    """A core that serves `telegram:7`."""
    return Core()


@define
class Loop:
    """The polling loop, in the background.

    Attributes:
        presses: The presses that were acted on.
        faults: What was recorded as broken.
        press: What a press does besides.
    """

    api: Api
    core: Core
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
async def loop(api: Api, core: Core, clock: FakeClock) -> AsyncIterator[Loop]:
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
