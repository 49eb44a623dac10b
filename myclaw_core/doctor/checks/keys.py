"""Are the keys whole, ours and secret?"""

from __future__ import annotations

from collections.abc import Iterator

from myclaw_core.doctor.diagnosis import Diagnosis, fail, ok
from myclaw_core.doctor.patient import Patient
from myclaw_core.errors import StoreError
from myclaw_core.events.keys import load_or_create_key

__all__ = ["check"]


def check(patient: Patient) -> Iterator[Diagnosis]:
    """Read every key as a start would."""
    paths = sorted(patient.home.keys.glob("*.key"))
    broken = []
    for path in paths:
        try:
            load_or_create_key(path)
        except StoreError as error:
            what, _, todo = str(error).partition("; ")
            broken.append(fail("keys", what, todo))
    if broken:
        yield from broken
    else:
        yield ok("keys", ", ".join(path.name for path in paths) or "none yet")
