"""Completes at the start what a process that died was doing to neurons, and clears up what nobody needs any more."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from myclaw_core.errors import MyclawError
from myclaw_core.events.log import EventLog
from myclaw_core.messages import N_
from myclaw_core.neurons import records
from myclaw_core.neurons.drafts import DRAFTS, Drafts
from myclaw_core.neurons.lock import changing_neurons
from myclaw_core.neurons.placing import bring_into_place, names_beside
from myclaw_core.neurons.questions import asked_about
from myclaw_core.neurons.rotation import complete_rotation, is_rotating
from myclaw_core.paths import Home
from myclaw_core.types.text import Text

if TYPE_CHECKING:
    from myclaw_core.approval.gateway import Gateway
    from myclaw_core.clock import Clock

__all__ = ["settle", "settle_all", "settle_beside"]


async def settle_all(home: Home, log: EventLog, clock: Clock, gateway: Gateway) -> list[Text]:
    """Bring folders into the state that is on record, complete a rotation of the key, drop drafts that are over.

    It costs a look at two folders where there is nothing to do.

    Returns:
        A line for the person on each thing that could not be done.
    """
    problems: list[Text] = []
    try:
        if is_rotating(home) or names_beside(home.neurons):
            async with changing_neurons(home.state, clock):
                await settle_beside(home, log)
                await complete_rotation(home, log)
        Drafts(home.state / DRAFTS).sweep(await asked_about(gateway), clock.now())
    except MyclawError as error:
        problems.append(N_("neurons are not as they should be: {problem}", problem=error.text))
    except OSError as error:
        reason = error.strerror or str(error)
        problems.append(N_("{path} cannot be put in order: {reason}", path=str(home.neurons), reason=reason))
    return problems


async def settle_beside(home: Home, log: EventLog) -> None:
    """Settle every neuron beside whose place something was left; like `settle`."""
    for name in names_beside(home.neurons):
        await settle(home, log, name)


async def settle(home: Home, log: EventLog, name: str) -> bool:
    """Let the place of a neuron hold the version that is on record; return whether it does.

    The caller holds the lock of `changing_neurons`.

    Raises:
        CodecError: The record cannot be read.
        OSError: A step failed.
    """
    digest = records.digest_on_record(await records.find(log, name))
    return await asyncio.to_thread(bring_into_place, home.neurons, name, digest)
