"""What waits is sent as it was judged or not at all, whatever becomes of its record and however delivery behaves."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from typing import Any

import pytest

from myclaw_core.agent import Agent
from myclaw_core.outbox.records import unreadable

GUARD_S = 20
CHANGED = "not sent: send to anna: its record was changed by something else while it was held"


async def rewrite(agent: Agent, change: Callable[[bytes], bytes]) -> None:
    """Change what the database keeps of the messages that are held."""

    def run() -> None:
        database = sqlite3.connect(agent.home.state / "events.db")
        for key, raw in database.execute("SELECT key, value FROM records WHERE kind = 'outbox'").fetchall():
            assert change(raw) != raw
            database.execute("UPDATE records SET value = ? WHERE kind = 'outbox' AND key = ?", (change(raw), key))
        database.commit()
        database.close()

    await asyncio.to_thread(run)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda raw: raw.replace(b"Hello", b"Pay up"), id="another text"),
        pytest.param(lambda raw: raw.replace(b'"anna"', b'"eve"'), id="another recipient"),
        pytest.param(lambda raw: raw.replace(b'"send"', b'"sent"'), id="another tool"),
        pytest.param(lambda raw: raw[:-20], id="cut"),
    ],
)
async def test_a_message_whose_record_was_changed_is_not_sent_and_keeps_none_from_being_sent(
    opened: Any, make_desk: Any, post: Any, channel: Any, clock: Any, states: Any, change: Callable[[bytes], bytes]
) -> None:
    async with opened("Hello", "Good morning") as agent:
        desk = make_desk(agent, channel)
        await desk.handle("Write")
        await rewrite(agent, change)
        await clock.pass_time(seconds=121, sleepers=0)
        await agent.services.outbox.wait()
        assert (post.letters, channel.notices[-1]) == ([], CHANGED)
        assert await states(agent) == ["held", "failed"]
        await desk.handle("Write again")
        await clock.pass_time(seconds=121, sleepers=0)
        await agent.services.outbox.wait()
        assert [text for text, _ in post.letters] == ["Good morning"]


async def test_a_damaged_record_is_told_at_the_start_kept_and_blocks_nothing(
    opened: Any, make_desk: Any, post: Any, channel: Any, clock: Any
) -> None:
    async with opened("Hello") as agent:
        await make_desk(agent, channel).handle("Write")
        await rewrite(agent, lambda raw: b"{")
    async with opened("Good morning") as agent:
        assert any("outbox record" in str(notice) for notice in agent.notices)
        assert len(await unreadable(agent.log)) == 1
        assert await agent.services.outbox.messages() == []
        await make_desk(agent, channel).handle("Write again")
        await clock.pass_time(seconds=121, sleepers=0)
        await agent.services.outbox.wait()
    assert [text for text, _ in post.letters] == ["Good morning"]


async def cancels_itself() -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(0)


async def is_cancelled() -> None:
    raise asyncio.CancelledError


async def ends_the_program() -> None:
    raise SystemExit(3)


@pytest.mark.parametrize("answer", [cancels_itself, is_cancelled, ends_the_program])
async def test_whatever_a_delivery_raises_its_end_is_recorded_and_told(
    opened: Any, make_desk: Any, post: Any, channel: Any, clock: Any, states: Any, answer: Any
) -> None:
    post.answer = answer
    async with opened("Hello") as agent:
        await make_desk(agent, channel).handle("Write")
        await clock.pass_time(seconds=121, sleepers=0)
        await agent.services.outbox.wait()
        assert await states(agent) == ["held", "sending", "unknown"]
    assert "nobody knows whether it was sent" in channel.notices[-1]


async def test_a_delivery_that_swallows_its_cancellation_holds_up_nothing(
    opened: Any, make_desk: Any, post: Any, channel: Any, clock: Any, states: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its time is over at once here; the program ends although it goes on."""
    leave = asyncio.Event()

    async def deaf() -> None:
        while not leave.is_set():
            try:
                await leave.wait()
            except asyncio.CancelledError:
                continue

    post.answer = deaf
    async with asyncio.timeout(GUARD_S):
        async with opened("Hello") as agent:
            await make_desk(agent, channel).handle("Write")
            monkeypatch.setattr(clock, "timeout", lambda _seconds: asyncio.timeout(0))
            await clock.pass_time(seconds=121, sleepers=0)
            await agent.services.outbox.wait()
            assert await states(agent) == ["held", "sending", "unknown"]
    leave.set()
    assert "took longer than" in channel.notices[-1]
