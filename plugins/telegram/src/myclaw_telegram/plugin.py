"""Hook implementations; their bodies are imported at first use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from myclaw_core import hookimpl

if TYPE_CHECKING:
    from myclaw_core.config import ConfigSchema
    from myclaw_core.host import Host
    from myclaw_core.runtime.messenger import Messenger

__all__ = ["myclaw_config", "myclaw_messengers"]


@hookimpl
def myclaw_config() -> ConfigSchema:
    """Describe `[telegram]`."""
    from myclaw_telegram.config import SCHEMA

    return SCHEMA


@hookimpl
def myclaw_messengers(host: Host) -> Sequence[Messenger]:
    """Offer Telegram."""
    from myclaw_telegram.messenger import TelegramMessenger

    return [TelegramMessenger(host)]
