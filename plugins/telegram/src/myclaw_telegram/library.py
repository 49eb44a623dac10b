"""Load the Telegram library: its waits as spans of time, and its logs, which name URLs that hold the token, silent."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from telegram import Bot

__all__ = ["make_bot"]

_CONNECT_S = 10.0
_POOL_S = 30.0


def make_bot(token: str, api_url: str, *, connections: int, silence_s: float) -> Bot:
    """Return a bot that has made no connection yet.

    Args:
        token: The bot's token.
        api_url: Where the Bot API is.
        connections: Most connections at once.
        silence_s: Longest silence of the service.
    """
    _hush()
    os.environ.setdefault("PTB_TIMEDELTA", "1")  # how the library is asked not to warn about whole seconds
    from telegram import Bot
    from telegram.request import HTTPXRequest

    request = HTTPXRequest(
        connection_pool_size=connections,
        read_timeout=silence_s,
        write_timeout=silence_s,
        connect_timeout=_CONNECT_S,
        pool_timeout=_POOL_S,
    )
    return Bot(token, base_url=f"{api_url}/bot", request=request, get_updates_request=request)


def _hush() -> None:
    """Keep every log record of the library and of its HTTP client from being made; our errors say what happened."""
    for name in ("telegram", "httpx", "httpcore"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
