"""Does the daemon, where one runs, reach everybody it should?"""

from __future__ import annotations

from collections.abc import Iterator

from myclaw_core.doctor.diagnosis import Diagnosis, fail, ok
from myclaw_core.doctor.patient import Patient
from myclaw_core.messages import N_
from myclaw_core.serve.health import look, not_running

__all__ = ["check"]


def check(patient: Patient) -> Iterator[Diagnosis]:
    """Read what it last wrote of itself."""
    found = look(patient.home, patient.clock.now())
    if found.owner is None:
        yield ok("serve", not_running(found))
    elif found.troubles:
        yield from (fail("serve", trouble.what, trouble.todo) for trouble in found.troubles)
    else:
        names = ", ".join(each.name for each in found.state.messengers) if found.state else ""
        well = N_("process {pid} runs", pid=found.owner.pid)
        if names:
            well = N_("process {pid} runs with {messengers}", pid=found.owner.pid, messengers=names)
        yield ok("serve", well)
