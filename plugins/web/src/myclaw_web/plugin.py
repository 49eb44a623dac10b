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
    """Describe `[web]`."""
    from myclaw_web.config import SCHEMA

    return SCHEMA


@hookimpl
def myclaw_tools(host: Host) -> Sequence[Tool]:
    """Offer `web_fetch`."""
    from myclaw_web.tools import web_tools

    return web_tools(timeout_s=host.config["timeout_s"], max_bytes=host.config["max_bytes"])
