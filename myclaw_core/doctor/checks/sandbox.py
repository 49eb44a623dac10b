"""Can commands be run apart from the system? The sandbox is really tried."""

from __future__ import annotations

from collections.abc import Iterator

from myclaw_core.doctor.diagnosis import Diagnosis, ok, warn
from myclaw_core.doctor.patient import Patient
from myclaw_core.errors import UnavailableError

__all__ = ["check"]


def check(patient: Patient) -> Iterator[Diagnosis]:
    """Let the sandbox of the slot try itself."""
    if patient.dispatcher is None:
        return
    chosen = patient.config.slots.sandbox
    try:
        missing = patient.dispatcher.sandbox(chosen).missing()
    except UnavailableError as error:
        yield warn("sandbox", f"no sandbox plugin is on, so no command is run: {error}", "install myclaw-bwrap")
        return
    if missing:
        what, _, todo = missing.partition("; ")
        yield warn("sandbox", what, todo)
    else:
        yield ok("sandbox", f"{chosen} ran a trial command")
