"""A daemon that runs on and on needs no more of the machine than at its beginning, and acts on each message once."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sampling import sampled
from waiting_clock import WaitingClock

from myclaw_core.agent import Agent
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import TurnStarted
from myclaw_core.paths import Home
from myclaw_core.runtime.channel import Status
from myclaw_core.runtime.messenger import Health, Incoming, Reception
from myclaw_core.runtime.types import ExecutionTrace
from myclaw_core.serve.lock import sole_instance
from myclaw_core.serve.service import Service
from myclaw_core.sessions.pairing import Pairing
from myclaw_core.testing import RecordingChannel, calls, says

TURNS = sampled(500, 2_000)
WARM_UP = sampled(200, 500)
SENDERS = 3
AT_ONCE = 20
MOST_GROWTH_BYTES = 6 << 20
"""Of up to 1,500 turns, in which the caches of SQLite (2 MB a connection) are still filled."""
MOST_GROWTH_OBJECTS = 500
"""Of some 64,000, whatever happens to be under way when they are counted; one an event would be thousands."""
EDIT_S = 1.0


def live_objects() -> int:
    """Return how many objects the interpreter keeps track of."""
    gc.collect()
    return len(gc.get_objects())


def memory_bytes() -> int:
    """Return what the process holds in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def open_files() -> int:
    """Return how many descriptors the process has."""
    return len(list(Path("/proc/self/fd").iterdir()))


class TickingClock(WaitingClock):
    """A clock on which no two readings are equal, as on a real one: turns that run side by side have an order."""

    def now(self) -> datetime:
        self.set(super().now() + timedelta(microseconds=1))
        return super().now()


class Line(RecordingChannel):
    """One conversation that keeps nothing, and shows its status at most once a second, as a real service demands."""

    def __init__(self, street: Street) -> None:
        super().__init__(street.clock)
        self.name = street.name
        self._street = street
        self._edit: asyncio.Task[None] | None = None

    def status(self, status: Status) -> None:
        if self._edit is None or self._edit.done():
            self._edit = asyncio.create_task(self._shown_later())

    async def _shown_later(self) -> None:
        await self._street.clock.sleep(EDIT_S)
        self._street.edits += 1

    def end_turn(self, trace: ExecutionTrace) -> None:
        for kept in (self.cards, self.refusals, self.texts, self.notices, self.shown, self.statuses, self.ended):
            kept.clear()
        self._street.turn_ended(trace)


class Street:
    """A messenger whose service delivers late, twice and in another order."""

    name = "street"

    def __init__(self, clock: WaitingClock) -> None:
        self.clock = clock
        self.edits = 0
        self.outcomes: Counter[str | None] = Counter()
        self.warm = asyncio.Event()
        self.go_on = asyncio.Event()
        self.done = asyncio.Event()
        self._room = asyncio.Semaphore(AT_ONCE)
        self._lines: dict[str, Line] = {}

    def missing(self) -> None:
        return None

    def channel(self, sender: str, place: str) -> Line:
        return self._lines.setdefault(sender, Line(self))

    def turn_ended(self, trace: ExecutionTrace) -> None:
        self.outcomes[trace.outcome] += 1
        self.clock.advance(seconds=4)
        self._room.release()
        ended = self.outcomes.total()
        if ended == WARM_UP:
            self.warm.set()
        if ended == TURNS:
            self.done.set()

    async def serve(self, reception: Reception) -> None:
        reception.health(Health(state="ok"))
        seen: set[int] = set()
        for number in deliveries(random.Random(6)):
            if number not in seen:
                await self._room.acquire()
                seen.add(number)
                if len(seen) == WARM_UP + 1:
                    await self.go_on.wait()
            await reception.receive(self.incoming(number))
        await asyncio.Event().wait()

    def incoming(self, number: int) -> Incoming:
        return Incoming(
            channel=self.name,
            key=f"update:{number}",
            sender=f"{self.name}:{number % SENDERS}",
            place="home",
            text=words(number),
            received_at=self.clock.now(),
        )


def words(number: int) -> str:
    """Return a message so long that what a conversation remembers is full before the memory is looked at."""
    return f"message {number} {'x' * 1800}"


def deliveries(rng: random.Random) -> Iterator[int]:
    """Yield the numbers of all messages, each at least once: a few late, many twice, some long after."""
    for start in range(0, TURNS, 10):
        window = list(range(start, start + 10))
        window += [*rng.sample(window, 2), rng.randrange(max(0, start - 100), start + 10)]
        rng.shuffle(window)
        yield from window


def replies() -> list[dict[str, object]]:
    """Return what the model says: an answer a message, and now and then a change of a file before it."""
    found: list[dict[str, object]] = []
    for number in range(TURNS):
        if number % 8 == 0:
            found.append(calls(("fs_write", {"path": f"note-{number % 40}.md", "content": f"Note {number}.\n"})))
        found.append(says(f"Answer {number}."))
    return found


def prepare(home: Home) -> None:
    home.root.mkdir(parents=True)
    script = home.root / "script.json"
    script.write_text(json.dumps(replies()))
    home.config_file.write_text(f'[agent]\nprovider = "scripted"\n[scripted]\nfile = {json.dumps(str(script))}\n')


async def pair_all(agent: Agent, name: str) -> None:
    pairing = Pairing(agent.log, agent.clock)
    for number in range(SENDERS):
        code, _ = await pairing.offer(name, "cli:me")
        assert await pairing.try_code(name, f"{name}:{number}", code, "Rosa")


async def begun(log: EventLog) -> Counter[str]:
    """Return how often each message became a turn."""
    found: Counter[str] = Counter()
    seq = 0
    while page := await log.heads(seq):
        seq = page[-1].seq
        events = [await log.event(head) for head in page if head.type == "turn_started"]
        found.update(event.turn.text for event in events if isinstance(event, TurnStarted))
    return found


@pytest.mark.sampled
@pytest.mark.timeout(600)  # half a minute of work, on a machine that may be busy with other things
async def test_turn_after_turn_needs_no_more_memory_or_files_and_each_message_is_acted_on_once(home: Home) -> None:
    """Throttles cost no real time: the clock is moved by the turns."""
    clock = TickingClock()
    prepare(home)
    street, stop = Street(clock), asyncio.Event()
    with sole_instance(home, clock) as owner:
        async with Agent.open(home, clock=clock) as agent:
            await pair_all(agent, street.name)
            service = Service(agent=agent, messengers={street.name: street}, owner=owner, tell=lambda line: None)
            running = asyncio.create_task(service.run(stop))
            await street.warm.wait()
            warm = live_objects(), memory_bytes(), open_files()
            street.go_on.set()
            await street.done.wait()
            end = live_objects(), memory_bytes(), open_files()
            stop.set()
            await running
            assert await begun(agent.log) == Counter(map(words, range(TURNS)))
    assert street.outcomes == {"success": TURNS}
    assert street.edits > SENDERS
    objects, memory, files = (now - before for before, now in zip(warm, end, strict=True))
    assert objects < MOST_GROWTH_OBJECTS
    assert memory < MOST_GROWTH_BYTES
    assert files <= 0
