"""The messenger: what it needs to be run, and its one line to Telegram."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from myclaw_core.errors import MyclawError, UsageError
from myclaw_core.messages import N_
from myclaw_core.types.text import Text
from myclaw_telegram.token import find_token

if TYPE_CHECKING:
    from myclaw_core.host import Host
    from myclaw_core.runtime.channel import Channel
    from myclaw_core.runtime.messenger import Reception
    from myclaw_telegram.line import Line

__all__ = ["TelegramMessenger"]

_ID_LIMIT = 2**52


class TelegramMessenger:
    """Conversations on Telegram; nothing heavy is imported before it serves.

    Args:
        host: Configuration, home, clock, and where faults are told.
        environ: Where the token is looked for first; the process's environment by default.
    """

    name = "telegram"

    def __init__(self, host: Host, environ: Mapping[str, str] | None = None) -> None:
        self._host = host
        self._environ = os.environ if environ is None else environ
        self._line: Line | None = None

    def missing(self) -> Text | None:
        """Return why it cannot be run, with what to do, or `None`."""
        try:
            self._groups()
            self._url()
            self._token()
        except MyclawError as error:
            return error.text
        return None

    def channel(self, sender: str, place: str) -> Channel:
        """Return the channel to a person in a chat; without a place it is their own chat with the bot.

        Raises:
            MyclawError: The messenger cannot be run.
        """
        return self._connected().channel(sender, place)

    async def serve(self, reception: Reception) -> None:
        """Bring messages until the call is cancelled; the token is looked up anew each time.

        Raises:
            MyclawError: It cannot be run, or Telegram does not know the token.
        """
        await self._connected().serve(self._token(), reception)

    def _connected(self) -> Line:
        if self._line is None:
            from myclaw_telegram.line import Line

            self._line = Line(self._token(), self._host, api_url=self._url(), groups=self._groups())
        return self._line

    def _token(self) -> str:
        return find_token(self._host.home, self._environ)

    def _groups(self) -> tuple[int, ...]:
        given = self._host.config["groups"]
        for entry in given:
            if not (entry.startswith("-") and entry[1:].isascii() and entry[1:].isdigit() and int(entry) > -_ID_LIMIT):
                raise UsageError(
                    N_(
                        "[telegram] groups has {entry}, which is no group: ids of groups look like -1001234",
                        entry=entry,
                    )
                )
        return tuple(map(int, given))

    def _url(self) -> str:
        url: str = self._host.config["api_url"]
        if url and not _keeps_a_secret(url):
            raise UsageError(
                N_("[telegram] api_url is {url}: it must begin with https://, since the token is sent there", url=url)
            )
        return url


def _keeps_a_secret(url: str) -> bool:
    """Return whether nobody on the way can read what is sent to an address."""
    from ipaddress import ip_address
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        if parts.port == 0 or not host or parts.query or parts.fragment:
            return False
        return parts.scheme == "https" or (
            parts.scheme == "http" and (host == "localhost" or ip_address(host).is_loopback)
        )
    except ValueError:
        return False
