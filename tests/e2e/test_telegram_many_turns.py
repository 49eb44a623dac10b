"""Hundreds of turns on Telegram, whose service fails in every way: each update counts once, each answer arrives."""

from __future__ import annotations

import asyncio
import gc
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from bot_api import BotApi, Person
from sampling import sampled
from telegram_service import Serving, serving

from myclaw_core.events.types import Event, StepIntended, TraceClosed, TurnStarted
from myclaw_core.paths import Home
from myclaw_core.testing import calls, says

PEOPLE = 3
TURNS = sampled(180, 300)
WARM_UP = 120
MOST_GROWTH_OBJECTS = 300
"""Of our own and the libraries', whatever is under way when they are counted; of 180 turns, two a turn would be 360."""
MOST_GROWTH_FILES = 6
"""Both ends of the connections that are open just then: the server lives in this process, too."""
AGAIN = "(sent again, as it may not have arrived)"
ANSWER = re.compile(r"Answer (\d+)\.")
FAULTS: Sequence[tuple[str, dict[str, Any]]] = (
    ("getUpdates", {"status": 409, "times": 2}),
    ("getUpdates", {"status": 502}),
    ("getUpdates", {"cut": True}),
    ("getUpdates", {"body": b"{oops"}),
    ("getUpdates", {"status": 429, "retry_after": 5}),
    ("sendMessage", {"status": 429, "retry_after": 7}),
    ("sendMessage", {"status": 502, "carried_out": True}),
    ("sendMessage", {"cut": True}),
    ("editMessageText", {"status": 429, "retry_after": 3}),
    ("editMessageText", {"status": 502}),
    ("editMessageText", {"status": 500, "carried_out": True}),
    ("editMessageText", {"cut": True}),
    ("answerCallbackQuery", {"status": 502}),
    ("sendChatAction", {"cut": True}),
    ("*", {"status": 502, "times": 3}),
)


@pytest.fixture
def server() -> Iterator[BotApi]:
    """A Bot API server on this machine."""
    with BotApi() as running:
        yield running


def replies() -> list[dict[str, Any]]:
    """Return what the model says: an answer a message, and before every third one a file that is asked."""
    found = []
    for number in range(TURNS):
        if number % 3 == 0:
            found.append(calls(("fs_write", {"path": f"notes/{number}.md", "content": f"Note {number}.\n"})))
        found.append(says(f"Answer {number}."))
    return found


def words(number: int) -> str:
    """Return a message so long that what a conversation remembers is full before the memory is looked at."""
    return f"message {number} {'x' * 3500}"


def living() -> int:
    """Return how many objects of ours and of the libraries between us and the service there are."""
    gc.collect()
    ours = ("myclaw_", "telegram.", "httpx", "httpcore", "asyncio", "aiosqlite", "_asyncio")
    return sum(str(type(each).__module__).startswith(ours) for each in gc.get_objects())


def open_files() -> int:
    """Return how many descriptors the process has."""
    return len(list(Path("/proc/self/fd").iterdir()))


class Talker:
    """Somebody who writes, presses what is asked, and waits for each answer, while updates come twice and late."""

    def __init__(self, daemon: Serving, person: Person) -> None:
        self._daemon = daemon
        self._server = daemon.server
        self._person = person
        self._rng = random.Random(person.id)
        self._answers: set[str] = set()
        self._pressed: set[str] = set()
        self._updates: list[dict[str, Any]] = []

    async def talk(self, numbers: Sequence[int]) -> None:
        """Write each message once the one before was answered."""
        for number in numbers:
            if self._rng.random() < 0.3:
                method, fault = self._rng.choice(FAULTS)
                self._server.fail(method, **fault)
            self._updates.append(self._person.says(words(number)))
            if self._rng.random() < 0.3:
                self._shuffle()
            await self._daemon.until(lambda: self._is_answered(len(self._updates)))

    def _shuffle(self) -> None:
        """Let what waits come in another order, some of it twice, and with it what came long ago."""
        old = self._rng.sample(self._updates, min(4, len(self._updates)))
        batch = [*self._server.pending, *old, *old[:2]]
        self._rng.shuffle(batch)
        self._server.deliver(*batch)

    def _is_answered(self, wanted: int) -> bool:
        """Press what is asked, now and then twice, and return whether so many answers were read."""
        for message in self._server.messages[-40:]:
            if message.chat_id != self._person.id:
                continue
            self._answers.update(ANSWER.findall(message.text))
            for button in (each for row in message.keyboard for each in row if each["text"] == "yes"):
                if button["callback_data"] not in self._pressed:
                    self._pressed.add(button["callback_data"])
                    for _time in range(self._rng.choice((1, 1, 2))):
                        self._person.presses_forged(message, button["callback_data"])
        return len(self._answers) >= wanted


async def read(daemon: Serving, *kinds: type[Event]) -> list[Any]:
    """Return the events of some kinds."""
    found: list[Any] = []
    seq = 0
    while entries := await daemon.agent.log.since(seq):
        seq = entries[-1][0].seq
        found += [event for _, event in entries if isinstance(event, kinds)]
    return found


@pytest.mark.sampled
@pytest.mark.timeout(400)  # half a minute of work, on a machine that may be busy with other things
async def test_each_update_counts_once_and_each_answer_arrives_whatever_the_service_does(
    home: Home, server: BotApi
) -> None:
    """Its throttles cost no real time: the clock races."""
    config = "[limits]\nwall_s = 1000000\n[approval]\ntutor_every = 1000\n"
    async with serving(home, server, replies(), config) as daemon:
        people = [Talker(daemon, await daemon.person(number, f"P{number}")) for number in range(7, 7 + PEOPLE)]
        await asyncio.gather(*(each.talk(range(at, WARM_UP, PEOPLE)) for at, each in enumerate(people)))
        objects, files = living(), open_files()
        await asyncio.gather(*(each.talk(range(WARM_UP + at, TURNS, PEOPLE)) for at, each in enumerate(people)))
        server.heal()
        more_objects, more_files = living() - objects, open_files() - files
        begun = Counter(event.turn.text for event in await read(daemon, TurnStarted))
        outcomes = Counter(event.trace.outcome for event in await read(daemon, TraceClosed))
        intended = len(await read(daemon, StepIntended))

    assert begun == Counter(map(words, range(TURNS)))
    assert outcomes == {"success": TURNS}
    assert intended == len(range(0, TURNS, 3))
    for number in range(0, TURNS, 3):
        assert (home.workspace / "notes" / f"{number}.md").read_text() == f"Note {number}.\n"
    last = [each.text for each in server.messages if "⏳" not in each.text]
    read_once = Counter(found for text in last if AGAIN not in text for found in ANSWER.findall(text))
    arrived = {found for text in last for found in ANSWER.findall(text)}
    assert arrived == {str(number) for number in range(TURNS)}
    assert set(read_once.values()) == {1}
    assert more_objects < MOST_GROWTH_OBJECTS
    assert more_files <= MOST_GROWTH_FILES
