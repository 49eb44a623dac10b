"""The neurons for commands that need no whole agent: nothing is started or cleared up."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from attrs import frozen

from myclaw_core.assembly import Assembly
from myclaw_core.cli.looking import tell_broken
from myclaw_core.cli.trust import tell_behind
from myclaw_core.cli.trust_open import OpenTrust, open_trust
from myclaw_core.net.access import system_lookup
from myclaw_core.neurons.book import NeuronBook
from myclaw_core.neurons.journals import Journals
from myclaw_core.neurons.orders import NeuronOrders
from myclaw_core.runtime.shelf import ToolShelf

__all__ = ["OpenNeurons", "open_neurons"]


@frozen(kw_only=True)
class OpenNeurons:
    """What is known of neurons."""

    trust: OpenTrust
    book: NeuronBook
    journals: Journals
    orders: NeuronOrders


@asynccontextmanager
async def open_neurons() -> AsyncIterator[OpenNeurons]:
    """Open it, and close it at the end.

    Raises:
        MyclawError: Something is missing or damaged; one line says what to do.
    """
    async with open_trust(on_broken=tell_broken, on_behind=tell_behind) as trust:
        home, clock, log, dispatcher = trust.home, trust.clock, trust.log, trust.dispatcher
        assembly = Assembly(
            home=home, clock=clock, config=trust.config, dispatcher=dispatcher, log=log, lookup=system_lookup
        )
        yield OpenNeurons(
            trust=trust,
            book=assembly.neurons(ToolShelf(dispatcher.tools()), mends=False),
            journals=assembly.journals(),
            orders=NeuronOrders(
                log=log,
                clock=clock,
                home=home,
                analyze=dispatcher.analyze,
                programs=trust.config.neurons.programs,
            ),
        )
