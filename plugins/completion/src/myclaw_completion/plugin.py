"""Hook implementations; their bodies are imported at first use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from myclaw_core import hookimpl

if TYPE_CHECKING:
    from myclaw_core.cli.command import Command

__all__ = ["myclaw_commands"]


@hookimpl
def myclaw_commands() -> Sequence[Command]:
    """Offer `myclaw completion`."""
    from myclaw_completion.command import COMMAND

    return (COMMAND,)
