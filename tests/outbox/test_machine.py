"""Whatever happens in whatever order: nothing is sent twice, early, after a crash, or after it was recalled."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule
from myclaw_sqlite.event_store import SqliteEventStore
from waiting_clock import WaitingClock

from myclaw_core.errors import ToolFailure
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import OutboxChanged
from myclaw_core.outbox import outbox as module
from myclaw_core.outbox.outbox import Outbox, OutboxRefusedError
from myclaw_core.runtime.tool import EffectSpec, Outboxed, Tool
from myclaw_core.runtime.types import ActionStep, Turn
from myclaw_core.testing import RecordingChannel
from myclaw_core.types.effect import Effect

HOLD_S = 60
MAX_HELD = 3
ORDER = {
    "held": {"sending", "recalled", "dropped"},
    "sending": {"sent", "failed", "unknown"},
}


class Machine(RuleBasedStateMachine):
    """One database, processes that start, stop and die, and a clock."""

    messages: Bundle[UUID] = Bundle("messages")

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.runner = asyncio.Runner()
        self.clock = WaitingClock()
        self.delivered: Counter[str] = Counter()
        self.due_s: dict[UUID, float] = {}
        self.process = 0
        self.answer: BaseException | None = None
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(module, "this_process", lambda: f"process {self.process}")
        self.patch.setattr(module, "is_alive", lambda owner: owner == f"process {self.process}")
        self.run(self.start())

    def run(self, what: Any) -> Any:
        return self.runner.run(what)

    async def start(self) -> None:
        self.log = EventLog(SqliteEventStore(Path(self.folder.name) / "events.db"), b"k" * 32, self.clock)
        await self.log.open()
        self.outbox = Outbox(self.log, self.clock, {"send": self.tool()}, hold_s=HOLD_S, max_held=MAX_HELD)
        await self.outbox.recover()

    def tool(self) -> Tool:
        async def deliver(args: Any, key: str) -> None:
            self.delivered[key] += 1
            if self.answer is not None:
                raise self.answer

        effects = (EffectSpec(kind="outbound_message", arg="to"),)
        return Tool(
            name="send",
            description="",
            schema={"type": "object"},
            effects=effects,
            outbox=Outboxed(deliver=deliver),
        )

    @rule(target=messages, sender=st.sampled_from(["test:me", "test:other"]))
    def send(self, sender: str) -> Any:
        message = self.run(self._put(sender))
        return multiple() if message is None else message

    async def _put(self, sender: str) -> UUID | None:
        turn = Turn(
            id=self.clock.new_id(),
            session_id="s",
            channel="test",
            sender=sender,
            autonomy="supervised",
            text="",
            received_at=self.clock.now(),
            roots=(),
            cwd="/",
        )
        effect = Effect(
            kind="outbound_message", scope="post:anna", target="post:anna", reversibility="reversible_with_cost"
        )
        step = ActionStep(
            index=0,
            tool_name="send",
            args={},
            args_digest="",
            actor="send",
            actor_version="",
            model="",
            state="asked",
            kind="outbound_message",
            effect_class=effect.effect_class,
            effects=(effect,),
            started_at=self.clock.now(),
        )
        message = self.outbox.message({"to": "anna"}, step, turn)
        with suppress(OutboxRefusedError):
            async with self.log.transaction() as tx:
                await self.outbox.put(tx, message, RecordingChannel(self.clock))
            self.due_s[message.id] = self.clock.monotonic() + HOLD_S
            return message.id
        held = [each for each in await self.outbox.messages() if each.sender == sender and each.ended_at is None]
        assert len(held) == MAX_HELD
        return None

    @rule(message=messages, sender=st.sampled_from(["test:me", "test:other"]))
    def recall(self, message: UUID, sender: str) -> None:
        self.run(self.outbox.recall(message, sender))

    @rule(message=consumes(messages))
    def undo(self, message: UUID) -> None:
        self.run(self.outbox.take_back(message))

    @rule(
        seconds=st.sampled_from([1, 29, 30, 59, 60, 3600]), answer=st.sampled_from([None, ToolFailure("no"), OSError()])
    )
    def wait(self, seconds: int, answer: BaseException | None) -> None:
        self.answer = answer
        self.run(self._wait(seconds))

    async def _wait(self, seconds: int) -> None:
        await self.clock.pass_time(seconds=seconds, sleepers=0)
        due = [each for each in self.outbox._waiting.values() if each.due_s <= self.clock.monotonic()]
        if due:
            await asyncio.wait([each.task for each in due])

    @rule(days=st.integers(-500, 500))
    def jump(self, days: int) -> None:
        with suppress(OverflowError):
            self.clock.set(self.clock.now() + timedelta(days=days))

    @rule(orderly=st.booleans())
    def restart(self, orderly: bool) -> None:
        self.run(self._restart(orderly=orderly))

    async def _restart(self, *, orderly: bool) -> None:
        if orderly:
            await self.outbox.stop()
        else:
            for each in self.outbox._waiting.values():
                each.task.cancel()
        await self.log.close()
        self.process += 1
        await self.start()

    @invariant()
    def nothing_goes_out_twice_early_or_unrecorded(self) -> None:
        assert all(count == 1 for count in self.delivered.values())
        self.run(self._check())

    async def _check(self) -> None:
        went: dict[UUID, list[str]] = {}
        for _, event in await self.log.since(0, 100_000):
            if isinstance(event, OutboxChanged):
                went.setdefault(event.message_id, []).append(event.state)
        for message_id, states in went.items():
            assert states[0] == "held"
            assert all(after in ORDER[before] for before, after in pairwise(states))
            if "sending" in states:
                assert self.clock.monotonic() >= self.due_s[message_id]
        assert sum(self.delivered.values()) == sum("sending" in states for states in went.values())
        found = {message.id: message.state for message in await self.outbox.messages()}
        assert all(went[message_id][-1] == state for message_id, state in found.items())

    def teardown(self) -> None:
        self.run(self._end())
        self.patch.undo()
        self.runner.close()
        self.folder.cleanup()

    async def _end(self) -> None:
        await self.outbox.stop()
        await self.log.close()


TestMachine = Machine.TestCase
TestMachine.settings = settings(max_examples=25, stateful_step_count=20)
