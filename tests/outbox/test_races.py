"""Whoever reaches for a message at the same moment: exactly one gets it, in one process and in several."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from myclaw_core.errors import StoreError
from myclaw_core.messages import N_
from myclaw_core.sessions.pairing import Pairing

DRIVER = Path(__file__).with_name("racing.py")


def test_of_processes_that_send_and_recall_at_once_exactly_one_wins(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(DRIVER), str(tmp_path), "10"], capture_output=True, text=True, timeout=120, check=True
    )
    rounds = [sorted(line.split()) for line in done.stdout.splitlines()]
    assert len(rounds) == 10
    for got in rounds:
        # Recalling what is recalled already succeeds again; either it went out, or nobody sends it.
        assert got in (
            ["nothing", "nothing", "nothing", "sending"],
            ["nothing", "nothing", "recalled", "recalled"],
        )


@pytest.mark.parametrize("head_start", range(12))
async def test_a_recall_at_the_moment_of_delivery_either_wins_or_comes_too_late(
    opened: Any, make_desk: Any, post: Any, channel: Any, clock: Any, states: Any, head_start: int
) -> None:
    """The recall begins so many steps of the loop after the hold is over."""

    async def recall() -> str:
        for _ in range(head_start):
            await asyncio.sleep(0)
        return str(await agent.services.outbox.recall(held.id, "test:me"))

    async with opened("Hello") as agent:
        await make_desk(agent, channel).handle("Write")
        (held,) = await agent.services.outbox.held("test:me")
        _, told = await asyncio.gather(clock.pass_time(seconds=120, sleepers=0), recall())
        await agent.services.outbox.wait()
        went = await states(agent)
    if told.startswith("recalled"):
        assert (went, post.letters) == (["held", "recalled"], [])
    else:
        assert "cannot be taken back" in told
        assert went == ["held", "sending", "sent"]
        assert len(post.letters) == 1


async def test_another_process_recalls_and_the_one_that_holds_it_sends_nothing(
    opened: Any, make_desk: Any, post: Any, channel: Any, clock: Any
) -> None:
    async with opened("Hello") as agent:
        await make_desk(agent, channel).handle("Write")
        async with opened() as other:
            (held,) = await other.services.outbox.held("test:me")
            assert held.due_s == clock.monotonic() + 120
            assert other.services.outbox.waiting == []
            await other.services.outbox.recall(held.id, "test:me")
        await clock.pass_time(seconds=120, sleepers=0)
        await agent.services.outbox.wait()
    assert post.letters == []
    assert channel.notices[-1] == "recalled: send to anna; nothing was sent"
    assert channel.displays[-1] == []


async def test_a_process_that_starts_leaves_alone_what_another_holds(
    opened: Any, make_desk: Any, post: Any, channel: Any, clock: Any
) -> None:
    async with opened("Hello") as agent:
        await make_desk(agent, channel).handle("Write")
        async with opened() as other:
            assert other.unsent == []
        await clock.pass_time(seconds=120, sleepers=0)
        await agent.services.outbox.wait()
    assert len(post.letters) == 1


async def test_a_turn_that_is_stopped_after_its_intent_keeps_the_message_held_and_shown(
    opened: Any, make_desk: Any, post: Any, channel: Any, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cancellation comes with the commit: the message is on record, so that it is shown and can be recalled."""
    async with opened("Hello") as agent:
        plain = agent.services.outbox.put

        async def put(*args: Any, **named: Any) -> None:
            await plain(*args, **named)
            turn.cancel()

        monkeypatch.setattr(agent.services.outbox, "put", put)
        turn = asyncio.ensure_future(make_desk(agent, channel).handle("Write"))
        with pytest.raises(asyncio.CancelledError):
            await turn
        held = await agent.services.outbox.held("test:me")
        assert [each.id for each in held] == [each.id for each in agent.services.outbox.waiting]
        assert channel.displays[-1:] in ([held], [])
        await clock.pass_time(seconds=120, sleepers=0)
        await agent.services.outbox.wait()
        assert len(post.letters) == len(held)


async def test_a_message_whose_record_fails_at_the_last_moment_is_held_nowhere(
    opened: Any, make_desk: Any, channel: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither is it shown, nor does anything of it stay in memory."""
    async with opened("Hello") as agent:
        outbox = agent.services.outbox
        plain = outbox.put

        async def put(*args: Any, **named: Any) -> None:
            await plain(*args, **named)
            raise StoreError(N_("the disk is full"))

        monkeypatch.setattr(outbox, "put", put)
        trace = await make_desk(agent, channel).handle("Write")
        assert trace.outcome == "failed"
        assert (await outbox.held("test:me"), await outbox.recall_all()) == ([], [])


async def test_what_ended_long_ago_is_forgotten_without_a_restart(
    opened: Any, make_desk: Any, channel: Any, clock: Any
) -> None:
    """A daemon runs for months."""
    async with opened("One", "Two") as agent:
        outbox, desk = agent.services.outbox, make_desk(agent, channel)
        await desk.handle("Write")
        (held,) = outbox.waiting
        await desk.recall(held.id)
        clock.advance(days=31)
        assert [message.id for message in await outbox.messages()] == [held.id]
        await desk.handle("Write again")
        assert held.id not in [message.id for message in await outbox.messages()]


async def test_what_somebody_had_sent_who_is_taken_out_during_its_hold_is_not_sent(
    opened: Any, make_desk: Any, post: Any, channel: Any, clock: Any
) -> None:
    """A telephone may have been stolen."""
    me = "test:me"
    async with opened("Hello") as agent:
        pairing = Pairing(agent.log, clock)
        code, _ = await pairing.offer("test", "cli:me")
        assert await pairing.try_code("test", me, code, "Rosa")
        await make_desk(agent, channel).handle("Write")
        await pairing.end(me)
        await clock.pass_time(seconds=120, sleepers=0)
        await agent.services.outbox.wait()
    assert post.letters == []
    assert channel.notices[-1] == "not sent: send to anna: whoever had it sent is not served any more"
