"""The trust record for commands that need no whole agent: nothing is started, cleared up or asked of a model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from attrs import frozen

from myclaw_core.clock import Clock, SystemClock
from myclaw_core.compose import configured_dispatcher, load_plugins, open_log, trust_book
from myclaw_core.config import Config
from myclaw_core.dispatch import Dispatcher
from myclaw_core.errors import ConfigError, MyclawError
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import PluginFault
from myclaw_core.messages import N_
from myclaw_core.paths import Home
from myclaw_core.trust.book import TrustBook
from myclaw_core.trust.follower import TrustFollower
from myclaw_core.trust.orders import TrustOrders
from myclaw_core.trust.store import TrustBackend

__all__ = ["OpenTrust", "open_trust"]


@frozen(kw_only=True)
class OpenTrust:
    """What is kept on trust, brought up to the event log."""

    home: Home
    clock: Clock
    config: Config
    dispatcher: Dispatcher
    log: EventLog
    backend: TrustBackend
    book: TrustBook
    follower: TrustFollower

    @property
    def orders(self) -> TrustOrders:
        """Return what records orders."""
        return TrustOrders(self.log, self.book, self.follower, self.clock)


@asynccontextmanager
async def open_trust(
    *, on_broken: Callable[[ConfigError], None] | None = None, on_behind: Callable[[MyclawError], None] | None = None
) -> AsyncIterator[OpenTrust]:
    """Open it, and close it at the end.

    Args:
        on_broken: Is told why the configuration does not load; the defaults are taken then.
        on_behind: Is told why the newest events could not be taken in; the record is read as it is then.

    Raises:
        MyclawError: Something is missing or damaged; one line says what to do.
    """
    home, clock = Home.find(), SystemClock()
    faults: list[PluginFault] = []
    plugins = load_plugins(home, lenient=on_broken is not None)
    dispatcher, config = configured_dispatcher(home, plugins, clock, faults.append, on_broken=on_broken)
    async with open_log(home, dispatcher, config, clock) as log:
        backend = dispatcher.store("trust", config.slots.trust)
        book = trust_book(home, dispatcher, config, clock, backend=backend)
        try:
            await book.open()
            follower = TrustFollower(log, book)
            await _follow(follower, on_behind)
            yield OpenTrust(
                home=home,
                clock=clock,
                config=config,
                dispatcher=dispatcher,
                log=log,
                backend=backend,
                book=book,
                follower=follower,
            )
            await _record(log, faults)
        finally:
            await book.close()


async def _follow(follower: TrustFollower, on_behind: Callable[[MyclawError], None] | None) -> None:
    try:
        await follower.catch_up()
    except MyclawError as error:
        if on_behind is None:
            raise
        on_behind(MyclawError(N_("trust does not know the newest events: {problem}", problem=error.text)))


async def _record(log: EventLog, faults: list[PluginFault]) -> None:
    """Write down what plugins did wrong."""
    if faults:
        async with log.transaction() as tx:
            for fault in faults:
                await tx.append(fault)
