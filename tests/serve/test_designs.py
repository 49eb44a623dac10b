"""Whoever serves goes on with designs: after answers given elsewhere, after what passes; nothing is told twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, field, frozen
from designing import ME, Designer, answering, configure, designing, known_report, request
from dying import desk_of
from waiting_clock import WaitingClock

from myclaw_core.agent import Agent
from myclaw_core.errors import StoreError, UnavailableError
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import NeuronBorn, SynthesisEnded
from myclaw_core.neurons.admission import Admission
from myclaw_core.runtime.model import ModelReply, ModelRequest
from myclaw_core.runtime.quiet import QuietChannel
from myclaw_core.serve.designs import LOOK_S, PAUSE, keep_designing
from myclaw_core.synthesis import store, tests_stage
from myclaw_core.synthesis.lock import designing as holding_the_lock
from myclaw_core.synthesis.pipeline import Synthesizer
from myclaw_core.synthesis.store import SYNTHESIS_KIND
from myclaw_core.synthesis.types import Synthesis
from myclaw_core.testing import FakeClock, RecordingChannel
from myclaw_core.types.text import Text


@frozen(kw_only=True)
class Served:
    """An agent that is served, with its clock and the channel on which its person is told news."""

    agent: Agent
    clock: WaitingClock
    channel: RecordingChannel

    async def look(self) -> None:
        """Let the service look once more."""
        await self.clock.pass_time(seconds=LOOK_S)

    async def one(self) -> Synthesis:
        """Return the design."""
        (found,) = await store.standing(self.agent.log)
        return found


@frozen
class Away(Designer):
    """A model that cannot be had until it is back.

    Attributes:
        back: Set once it can be had.
    """

    back: list[bool] = field(factory=list)

    async def complete(self, request: ModelRequest, on_text: Any) -> ModelReply:
        """Answer where it is back."""
        reply = await super().complete(request, on_text)
        if not self.back:
            raise UnavailableError("no network")
        return reply


class Broken(RecordingChannel):
    """A channel on which nothing can be told: nobody else is kept from it."""

    def notice(self, text: Any) -> None:
        """Fail."""
        raise OSError("gone")


Serve = Callable[..., Any]


@pytest.fixture
def serve(tmp_path: Path, birth_report: bytes, monkeypatch: pytest.MonkeyPatch) -> Serve:
    """Serve the designs of a home."""
    monkeypatch.setattr(tests_stage, "run_birth_tests", known_report(birth_report))

    @asynccontextmanager
    async def served(model: Designer | None = None) -> AsyncIterator[Served]:
        clock = WaitingClock()
        async with Agent.open(configure(tmp_path / "home"), clock=clock) as opened:
            agent, channel = designing(opened, model), RecordingChannel(clock)

            async def channels() -> list[tuple[str, RecordingChannel]]:
                return [("test:broken", Broken(clock)), (ME, channel)]

            task = asyncio.ensure_future(keep_designing(agent, channels))
            try:
                await clock.asleep()
                yield Served(agent=agent, clock=clock, channel=channel)
                assert not task.done()
            finally:
                task.cancel()
                await asyncio.wait({task})

    return served


async def asked(served: Served) -> Synthesis:
    """Design up to the question."""
    found = await Synthesizer(served.agent, QuietChannel(), None).synthesize(request(), ME)
    assert found.stage == "approval"
    return found


async def answered(served: Served, what: str) -> None:
    """Answer the question in another process."""
    clock = FakeClock(served.clock.now())
    for _ in range(10_000):
        clock.new_id()
    async with Agent.open(served.agent.home, clock=clock) as other:
        await desk_of(other, answering(clock, what)).handle("/pending")


async def events_of(log: EventLog, kind: type) -> list[Any]:
    return [event for _, event in await log.since(0, 10_000) if isinstance(event, kind)]


async def test_a_yes_that_was_given_elsewhere_ends_the_design_and_is_told_once(serve: Serve) -> None:
    async with serve() as served:
        await asked(served)
        await served.look()
        assert served.channel.notices == []
        await answered(served, "yes")
        await served.look()
        assert (await served.one()).stage == "ended"
        assert [line.partition(":")[0] for line in served.channel.notices] == ["born"]
        await served.clock.pass_time(hours=1)
        assert len(served.channel.notices) == 1
        assert len(await events_of(served.agent.log, NeuronBorn)) == 1
        assert len(await events_of(served.agent.log, SynthesisEnded)) == 1


async def test_a_yes_that_is_followed_at_this_moment_is_no_failure(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the yes and its end nothing is decided about the design."""
    async with serve() as served:
        await asked(served)
        plain = Admission._require_clean

        def slowly(self: Admission, draft: Any) -> None:
            looked = asyncio.run_coroutine_threadsafe(served.look(), loop)
            looked.result(60)
            plain(self, draft)

        loop = asyncio.get_running_loop()
        monkeypatch.setattr(Admission, "_require_clean", slowly)
        await desk_of(served.agent, answering(FakeClock(), "yes")).handle("/pending")
        await served.look()
        result = (await served.one()).result
        assert result is not None
        assert result.outcome == "born"


