"""Are the keys whole, ours and secret?"""

from __future__ import annotations

from collections.abc import Iterator

from myclaw_core.doctor.diagnosis import Diagnosis, fail, ok
from myclaw_core.doctor.patient import Patient
from myclaw_core.errors import StoreError
from myclaw_core.events.keys import load_or_create_key
from myclaw_core.messages import N_

__all__ = ["check"]

_MEND = N_("mend this before the next start: a record cannot be read without its key")


def check(patient: Patient) -> Iterator[Diagnosis]:
    """Read every key as a start would."""
    paths = sorted(patient.home.keys.glob("*.key"))
    broken = []
    for path in paths:
        try:
            load_or_create_key(path)
        except StoreError as error:
            broken.append(fail("keys", error.text, _MEND))
    if broken:
        yield from broken
    else:
        yield ok("keys", ", ".join(path.name for path in paths) or N_("none yet"))
