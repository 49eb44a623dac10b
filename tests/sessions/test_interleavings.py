"""Whatever comes in whatever order, and wherever the power goes: each message is acted on once, or told why not."""

from __future__ import annotations

import asyncio
import itertools
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attrs import define, evolve, field
from hypothesis import given, settings
from hypothesis import strategies as st
from messengers import FakeMessenger, until

from myclaw_core.agent import Agent
from myclaw_core.events.types import TraceClosed, TurnStarted
from myclaw_core.paths import Home
from myclaw_core.runtime import recorder
from myclaw_core.runtime.model import ModelReply, ModelRequest
from myclaw_core.runtime.types import Message, Usage
from myclaw_core.sessions.pairing import Pairing
from myclaw_core.sessions.sessions import Sessions
from myclaw_core.testing import FakeClock

OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("send"), st.integers(0, 1)),
        st.tuples(st.just("again"), st.integers(0, 9)),
        st.tuples(st.sampled_from(["stop", "finish"]), st.integers(0, 1)),
        st.tuples(st.sampled_from(["crash", "restart"]), st.just(0)),
    ),
    max_size=9,
)


@define
class Gated:
    """A model that answers once its gate is open."""

    gate: asyncio.Event = field(factory=asyncio.Event)
    waiting: set[str] = field(factory=set)
    name = "gated"
    free = True

    def missing(self) -> None:
        return None

    async def complete(self, request: ModelRequest, on_text: Any) -> ModelReply:
        text = request.messages[-1].text
        self.waiting.add(text)
        try:
            await self.gate.wait()
        finally:
            self.waiting.discard(text)
        message = Message(role="assistant", text="Done.")
        return ModelReply(message=message, stop_reason="end_turn", usage=Usage(), model=request.model)

    async def close(self) -> None:
        pass


@define
class Expected:
    """What must become of each message, by place: at most one runs, the others wait."""

    running: dict[int, str] = field(factory=dict)
    waiting: dict[int, list[str]] = field(factory=lambda: {0: [], 1: []})
    outcome: dict[str, str] = field(factory=dict)

    def send(self, place: int, text: str) -> None:
        if place in self.running:
            self.waiting[place].append(text)
        else:
            self.running[place] = text

    def stop(self, place: int) -> None:
        if place in self.running:
            self.outcome[self.running.pop(place)] = "abandoned"
        for text in self.waiting[place]:
            self.outcome[text] = "dropped"
        self.waiting[place] = []

    def finish(self) -> None:
        for place, waiting in self.waiting.items():
            for text in (*filter(None, [self.running.pop(place, None)]), *waiting):
                self.outcome[text] = "success"
            self.waiting[place] = []

    def end(self, outcome: str) -> None:
        """The program ends: what runs has this outcome, the first of what waits runs next."""
        for place, waiting in self.waiting.items():
            if place in self.running:
                self.outcome[self.running.pop(place)] = outcome
            if waiting:
                self.running[place] = waiting.pop(0)


