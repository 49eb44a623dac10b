"""What each sender sees on each channel: questions that come while others are open join their display."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from attrs import frozen

from myclaw_core.approval.cards import Asked, Cards
from myclaw_core.clock import Clock
from myclaw_core.errors import MyclawError
from myclaw_core.messages import N_
from myclaw_core.runtime.channel import Channel, Submit
from myclaw_core.runtime.finishing import ended_soon
from myclaw_core.runtime.received import guarded, received_error

__all__ = ["Displays"]


@frozen
class _Display:
    """What one sender sees on one channel, for as long as the channel shows it."""

    cards: Cards
    task: asyncio.Task[None]


class Displays:
    """Shows requests on channels.

    Args:
        clock: Time.
        submit: Takes the answers.
    """

    def __init__(self, clock: Clock, submit: Submit) -> None:
        self._clock = clock
        self._submit = submit
        self._displays: dict[tuple[int, str], _Display] = {}

    async def show(self, asked: Sequence[Asked], sender: str, channel: Channel) -> None:
        """Show requests together with what the sender sees already; return once all are closed.

        Raises:
            MyclawError: The channel failed while one of them was open.
        """
        key = (id(channel), sender)
        while (display := self._displays.get(key)) is not None and not _takes_more(display):
            await asyncio.wait({display.task})
            self._forget(key, display)
        if display is None:
            display = self._displays[key] = self._begin(key, channel)
        display.cards.add(asked)
        try:
            await _closed(display, asked)
        finally:
            display.cards.withdraw(asked)
            if not display.cards.has_open and not display.task.done():
                display.task.cancel()
                await ended_soon(display.task)
                self._forget(key, display)

    def tell(self) -> None:
        """Let every channel look again at what is open."""
        for display in self._displays.values():
            display.cards.tell()

    def _begin(self, key: tuple[int, str], channel: Channel) -> _Display:
        cards = Cards(self._clock)
        display = _Display(cards, asyncio.ensure_future(_shown(channel, cards, self._submit)))

        def ended(task: asyncio.Task[None]) -> None:
            if not task.cancelled():
                task.exception()  # whoever still waits raises it
            self._forget(key, display)
            cards.tell()

        display.task.add_done_callback(ended)
        return display

    def _forget(self, key: tuple[int, str], display: _Display) -> None:
        if self._displays.get(key) is display:
            del self._displays[key]


def _takes_more(display: _Display) -> bool:
    """Return whether questions may join: a display without an open one is about to end, whatever joins it."""
    return display.cards.has_open and not display.task.done()


async def _shown(channel: Channel, cards: Cards, submit: Submit) -> None:
    """Let a channel show cards; whatever it raises is its own fault, and neither an expiry nor a cancellation.

    Raises:
        MyclawError: It failed.
        asyncio.CancelledError: The calling task was cancelled.
    """
    who = N_("the channel {channel}", channel=channel.name)
    try:
        await guarded(who, channel.ask(cards, submit))
    except MyclawError:
        raise
    except Exception as error:
        raise MyclawError(N_("{who} could not ask: {error}", who=who, error=received_error(error))) from error


async def _closed(display: _Display, asked: Sequence[Asked]) -> None:
    """Wait until these requests are closed and, where they were the last, until the channel has ended its display."""
    while not display.task.done() and (any(each.is_open for each in asked) or not display.cards.has_open):
        await display.cards.changed()
    if display.task.done() and any(each.is_open for each in asked):
        display.task.result()
