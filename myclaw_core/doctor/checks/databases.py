"""Are the database files sound? They are only read here: a start would move a damaged one aside."""

from __future__ import annotations

from collections.abc import Iterator

from myclaw_core.doctor.diagnosis import Diagnosis, fail, ok, warn
from myclaw_core.doctor.patient import Patient, can_only_be_read
from myclaw_core.doctor.sound import damage_of
from myclaw_core.messages import N_

__all__ = ["check"]

_KEEP = N_("stop myclaw and put a backup in its place; the next start keeps the damaged file under another name")


def check(patient: Patient) -> Iterator[Diagnosis]:
    """Look into every database of the state folder, and for damaged ones that were kept."""
    state = patient.home.state
    if can_only_be_read(state):
        yield ok("databases", N_("not looked at while the disk can only be read"))
        return
    found = sorted(state.glob("*.db"))
    broken = []
    for path in found:
        problem = damage_of(path)
        if problem:
            broken.append(fail("databases", f"{path}: {problem}", _KEEP))
        elif path.stat().st_mode & 0o077:
            todo = N_("run '{command}'", command=f"chmod 600 {path}")
            broken.append(fail("databases", N_("{path} is open to others", path=str(path)), todo))
    yield from broken
    for path in sorted(state.glob("*.damaged-?")):
        kept = N_("{path} was kept because it is damaged", path=str(path))
        yield warn("databases", kept, N_("put a backup in its place, or move it away"))
    if not broken:
        names = ", ".join(path.name for path in found)
        yield ok("databases", names or N_("none yet"))
