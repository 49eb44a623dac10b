"""A question is shown before its time runs out, whatever the channel does with the questions before it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from gateways import Desk, ShowingChannel

from myclaw_core.approval.cards import Cards
from myclaw_core.errors import MyclawError
from myclaw_core.testing import FakeClock


class EndsLate(ShowingChannel):
    """Works on after its last card was closed, or was withdrawn, until it is let go."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(clock)
        self.ends = asyncio.Event()
        self.let_go = asyncio.Event()

    async def ask(self, cards: Cards, submit: Any) -> None:
        """Show them."""
        try:
            await super().ask(cards, submit)
        finally:
            self.ends.set()
            await self.let_go.wait()


class Fails(ShowingChannel):
    """Raises instead of asking."""

    def __init__(self, clock: FakeClock, fault: BaseException) -> None:
        super().__init__(clock)
        self.fault = fault

    async def ask(self, cards: Cards, submit: Any) -> None:
        """Raise."""
        raise self.fault


async def answered(desk: Desk, channel: EndsLate, first: asyncio.Task[Any], request_id: Any) -> None:
    desk.clock.advance(seconds=4)
    assert await desk.press(request_id) is None


async def stopped(desk: Desk, channel: EndsLate, first: asyncio.Task[Any], request_id: Any) -> None:
    first.cancel()


@pytest.mark.parametrize("ended_by", [answered, stopped])
async def test_a_question_that_comes_while_a_display_ends_is_shown_afterwards(
    desk: Desk, turn: Any, kit: Any, ended_by: Callable[..., Any]
) -> None:
    """It neither counts as no at once, nor does it end with the turn whose display that was."""
    channel = EndsLate(desk.clock)
    first, (request_id,) = await desk.put(channel, turn, kit.asking(kit.planned(turn)))
    await ended_by(desk, channel, first, request_id)
    await channel.ends.wait()
    putting = asyncio.ensure_future(desk.put(channel, kit.turn(desk.clock), kit.asking(kit.planned(turn, name="b.md"))))
    channel.let_go.set()
    second, (other_id,) = await putting
    desk.clock.advance(seconds=4)
    assert await desk.press(other_id) is None
    assert [approval.verdict for approval in await second] == ["granted"]
    assert channel.rounds == 2
    await asyncio.wait({first})


async def test_a_display_that_never_ends_keeps_nobody_waiting(desk: Desk, turn: Any, kit: Any) -> None:
    """A turn that was stopped ends, and the next question gets a display of its own."""

    class Deaf(ShowingChannel):
        async def ask(self, cards: Cards, submit: Any) -> None:
            task = asyncio.ensure_future(super().ask(cards, submit))
            while not over.is_set():
                try:
                    await over.wait()
                except asyncio.CancelledError:
                    continue
            task.cancel()

    over = asyncio.Event()
    channel = Deaf(desk.clock)
    first, _ids = await desk.put(channel, turn, kit.asking(kit.planned(turn)))
    first.cancel()
    await asyncio.wait({first})
    second, (other_id,) = await desk.put(channel, turn, kit.asking(kit.planned(turn, name="b.md")))
    desk.clock.advance(seconds=4)
    assert await desk.press(other_id) is None
    over.set()
    assert [approval.verdict for approval in await second] == ["granted"]
    assert first.cancelled()


@pytest.mark.parametrize(
    "fault", [asyncio.CancelledError(), SystemExit(1), TimeoutError("the network"), ZeroDivisionError()], ids=repr
)
async def test_a_channel_that_fails_is_told_of_and_neither_stops_the_turn_nor_counts_as_no_answer(
    desk: Desk, turn: Any, kit: Any, fault: BaseException
) -> None:
    channel = Fails(desk.clock, fault)
    with pytest.raises(MyclawError, match=f"the channel test .*{type(fault).__name__}"):
        await desk.gateway.ask([kit.asking(kit.planned(turn))], turn, channel)
    assert channel.notices == []
