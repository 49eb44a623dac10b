"""What commands share that only look or undo: a configuration that does not load must not lock anybody out of them."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from myclaw_core.errors import ConfigError
from myclaw_core.files.visible import visible
from myclaw_core.messages import _

if TYPE_CHECKING:
    from myclaw_core.clock import Clock
    from myclaw_core.config import Config
    from myclaw_core.dispatch import Dispatcher
    from myclaw_core.events.log import EventLog
    from myclaw_core.paths import Home

__all__ = ["lenient_plugins", "opened_log", "tell_broken"]


@asynccontextmanager
async def opened_log() -> AsyncIterator[tuple[EventLog, Clock]]:
    """Open the event log alone: nothing is started, checked or cleared up."""
    from myclaw_core.clock import SystemClock
    from myclaw_core.compose import open_log
    from myclaw_core.paths import Home

    home, clock = Home.find(), SystemClock()
    dispatcher, config = lenient_plugins(home, clock)
    async with open_log(home, dispatcher, config, clock) as log:
        yield log, clock


def lenient_plugins(home: Home, clock: Clock) -> tuple[Dispatcher, Config]:
    """Return what calls the plugins, and the configuration: the defaults where it does not load, which is told."""
    from myclaw_core.compose import configured_dispatcher, load_plugins

    plugins = load_plugins(home, lenient=True)
    return configured_dispatcher(home, plugins, clock, lambda _fault: None, on_broken=tell_broken)


def tell_broken(error: ConfigError) -> None:
    """Say in one line that the defaults are in force, and why."""
    first, *more = error.problems
    told = _("the configuration does not load, the defaults are used here: {problem}", problem=first)
    others = _("and {n} more", n=len(more))
    print("myclaw:", visible(f"{told} ({others})" if more else told), file=sys.stderr)
