"""Hook implementations; their bodies are imported at first use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from myclaw_core import hookimpl

if TYPE_CHECKING:
    from myclaw_core.events.types import Event
    from myclaw_core.host import Host
    from myclaw_core.runtime.channel import Channel

__all__ = ["myclaw_channels", "myclaw_event"]


@hookimpl
def myclaw_channels(host: Host) -> Sequence[Channel]:
    """Offer the terminal."""
    from myclaw_terminal.channel import TerminalChannel

    return [TerminalChannel.from_host(host)]


@hookimpl
def myclaw_event(event: Event) -> None:
    """Tell of a plugin fault once."""
    from myclaw_terminal.faults import FAULTS

    FAULTS.tell(event)
