"""Answers of a messenger: a question that ended is asked again once, as a new turn, by whom it was put to."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from messengers import FakeMessenger

from myclaw_core.approval.types import Reply
from myclaw_core.events.types import TurnStarted
from myclaw_core.sessions.pairing import Pairing
from myclaw_core.testing import FakeClock, calls, says

WRITE = calls(("fs_write", {"path": "a", "content": "a"}))


async def cut_off(open_sessions: Any, crash: Any) -> UUID:
    """Let the program end while it asks, and return the question."""
    async with open_sessions([WRITE]) as bench:
        bench.messenger.gate.clear()
        await bench.send("Write a", place="room")
        await bench.asking("room")
        (request,) = await bench.agent.services.gateway.pending()
        put_back = crash()
    put_back()
    bench.messenger.gate.set()
    return request.id


async def test_a_question_of_before_the_restart_is_asked_again_once(
    open_sessions: Any, crash: Any, home: Any, clock: FakeClock
) -> None:
    """Whoever presses twice, or is delivered twice, runs it once; it goes to the conversation where that is pressed."""
    request_id = await cut_off(open_sessions, crash)
    async with open_sessions([WRITE, says("Done.")], paired=False) as bench:
        late = await bench.reception.submit(Reply(request_id=request_id, granted=True, by="fake:1"))
        assert "not open any more" in str(late)
        assert await bench.reception.again("fake:1", request_id, "room") is None
        assert "asked again already" in str(await bench.reception.again("fake:1", request_id, "room"))
        await bench.quiet()
        started = [event.turn.text for event in await bench.events(TurnStarted)]
    assert started == ["Write a", "Write a"]
    assert (home.workspace / "a").exists()
    assert len(bench.ended("room")) == 2


async def test_somebody_else_cannot_have_it_asked_again(open_sessions: Any, crash: Any, clock: FakeClock) -> None:
    request_id = await cut_off(open_sessions, crash)
    async with open_sessions(paired=False) as bench:
        pairing = Pairing(bench.agent.log, clock)
        code, _ = await pairing.offer("fake", "cli:me")
        assert await pairing.try_code("fake", "fake:2", code, "Emil")
        assert "not known any more" in str(await bench.reception.again("fake:2", request_id, "room"))
        assert "not known any more" in str(await bench.reception.again("fake:1", UUID(int=7), "room"))
        assert bench.sessions.busy is False


async def test_an_answer_in_the_name_of_another_sender_counts_for_nothing(
    open_sessions: Any, messenger: FakeMessenger
) -> None:
    """Only whom the question was put to answers it, and only once they are served."""
    async with open_sessions([WRITE, says("Done.")]) as bench:
        bench.messenger.gate.clear()
        await bench.send("Write a")
        await bench.asking()
        (request,) = await bench.agent.services.gateway.pending()
        for by in ("fake:2", "cli:me", "other:1"):
            refused = await bench.reception.submit(Reply(request_id=request.id, granted=True, by=by))
            assert "not open any more" in str(refused)
        assert len(await bench.agent.services.gateway.pending()) == 1
        await bench.send("/stop")
        await bench.quiet()


async def test_what_is_recalled_must_be_held(open_sessions: Any) -> None:
    async with open_sessions() as bench:
        assert "waits in the outbox" in str(await bench.reception.recall("fake:1", UUID(int=7)))
