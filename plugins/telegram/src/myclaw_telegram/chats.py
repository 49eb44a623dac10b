"""All conversations of one bot: the channel to each, and the way of a press to the message it belongs to."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from myclaw_core.clock import Clock
from myclaw_core.runtime.messenger import Reception
from myclaw_core.types.text import Text
from myclaw_telegram.api import Api
from myclaw_telegram.chat import ChatChannel
from myclaw_telegram.kept import Kept
from myclaw_telegram.outgoing import Outgoing
from myclaw_telegram.presses import Presses
from myclaw_telegram.sheet import Chat
from myclaw_telegram.updates import Pressed

__all__ = ["Chats"]

_PATIENCE_S = 10.0


class Chats:
    """The conversations of one bot.

    Args:
        api: The bot.
        trouble: Told in one line of a message that could not be delivered.
    """

    def __init__(self, api: Api, clock: Clock, trouble: Callable[[Text], None] = lambda text: None) -> None:
        self._api = api
        self._clock = clock
        self._trouble = trouble
        self._kept = Kept()
        self._presses = Presses(clock, self._out, self._kept)
        self._outgoing: dict[int, Outgoing] = {}
        self._channels: dict[tuple[str, int], ChatChannel] = {}

    def channel(self, sender: str, place: str) -> ChatChannel:
        """Return the channel to a person in a chat, always the same one; an empty place is their own chat."""
        chat_id = int(place or sender.rpartition(":")[2])
        known = self._channels.get((sender, chat_id))
        if known is None:
            chat = Chat(
                sender=sender,
                out=self._out(chat_id),
                clock=self._clock,
                presses=self._presses,
                kept=self._kept,
            )
            known = self._channels[sender, chat_id] = ChatChannel(chat)
        return known

    async def recover(self, reception: Reception) -> None:
        """Judge presses with `reception` from now on, and change messages that an earlier run left untrue.

        Raises:
            StoreError: What was kept cannot be read.
        """
        await self._presses.recover(reception)

    async def pressed(self, press: Pressed) -> None:
        """Act on a press of a paired person; it returns once that is recorded.

        Raises:
            StoreError: It could not be recorded; it must come again.
        """
        await self._presses.pressed(press)

    async def close(self) -> None:
        """Send what waits, for 10 s at most, and give up the rest."""
        with suppress(TimeoutError):
            async with self._clock.timeout(_PATIENCE_S):
                for out in self._outgoing.values():
                    await out.settled()
        for out in self._outgoing.values():
            await out.close()

    def _out(self, chat_id: int) -> Outgoing:
        known = self._outgoing.get(chat_id)
        if known is None:
            known = self._outgoing[chat_id] = Outgoing(self._api, self._clock, chat_id, self._trouble)
        return known
