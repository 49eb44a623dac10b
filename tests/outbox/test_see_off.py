"""A run ends once what it sent is over: its exit code tells whether all of it went out."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Any

import pytest

from myclaw_core.cli.holds import see_off
from myclaw_core.errors import ToolFailure


async def leave(agent: Any, clock: Any, code: int = 0) -> int:
    """End a run while time passes."""
    ending = asyncio.ensure_future(see_off(agent.services.outbox, clock, code))
    await clock.asleep(2)
    await clock.pass_time(seconds=120, sleepers=0)
    return await ending


async def test_a_run_that_sent_nothing_ends_at_once(opened: Any, clock: Any, capsys: pytest.CaptureFixture) -> None:
    async with opened() as agent:
        assert await see_off(agent.services.outbox, clock, 3) == 3
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("answer", "code", "ends"),
    [(None, 0, 0), (None, 1, 1), (ToolFailure("no box"), 0, 1), (OSError(), 0, 1)],
)
async def test_it_waits_and_ends_with_1_where_something_may_not_have_been_sent(
    opened: Any,
    make_desk: Any,
    post: Any,
    channel: Any,
    clock: Any,
    answer: Any,
    code: int,
    ends: int,
    capsys: pytest.CaptureFixture,
) -> None:
    def answers() -> None:
        if answer is not None:
            raise answer

    post.answer = answers
    async with opened("Hello") as agent:
        await make_desk(agent, channel).handle("Write")
        assert await leave(agent, clock, code) == ends
    assert len(post.letters) == 1
    assert capsys.readouterr().err == "myclaw: 1 message is held and sent in 120 s; Ctrl-C recalls it\n"


async def test_an_interrupt_recalls_all_that_is_held(
    opened: Any, make_desk: Any, post: Any, channel: Any, clock: Any, states: Any, capsys: pytest.CaptureFixture
) -> None:
    async with opened("One", "Two") as agent:
        desk = make_desk(agent, channel)
        await desk.handle("Write")
        await desk.handle("Write")
        ending = asyncio.ensure_future(see_off(agent.services.outbox, clock, 0))
        await clock.asleep(3)
        os.kill(os.getpid(), signal.SIGINT)
        assert await ending == 130
        assert await states(agent) == ["held", "held", "recalled", "recalled"]
    assert post.letters == []
    assert capsys.readouterr().err.count("recalled: send to anna; nothing was sent") == 2


async def test_a_run_that_was_stopped_recalls_what_it_had_sent(
    opened: Any, make_desk: Any, post: Any, channel: Any, clock: Any, states: Any
) -> None:
    async with opened("Hello") as agent:
        await make_desk(agent, channel).handle("Write")
        assert await see_off(agent.services.outbox, clock, 130) == 130
        assert await states(agent) == ["held", "recalled"]
    assert post.letters == []
