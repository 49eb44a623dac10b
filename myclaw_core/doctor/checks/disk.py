"""Is there room for the record?"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from myclaw_core.assembly import RECORD_ROOM_BYTES
from myclaw_core.doctor.diagnosis import Diagnosis, fail, ok, warn
from myclaw_core.doctor.patient import Patient, can_only_be_read
from myclaw_core.messages import N_

__all__ = ["check", "judge"]

ENOUGH_BYTES = 200 << 20
_MIB = 1 << 20


def check(patient: Patient) -> Iterator[Diagnosis]:
    """Look at the disk that holds the state, or would."""
    folder = next(each for each in (patient.home.state, *patient.home.state.parents) if each.exists())
    if can_only_be_read(folder):
        problem = N_("{folder} can only be read", folder=str(folder))
        yield fail("disk", problem, N_("make it writable, or set MYCLAW_HOME to another folder"))
        return
    room = os.statvfs(folder)
    no_files = room.f_files > 0 and room.f_favail == 0
    yield judge(folder, 0 if no_files else room.f_bavail * room.f_frsize)


def judge(folder: Path, free_bytes: int) -> Diagnosis:
    """Return what so much room means."""
    free = N_("{mib} MiB free in {folder}", mib=free_bytes // _MIB, folder=str(folder))
    if free_bytes < RECORD_ROOM_BYTES:
        problem = N_("{free}: no action is run without room for its record", free=free)
        return fail("disk", problem, N_("free some space"))
    if free_bytes < ENOUGH_BYTES:
        return warn("disk", free, N_("free some space soon; undo and the record need it"))
    return ok("disk", free)
