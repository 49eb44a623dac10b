"""The ledger and the levels for commands that need no whole agent."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from attrs import frozen

from myclaw_core.budget.ledger import Ledger
from myclaw_core.clock import SystemClock
from myclaw_core.compose import configured_dispatcher, load_plugins, open_log
from myclaw_core.errors import ConfigError
from myclaw_core.paths import Home
from myclaw_core.policy.levels import Levels

__all__ = ["Books", "open_books"]


@frozen(kw_only=True)
class Books:
    """What is kept on money and levels."""

    ledger: Ledger
    levels: Levels


@asynccontextmanager
async def open_books(*, on_broken: Callable[[ConfigError], None] | None = None) -> AsyncIterator[Books]:
    """Open them, and close them at the end.

    Args:
        on_broken: Is told why the configuration does not load; the defaults are taken then.

    Raises:
        MyclawError: Something is missing or damaged; one line says what to do.
    """
    home, clock = Home.find(), SystemClock()
    plugins = load_plugins(home, lenient=on_broken is not None)
    dispatcher, config = configured_dispatcher(home, plugins, clock, lambda _fault: None, on_broken=on_broken)
    async with open_log(home, dispatcher, config, clock) as log:
        yield Books(ledger=Ledger.configured(log, clock, config.budget), levels=Levels(log, clock, config.agent.level))
