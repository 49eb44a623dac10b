"""Who comes in: messages of paired people go to the core, codes are tried, everybody else is told once and counted."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from datetime import date
from typing import Literal

from myclaw_core.clock import Clock
from myclaw_core.errors import StoreError
from myclaw_core.messages import N_, render
from myclaw_core.plugins.contain import one_line
from myclaw_core.runtime.messenger import Incoming, Reception
from myclaw_core.sessions.codes import typed_code
from myclaw_core.types.text import Text
from myclaw_telegram.api import Api, ApiError
from myclaw_telegram.updates import Ignored, Pressed, Said

__all__ = ["NAME", "Door", "sender_of"]

NAME = "telegram"
_START = re.compile(r"/start(?:\s+(?P<code>\S[^\n]{0,63}))?\s*")
_MAX_KNOWN = 1000
_MAX_TELLING = 20
_A_DAY = {"code": 10, "form": 10, "stranger": 1}
"""How often one person is told something of a kind."""

_ONLY_TEXT = N_("only text is read here; write it as a message of your own")
_STRANGER = N_(
    "this bot serves only people who are paired with it: "
    "'myclaw pair telegram' on its machine shows a code to send here"
)


def sender_of(user_id: int) -> str:
    """Return how a person is called in the records: by the number that Telegram gave them, never by a name."""
    return f"{NAME}:{user_id}"


class Door:
    """Acts on one update after the other.

    Args:
        api: Sends the few answers that come from here; they wait for nothing and may get lost.
        reception: Takes messages over.
        clock: Dates the messages.
        press: Acts on a press of a paired person; it returns once the answer is handed in.
        emit: Records a fault.
    """

    def __init__(
        self,
        api: Api,
        reception: Reception,
        clock: Clock,
        press: Callable[[Pressed], Awaitable[None]],
        emit: Callable[[str], None],
    ) -> None:
        self._api = api
        self._reception = reception
        self._clock = clock
        self._press = press
        self._emit = emit
        self._told: dict[tuple[int, str], tuple[date, int]] = {}
        self._telling: set[asyncio.Task[None]] = set()

    async def take(self, update: Said | Pressed | Ignored) -> None:
        """Act on an update; once it returns the update is done with for good.

        Raises:
            StoreError: Something could not be kept: the update must come again.
        """
        match update:
            case Said():
                await self._said(update)
            case Pressed():
                await self._pressed(update)
            case Ignored(user_id=int(user_id)):
                await self._ignored(update, user_id)

    async def close(self) -> None:
        """Drop the answers that were not sent yet."""
        telling = tuple(self._telling)
        for task in telling:
            task.cancel()
        await asyncio.gather(*telling, return_exceptions=True)

    async def _said(self, said: Said) -> None:
        sender = sender_of(said.user_id)
        start = _START.fullmatch(said.text.strip()) if said.private else None
        if await self._reception.is_paired(sender):
            await self._receive(said, sender, "/help" if start else said.text)
            return
        code = (start["code"] or "") if start else said.text
        if said.private and typed_code(code):
            told = await self._reception.pair(sender, code, said.name)
            self._tell(said.chat_id, "code", told)
            return
        await self._reception.turned_away(sender, "a message")
        if said.private:
            self._tell(said.chat_id, "stranger", _STRANGER)

    async def _receive(self, said: Said, sender: str, text: str) -> None:
        await self._reception.receive(
            Incoming(
                channel=NAME,
                key=str(said.update_id),
                sender=sender,
                place=str(said.chat_id),
                text=text,
                received_at=self._clock.now(),
            )
        )

    async def _pressed(self, pressed: Pressed) -> None:
        sender = sender_of(pressed.user_id)
        if not await self._reception.is_paired(sender):
            await self._reception.turned_away(sender, "a press of a button")
            return
        try:
            await self._press(pressed)
        except StoreError:
            raise
        except Exception as error:  # a press that breaks something may be made again; what comes after it goes on
            self._emit(f"a press could not be acted on: {one_line(error)}; press again")

    async def _ignored(self, ignored: Ignored, user_id: int) -> None:
        sender = sender_of(user_id)
        if ignored.is_press or ignored.in_group or not await self._reception.is_paired(sender):
            await self._reception.turned_away(sender, ignored.why)
        elif ignored.chat_id is not None:
            self._tell(ignored.chat_id, "form", _ONLY_TEXT)

    def _tell(self, chat_id: int, kind: Literal["code", "form", "stranger"], text: Text) -> None:
        """Send a line beside everything else, so often a day at most."""
        today = self._clock.now().date()
        day, count = self._told.pop((chat_id, kind), (today, 0))
        count = count if day == today else 0
        self._told[chat_id, kind] = (today, count + 1)
        while len(self._told) > _MAX_KNOWN:
            del self._told[next(iter(self._told))]
        if count < _A_DAY[kind] and len(self._telling) < _MAX_TELLING:
            task = asyncio.create_task(self._send(chat_id, text))
            self._telling.add(task)
            task.add_done_callback(self._telling.discard)

    async def _send(self, chat_id: int, text: Text) -> None:
        try:
            await self._api.send(chat_id, render(text), silent=True)
        except ApiError:
            return