@define
class Bench:
    """The real thing over one home, opened again at every restart."""

    home: Home
    clock: FakeClock = field(factory=FakeClock)
    expected: Expected = field(factory=Expected)
    sent: list[tuple[str, str, int]] = field(factory=list)
    numbers: Any = field(factory=lambda: itertools.count(1))

    async def run(self, operations: list[tuple[str, int]]) -> None:
        todo = list(operations)
        while True:
            model = Gated()
            async with Agent.open(self.home, clock=self.clock) as opened:
                agent = evolve(opened, services=evolve(opened.services, provider=model))
                messenger = FakeMessenger(self.clock)
                sessions = Sessions(agent, {"fake": messenger}, lambda *_told: None)
                await self._pair(agent)
                await sessions.start()
                how, put_back = await self._session(todo, sessions, messenger, model)
                await sessions.stop()
                if how == "":
                    await self._check(agent)
                    return
            put_back()

    async def _session(
        self, todo: list[tuple[str, int]], sessions: Sessions, messenger: FakeMessenger, model: Gated
    ) -> tuple[str, Callable[[], None]]:
        """Do what is to be done until the program ends; return how it does and what the disk is set back to."""
        reception = sessions.reception("fake")
        await self._settled(model)
        while todo:
            what, number = todo.pop(0)
            if what == "send":
                await self._send(reception, messenger, number)
            elif what == "again" and self.sent:
                text, key, place = self.sent[number % len(self.sent)]
                await reception.receive(messenger.incoming(text, key=key, place=str(place)))
            elif what == "stop":
                await reception.receive(
                    messenger.incoming("/stop", key=f"stop {next(self.numbers)}", place=str(number))
                )
                self.expected.stop(number)
                channel = messenger.channel("fake:1", str(number))
                await until(lambda: channel.shown)  # noqa: B023 - awaited here
                channel.shown.clear()
            elif what == "finish":
                await self._finish(sessions, model)
            elif what == "crash":
                put_back = self._kept()
                self.expected.end("interrupted")
                return "crash", put_back
            elif what == "restart":
                self.expected.end("abandoned")
                return "restart", lambda: None
            await self._settled(model)
        await self._finish(sessions, model)
        return "", lambda: None

    async def _send(self, reception: Any, messenger: FakeMessenger, place: int) -> None:
        number = next(self.numbers)
        text, key = f"message {number}", f"{number * 7919 % 1000}"
        self.sent.append((text, key, place))
        await reception.receive(messenger.incoming(text, key=key, place=str(place)))
        self.expected.send(place, text)

    async def _settled(self, model: Gated) -> None:
        """Wait until every turn that should run does: until its model is asked."""
        await until(lambda: len(model.waiting) == len(self.expected.running))

    async def _finish(self, sessions: Sessions, model: Gated) -> None:
        model.gate.set()
        await until(lambda: not sessions.busy)
        model.gate.clear()
        self.expected.finish()

    async def _pair(self, agent: Agent) -> None:
        pairing = Pairing(agent.log, self.clock)
        if not await pairing.is_paired("fake", "fake:1"):
            code, _ = await pairing.offer("fake", "cli:me")
            assert await pairing.try_code("fake", "fake:1", code, "")

    def _kept(self) -> Callable[[], None]:
        kept = self.home.root.with_name("kept")
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(self.home.root, kept)

        def put_back() -> None:
            shutil.rmtree(self.home.root)
            shutil.copytree(kept, self.home.root)

        return put_back

    async def _check(self, agent: Agent) -> None:
        events = [event for _, event in await agent.log.since(0, limit=10_000)]
        started = [event.turn.text for event in events if isinstance(event, TurnStarted)]
        closed = {
            event.trace.messages[0].text: event.trace.outcome for event in events if isinstance(event, TraceClosed)
        }
        expected = self.expected.outcome
        assert closed == {text: outcome for text, outcome in expected.items() if outcome != "dropped"}
        assert sorted(started) == sorted(closed), "begun twice, or never closed"
        for place in (0, 1):
            mine = [text for text, _, at in self.sent if at == place and text in closed]
            assert [text for text in started if text in mine] == mine, "out of order"
        assert await agent.log.scan("inbox") == []
        assert await agent.log.scan("turn") == []
        assert (await agent.log.verify()).ok


@settings(max_examples=25)
@given(OPERATIONS)
def test_every_message_is_acted_on_once_or_told_why_not(operations: list[tuple[str, int]]) -> None:
    """Against a model of one running and some waiting messages in each of two places."""
    own = recorder.this_process
    recorder.this_process = lambda: "another-boot:1:1"
    try:
        with tempfile.TemporaryDirectory() as folder:
            home = Home.at(Path(folder) / "home")
            home.create()
            asyncio.run(Bench(home).run(operations))
    finally:
        recorder.this_process = own
