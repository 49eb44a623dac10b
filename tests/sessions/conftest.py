"""Sessions over a whole agent: a messenger without a service, a scripted model, real SQLite files."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from messengers import FakeMessenger, until

from myclaw_core.agent import Agent
from myclaw_core.events.types import Event
from myclaw_core.paths import Home
from myclaw_core.runtime.messenger import Reception
from myclaw_core.runtime.types import ExecutionTrace
from myclaw_core.sessions.pairing import Pairing
from myclaw_core.sessions.sessions import Sessions
from myclaw_core.testing import FakeClock

OpenSessions = Callable[..., AbstractAsyncContextManager["Bench"]]


@frozen(kw_only=True)
class Bench:
    """Running sessions and what a test looks at."""

    agent: Agent
    sessions: Sessions
    messenger: FakeMessenger
    reception: Reception
    health: list[Any]

    async def send(self, text: str, **given: Any) -> None:
        """Receive one message."""
        await self.reception.receive(self.messenger.incoming(text, **given))

    async def quiet(self) -> None:
        """Wait until nothing runs or waits."""
        await until(lambda: not self.sessions.busy)

    async def asking(self, place: str = "home", sender: str = "") -> None:
        """Wait until a turn of this conversation asks."""
        await self.messenger.channel(sender or self.messenger.me, place).asking.wait()

    async def events(self, *kinds: type[Event]) -> list[Any]:
        """Return the events of some kinds, in order."""
        found: list[Any] = []
        after = 0
        while entries := await self.agent.log.since(after):
            after = entries[-1][0].seq
            found += [event for _, event in entries if isinstance(event, kinds)]
        return found

    async def waiting(self) -> list[str]:
        """Return what lies in the inbox."""
        return [key for key, _ in await self.agent.log.scan("inbox")]

    def ended(self, place: str = "home", sender: str = "") -> list[ExecutionTrace]:
        """Return the turns of one conversation that were shown as ended."""
        return self.messenger.channel(sender or self.messenger.me, place).ended


@pytest.fixture
def crash(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Callable[[], None]]:
    """Return a function that notes the disk as it is now; what it returns puts that back, as after a power cut.

    Turns are recorded as those of a process that is dead by then.
    """
    monkeypatch.setattr("myclaw_core.runtime.recorder.this_process", lambda: "another-boot:1:1")

    def now() -> Callable[[], None]:
        kept = tmp_path / "kept"
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(home.root, kept)

        def put_back() -> None:
            shutil.rmtree(home.root)
            shutil.copytree(kept, home.root)

        return put_back

    return now


@pytest.fixture
def messenger(clock: FakeClock) -> FakeMessenger:
    """A messenger whose person agrees to everything."""
    return FakeMessenger(clock)


@pytest.fixture
def open_sessions(open_agent: Any, clock: FakeClock, messenger: FakeMessenger) -> OpenSessions:
    """Open an agent with started sessions; the messenger's own person is paired unless told otherwise."""

    @asynccontextmanager
    async def opened(
        replies: Sequence[dict[str, Any]] = (), *, paired: bool = True, start: bool = True, **options: Any
    ) -> AsyncIterator[Bench]:
        async with open_agent(replies, **options) as agent:
            health: list[Any] = []
            sessions = Sessions(agent, {messenger.name: messenger}, lambda *told: health.append(told))
            if paired:
                await pair(agent, clock, messenger.me)
            if start:
                await sessions.start()
            yield Bench(
                agent=agent,
                sessions=sessions,
                messenger=messenger,
                reception=sessions.reception(messenger.name),
                health=health,
            )
            await sessions.stop()

    return opened


async def pair(agent: Agent, clock: FakeClock, sender: str) -> None:
    """Pair somebody as they would be."""
    pairing = Pairing(agent.log, clock)
    name = sender.partition(":")[0]
    code, _ = await pairing.offer(name, "cli:me")
    assert await pairing.try_code(name, sender, code, "Rosa")