async def test_after_a_revision_a_new_draft_is_asked_about(serve: Serve) -> None:
    async with serve() as served:
        before = await asked(served)
        await answered(served, "revise")
        await served.look()
        after = await served.one()
        assert (after.stage, after.retries) == ("approval", 1)
        assert after.digest != before.digest
        assert [each.sealed.args["digest"] for each in await served.agent.services.gateway.left()] == [after.digest]
        assert served.channel.notices == []


async def test_where_no_model_can_be_had_it_is_tried_again_after_a_quarter_of_an_hour(serve: Serve) -> None:
    model = Away()
    async with serve(model) as served:
        await store.request(served.agent.log, served.clock, request(), ME)
        await served.look()
        tries = len(model.calls)
        assert tries > 0
        await served.clock.pass_time(seconds=PAUSE.total_seconds() - 2 * LOOK_S)
        assert len(model.calls) == tries
        model.back.append(True)
        await served.clock.pass_time(seconds=3 * LOOK_S)
        assert (await served.one()).stage == "approval"
        assert served.channel.notices == []


async def test_while_nothing_changes_no_record_is_read(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a design rested and was ended by another process meanwhile."""
    read: list[str] = []
    plain = EventLog.scan

    async def scan(self: EventLog, kind: str, prefix: str = "") -> Any:
        read.append(kind)
        return await plain(self, kind, prefix)

    async with serve(Away()) as served:
        await store.request(served.agent.log, served.clock, request(), ME)
        await served.look()
        found = await served.one()
        async with served.agent.log.transaction() as tx:
            await store.advance(tx, evolve(found, stage="ended"), Text("not made"))
        await served.clock.pass_time(minutes=16)
        monkeypatch.setattr(EventLog, "scan", scan)
        await served.clock.pass_time(hours=1)
    assert SYNTHESIS_KIND not in read


async def test_a_record_that_cannot_be_read_keeps_no_other_design_from_going_on(serve: Serve) -> None:
    async with serve() as served:
        async with served.agent.log.transaction() as tx:
            await tx.put(SYNTHESIS_KIND, "00000000-0000-4000-8000-0000000000ff", b"{not json")
        await asked(served)
        await answered(served, "no")
        await served.look()
        assert (await served.one()).stage == "ended"
        assert [line.partition(":")[0] for line in served.channel.notices] == ["not made"]


async def test_an_error_of_the_store_is_no_end(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    async with serve() as served:
        await asked(served)
        await answered(served, "yes")

        async def broken(*_args: Any, **_options: Any) -> Any:
            raise StoreError("the disk is full")

        with monkeypatch.context() as patched:
            patched.setattr(EventLog, "scan", broken)
            await served.look()
            patched.setattr(EventLog, "last", broken)
            await served.look()
        await served.look()
        assert (await served.one()).stage == "ended"


async def test_while_another_process_designs_it_waits_and_goes_on_soon_after(serve: Serve) -> None:
    async with serve() as served:
        await asked(served)
        with holding_the_lock(served.agent.home.state):
            await answered(served, "yes")
            await served.look()
            assert (await served.one()).stage == "approval"
        await served.clock.pass_time(minutes=1)
        assert (await served.one()).stage == "ended"
        assert len(served.channel.notices) == 1
