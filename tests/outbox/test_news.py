"""Who sent something is told what waits, and after a restart what was not sent."""

from __future__ import annotations

from typing import Any

from myclaw_core.outbox.news import tell_unsent
from myclaw_core.testing import RecordingChannel


async def test_status_lists_what_is_held_with_the_time_that_is_left(
    opened: Any, make_desk: Any, channel: Any, clock: Any
) -> None:
    async with opened("Hello") as agent:
        desk = make_desk(agent, channel)
        await desk.handle("Write")
        await clock.pass_time(seconds=20, sleepers=1)
        await desk.handle("/status")
        assert "- held: `send to anna`, sent in 100 s; `/undo` recalls it" in channel.shown[-1]
        await desk.recall(channel.displays[-1][0].id)
        await desk.handle("/status")
        assert "held:" not in channel.shown[-1]


async def test_a_sender_who_could_not_be_reached_is_told_at_the_next_start_and_once(
    opened: Any, make_desk: Any, channel: Any, clock: Any
) -> None:
    async with opened("Hello") as agent:
        await make_desk(agent, channel).handle("Write")
    reached = RecordingChannel(clock)
    asked: list[tuple[str, str, str]] = []

    async def nobody(*where: str) -> None:
        asked.append(where)

    async def broken(*_where: str) -> Any:
        raise OSError("no network")

    async def somebody(*_where: str) -> RecordingChannel:
        return reached

    async with opened() as agent:
        outbox = agent.services.outbox
        for find in (nobody, broken, somebody, somebody):
            await tell_unsent(outbox, find)
        assert await outbox.owed() == []
        assert [message.state for message in await outbox.messages()] == ["dropped"]
    assert asked == [("test", "test:me", "")]
    assert reached.notices == ["not sent: send to anna: the program was stopped during its hold"]


async def test_what_was_sent_is_owed_to_nobody(opened: Any, make_desk: Any, channel: Any, clock: Any) -> None:
    async with opened("Hello") as agent:
        await make_desk(agent, channel).handle("Write")
        await clock.pass_time(seconds=120, sleepers=0)
        await agent.services.outbox.wait()
        assert await agent.services.outbox.owed() == []
