"""A plugin that failed is told once, in one line, and never in the middle of what the screen shows."""

from __future__ import annotations

import sys
from collections.abc import Callable

from myclaw_core.events.types import Event, PluginFault
from myclaw_core.messages import _, render
from myclaw_core.shown.inert import inert
from myclaw_terminal.screen import write

__all__ = ["FAULTS", "FaultLines"]


def _to_stderr(line: str) -> None:
    write(sys.stderr, line + "\n")


class FaultLines:
    """Tells of each fault of a run once.

    Attributes:
        show: Prints one line; the channel puts its own in place so that the spinner is not torn.
    """

    def __init__(self) -> None:
        self.show: Callable[[str], None] = _to_stderr
        self._told: set[tuple[str, str, str]] = set()

    def tell(self, event: Event) -> None:
        """Print `event` if it is a fault that was not told yet."""
        if not isinstance(event, PluginFault):
            return
        key = (event.plugin, event.hook, event.detail)
        if key in self._told:
            return
        self._told.add(key)
        line = _("plugin {plugin}: {hook}: {detail}", plugin=event.plugin, hook=event.hook, detail=render(event.detail))
        self.show(inert(line))


FAULTS = FaultLines()
"""The one of this process: hooks are plain functions and hold no state of their own."""
