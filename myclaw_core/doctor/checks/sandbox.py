"""Can commands and neurons be run apart from the system? The sandbox is really tried with both."""

from __future__ import annotations

from collections.abc import Iterator

from myclaw_core.doctor.diagnosis import Diagnosis, ok, warn
from myclaw_core.doctor.patient import Patient
from myclaw_core.errors import UnavailableError
from myclaw_core.messages import N_

__all__ = ["check"]


def check(patient: Patient) -> Iterator[Diagnosis]:
    """Let the sandbox of the slot try itself."""
    if patient.dispatcher is None:
        return
    chosen = patient.config.slots.sandbox
    try:
        sandbox = patient.dispatcher.sandbox(chosen)
    except UnavailableError as error:
        what = N_("no sandbox plugin is on, so no command and no neuron is run: {problem}", problem=error.text)
        yield warn("sandbox", what, N_("install myclaw-bwrap"))
        return
    missing = sandbox.missing()
    if missing:
        yield warn("sandbox", missing, N_("no command is run until then; every other tool works"))
    else:
        yield ok("sandbox", N_("{plugin} ran a trial command", plugin=chosen))
    missing = sandbox.missing_for_code()
    if missing:
        yield warn("sandbox", missing, N_("no neuron is tested or run until then; every tool works"))
    else:
        yield ok("sandbox", N_("{plugin} held a trial neuron", plugin=chosen))
