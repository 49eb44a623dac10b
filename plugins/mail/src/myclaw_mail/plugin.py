"""Hook implementations; their bodies are imported at first use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from myclaw_core import hookimpl

if TYPE_CHECKING:
    from myclaw_core.config import ConfigSchema
    from myclaw_core.host import Host
    from myclaw_core.runtime.tool import Tool

__all__ = ["myclaw_config", "myclaw_tools"]


@hookimpl
def myclaw_config() -> ConfigSchema:
    """Describe `[mail]`."""
    from myclaw_mail.config import SCHEMA

    return SCHEMA


@hookimpl
def myclaw_tools(host: Host) -> Sequence[Tool]:
    """Offer `mail_send`."""
    import os

    from myclaw_mail.account import Account
    from myclaw_mail.tools import mail_tools

    return mail_tools(Account.of(host.config, host.home, os.environ), host.clock)
