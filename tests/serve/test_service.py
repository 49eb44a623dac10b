"""The parts of the daemon side by side: what one of them does is no matter of the others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest
from messengers import FakeMessenger
from waiting_clock import WaitingClock

from myclaw_core.agent import Agent
from myclaw_core.errors import MyclawError
from myclaw_core.messages import N_
from myclaw_core.outbox.records import put
from myclaw_core.outbox.types import OutboxMessage
from myclaw_core.paths import Home
from myclaw_core.runtime.messenger import Health, Reception
from myclaw_core.serve import service
from myclaw_core.serve.health import look
from myclaw_core.serve.lock import sole_instance
from myclaw_core.serve.service import Service
from myclaw_core.sessions.pairing import Pairing
from myclaw_core.testing import says
from myclaw_core.types.text import Text

Serve = Callable[..., AbstractAsyncContextManager[tuple[Agent, list[str]]]]


class Well(FakeMessenger):
    """A messenger that says that it is well once it is served."""

    async def serve(self, reception: Reception) -> None:
        reception.health(Health(state="ok"))
        await super().serve(reception)


class Broken(FakeMessenger):
    """A messenger that breaks whenever it is started."""

    starts = 0

    async def serve(self, reception: Reception) -> None:
        self.starts += 1
        raise ZeroDivisionError


class Garbled(FakeMessenger):
    """A messenger that says of itself, and of why it ends, what no file can hold."""

    starts = 0

    async def serve(self, reception: Reception) -> None:
        self.starts += 1
        reception.health(Health(state="trouble", detail=N_("{service} says no", service="\udcff")))
        raise MyclawError(N_("{service} is gone", service="\ud83d"))


class Speechless(FakeMessenger):
    """A messenger that cannot even say what it lacks."""

    def missing(self) -> Text | None:
        raise ZeroDivisionError


@pytest.fixture
def clock() -> WaitingClock:
    """A clock on which sleepers wait."""
    return WaitingClock()


@pytest.fixture
def serve(open_agent: Callable[..., AbstractAsyncContextManager[Agent]], home: Home, clock: WaitingClock) -> Serve:
    """Run messengers inside a block that begins once the service is ready."""

    @asynccontextmanager
    async def run(*messengers: FakeMessenger) -> AsyncIterator[tuple[Agent, list[str]]]:
        lines: list[str] = []
        ready, stop = asyncio.Event(), asyncio.Event()

        def tell(line: Text) -> None:
            lines.append(str(line))
            if lines[-1].startswith("ready:"):
                ready.set()

        async with open_agent([says("Hello.")] * 3) as agent:
            with sole_instance(home, clock) as owner:
                named = {each.name: each for each in messengers}
                task = asyncio.create_task(Service(agent=agent, messengers=named, owner=owner, tell=tell).run(stop))
                await asyncio.wait({task, asyncio.create_task(ready.wait())}, return_when=asyncio.FIRST_COMPLETED)
                yield agent, lines
                stop.set()
                await task

    return run


def states(home: Home, clock: WaitingClock) -> dict[str, str]:
    state = look(home, clock.now()).state
    assert state is not None
    return {each.name: each.health.state for each in state.messengers}


async def test_a_broken_messenger_is_started_again_while_another_one_answers(
    serve: Serve, home: Home, clock: WaitingClock
) -> None:
    broken, well = Broken(clock, "broken"), Well(clock, "well")
    async with serve(broken, well) as (agent, lines):
        await well.serving.wait()
        pairing = Pairing(agent.log, clock)
        code, _ = await pairing.offer("well", "cli:me")
        assert await pairing.try_code("well", well.me, code, "Rosa")
        assert well.reception is not None
        await well.reception.receive(well.incoming("Hi"))
        while not well.channel(well.me, "home").ended:
            clock.advance(seconds=1)
            await asyncio.sleep(0)
        while broken.starts < 3:
            clock.advance(seconds=1)
            await asyncio.sleep(0)

        assert states(home, clock) == {"broken": "trouble", "well": "ok"}
    assert "".join(well.channel(well.me, "home").texts) == "Hello."
    assert lines[:2] == ["messenger broken: runs", "messenger well: runs"]
    assert look(home, clock.now()).state is None


async def test_a_messenger_whose_words_no_file_can_hold_ends_nothing(
    serve: Serve, home: Home, clock: WaitingClock
) -> None:
    garbled, well = Garbled(clock, "garbled"), Well(clock, "well")
    async with serve(garbled, well):
        await well.serving.wait()
        while garbled.starts < 3:
            clock.advance(seconds=1)
            await asyncio.sleep(0)

        assert states(home, clock) == {"garbled": "trouble", "well": "ok"}


async def test_what_lacks_something_is_told_and_not_run(serve: Serve, home: Home, clock: WaitingClock) -> None:
    lacking = FakeMessenger(clock, "lacking", missing=N_("no token: run 'myclaw setup'"))
    speechless, well = Speechless(clock, "speechless"), Well(clock, "well")
    async with serve(lacking, speechless, well) as (_agent, lines):
        await well.serving.wait()

        assert not lacking.serving.is_set()
        assert not speechless.serving.is_set()
        assert states(home, clock) == {"well": "ok"}
    assert "messenger lacking: does not run: no token: run 'myclaw setup'" in lines
    assert "messenger speechless: does not run: raised ZeroDivisionError" in lines


async def test_a_part_that_everything_rests_on_ends_it_with_one_line(
    serve: Serve, clock: WaitingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that the service manager starts it again."""

    async def breaks(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(service, "run_jobs", breaks)
    with pytest.raises(MyclawError, match="a part of the service broke, so that it ends: jobs: ZeroDivisionError"):
        async with serve(Well(clock, "well")):
            pass


async def pair(agent: Agent, clock: WaitingClock, messenger: FakeMessenger) -> None:
    pairing = Pairing(agent.log, clock)
    code, _ = await pairing.offer(messenger.name, "cli:me")
    assert await pairing.try_code(messenger.name, messenger.me, code, "Rosa")


async def test_who_sent_what_a_crash_gave_up_is_told_once(
    serve: Serve, open_agent: Callable[..., AbstractAsyncContextManager[Agent]], clock: WaitingClock
) -> None:
    well, now = Well(clock, "well"), clock.now()
    message = OutboxMessage(
        id=clock.new_id(),
        key=clock.new_id(),
        tool="send",
        args={"to": "anna"},
        targets=("test:anna",),
        sender=well.me,
        channel=well.name,
        trace_id=clock.new_id(),
        step_index=0,
        held_at=now,
        due_at=now,
        owner="another-boot:1:1",
    )
    async with open_agent() as agent:
        await pair(agent, clock, well)
        async with agent.log.transaction() as tx:
            await put(tx, message)
    for _ in range(2):
        async with serve(well):
            await well.serving.wait()
    assert well.channel(well.me, "").notices == ["not sent: send to anna: the program ended during its hold"]
