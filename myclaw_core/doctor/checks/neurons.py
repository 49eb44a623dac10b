"""Do the neurons that were adopted run?"""

from __future__ import annotations

from collections.abc import AsyncIterator

from myclaw_core.assembly import Assembly
from myclaw_core.doctor.diagnosis import Diagnosis, ok, warn
from myclaw_core.doctor.patient import Patient
from myclaw_core.messages import N_
from myclaw_core.net.access import system_lookup
from myclaw_core.neurons.types import NeuronEntry
from myclaw_core.runtime.shelf import ToolShelf
from myclaw_core.types.text import Text

__all__ = ["check"]

_MOST = 10


async def check(patient: Patient) -> AsyncIterator[Diagnosis]:
    """Name each neuron that does not run, with the reason; one that the person switched off is none."""
    if patient.log is None or patient.dispatcher is None:
        return
    assembly = Assembly(
        home=patient.home,
        clock=patient.clock,
        config=patient.config,
        dispatcher=patient.dispatcher,
        log=patient.log,
        lookup=system_lookup,
    )
    entries = await assembly.neurons(ToolShelf(patient.dispatcher.tools()), mends=False).entries()
    idle = [each for each in entries if each.state in ("quarantined", "not loaded")]
    for entry in idle[:_MOST]:
        yield warn("neurons", N_("{name} does not run: {reason}", name=entry.name, reason=entry.reason), _todo(entry))
    if (more := len(idle) - _MOST) > 0:
        what = N_("further neurons that do not run: {n}", n=more)
        yield warn("neurons", what, N_("'myclaw neurons list' shows all of them"))
    if not idle:
        yield ok("neurons", N_("neurons that can be called: {n}", n=sum(each.state == "active" for each in entries)))


def _todo(entry: NeuronEntry) -> Text:
    if entry.state == "quarantined":
        return N_(
            "look why; 'myclaw neurons rehabilitate {name}' lets it run again, 'remove' archives it", name=entry.name
        )
    return N_("put the approved files back, adopt these anew, or run 'myclaw neurons remove {name}'", name=entry.name)
