"""Puts approval cards into a chat: buttons come when there was time to read, and each is good for one press."""

from __future__ import annotations

import asyncio

from myclaw_core.approval.cards import JOIN_S, Cards
from myclaw_core.runtime.channel import Submit
from myclaw_telegram.sheet import Chat, Sheet

__all__ = ["Round"]

_LINES_PER_MESSAGE = 12


class Round:
    """All that is asked together: one message, and another where it would have more than 12 lines.

    What comes later than `JOIN_S`, or while the further answers of one question are read, gets a message of its own.
    """

    def __init__(self, chat: Chat, cards: Cards, submit: Submit) -> None:
        self._chat = chat
        self._cards = cards
        self._submit = submit
        self._sheets: list[Sheet] = []
        self._placed = 0
        self._stirred = asyncio.Event()

    async def run(self) -> None:
        """Ask until no card is open; where the chat cannot be reached, return at once."""
        try:
            while any(map(self._cards.is_open, self._cards)):
                if not await self._show():
                    return
            for sheet in self._sheets:
                async with sheet.lock:  # the words of the last answer are still to come
                    pass
        finally:
            for sheet in self._sheets:
                sheet.close()

    async def _show(self) -> bool:
        """Show how things stand and wait until that changes; return whether it could be shown."""
        seen = self._state()
        self._stirred.clear()
        self._place()
        for sheet in self._sheets:
            async with sheet.lock:
                sheet.draw()
                if sheet.is_over:  # others may stay open for long
                    sheet.close()
            if sheet.unshown and not sheet.is_over:
                if not await sheet.shown():
                    return False
                self._stirred.set()  # without a reading pause its buttons come at once
        await self._change(seen)
        return True

    def _place(self) -> None:
        for card in self._cards[self._placed :]:
            if not self._sheets or not self._takes_more(self._sheets[-1]):
                now_s = self._chat.clock.monotonic()
                self._sheets.append(Sheet(self._chat, self._cards, self._submit, self._stirred, now_s))
            self._placed += 1
            self._sheets[-1].add(card, self._placed)

    def _takes_more(self, sheet: Sheet) -> bool:
        is_new = self._chat.clock.monotonic() - sheet.began_s <= JOIN_S
        return is_new and not sheet.is_over and sheet.opened is None and len(sheet.questions) < _LINES_PER_MESSAGE

    async def _change(self, seen: tuple[bool, ...]) -> None:
        """Wait until a card joins or is closed, a button was pressed, or the next reading pause ends."""
        now_s = self._chat.clock.monotonic()
        pauses = [sheet.pause_left_s(now_s) for sheet in self._sheets]
        next_s = min((left_s for left_s in pauses if left_s is not None), default=None)
        waits = [self._moved(seen), self._stirred.wait()]
        if next_s is not None:
            waits.append(self._chat.clock.sleep(next_s))
        tasks = [asyncio.ensure_future(wait) for wait in waits]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _moved(self, seen: tuple[bool, ...]) -> None:
        while self._state() == seen:
            await self._cards.changed()

    def _state(self) -> tuple[bool, ...]:
        return tuple(map(self._cards.is_open, self._cards))
