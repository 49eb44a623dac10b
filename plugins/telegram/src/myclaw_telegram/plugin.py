"""Hook implementations; their bodies are imported at first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from myclaw_core import hookimpl

if TYPE_CHECKING:
    from myclaw_core.config import ConfigSchema

__all__ = ["myclaw_config"]


@hookimpl
def myclaw_config() -> ConfigSchema:
    """Describe `[telegram]`."""
    from myclaw_telegram.config import SCHEMA

    return SCHEMA
