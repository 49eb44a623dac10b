"""The line to Telegram: the bot, its conversations, and the loop that brings messages."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from myclaw_core.errors import MyclawError
from myclaw_core.host import Host
from myclaw_core.runtime.channel import Channel
from myclaw_core.runtime.messenger import Reception
from myclaw_core.types.text import Text
from myclaw_telegram.api import Api
from myclaw_telegram.chats import Chats
from myclaw_telegram.door import Door
from myclaw_telegram.polling import Polling

__all__ = ["Line"]


class Line:
    """The connection of the bot; its channels outlive every loop that broke, and a token that was mended.

    Args:
        token: The bot's token.
        host: Configuration, clock, and where faults are told.
        api_url: Where the Bot API is; empty for Telegram's own.
        groups: Ids of the groups in which messages are read.
    """

    def __init__(self, token: str, host: Host, *, api_url: str, groups: Sequence[int]) -> None:
        self._host = host
        self._groups = groups
        self._api = Api(token, clock=host.clock, api_url=api_url)
        self._chats = Chats(self._api, host.clock, self._trouble)

    def channel(self, sender: str, place: str) -> Channel:
        """Return the channel to a person in a chat."""
        return self._chats.channel(sender, place)

    async def serve(self, token: str, reception: Reception) -> None:
        """Bring messages until the call is cancelled, which sends what still waits and closes the connection.

        Args:
            token: The bot's token now.
            reception: Takes messages over.

        Raises:
            MyclawError: It cannot go on.
        """
        await self._api.use(token)
        door = Door(self._api, reception, self._host.clock, self._chats.pressed, self._host.emit)
        polling = Polling(
            self._api,
            reception,
            self._host.clock,
            door,
            groups=self._groups,
            timeout_s=self._host.config["poll_timeout_s"],
        )
        await self._chats.recover(reception)
        menu = asyncio.create_task(self._show_commands(reception))
        try:
            await polling.run()
        except asyncio.CancelledError:
            await self.close()
            raise
        finally:
            menu.cancel()
            await door.close()

    async def close(self) -> None:
        """Send what waits, for a while, and free the connections; it may be called twice."""
        await self._chats.close()
        await self._api.close()

    async def _show_commands(self, reception: Reception) -> None:
        """Let Telegram show the slash commands; without them they can still be typed."""
        try:
            await self._api.set_commands(reception.commands)
        except MyclawError as error:
            self._trouble(error.text)

    def _trouble(self, text: Text) -> None:
        self._host.emit(str(text))
