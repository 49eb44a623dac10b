"""Are the bytes there that undo needs, and no others?"""

from __future__ import annotations

from collections.abc import AsyncIterator, Container, Iterator
from contextlib import suppress
from datetime import datetime, timedelta

from myclaw_core.doctor.diagnosis import Diagnosis, fail, ok, warn
from myclaw_core.doctor.patient import Patient
from myclaw_core.errors import MyclawError
from myclaw_core.messages import N_
from myclaw_core.types.text import Text
from myclaw_core.undo.blobs import BlobStore
from myclaw_core.undo.keep import blob_files, left_temporaries, sha_of
from myclaw_core.undo.needs import named_in, needed_bytes
from myclaw_core.undo.records import UNDO_KIND, read_undo

__all__ = ["check"]

_NEARLY_FULL = 0.9
_OVERDUE = timedelta(days=3)
"""How long the work of the night may take to let go of something."""


async def check(patient: Patient) -> AsyncIterator[Diagnosis]:
    """Read every blob of the records that are still in force, and look for bytes that none of them needs."""
    if patient.log is None:
        looked = N_("not looked at without the event log") if patient.log_problem else N_("nothing to undo yet")
        yield ok("undo", looked)
        return
    blobs = BlobStore(patient.home.undo, patient.config.limits.undo_cap_bytes, patient.clock)
    now, sound, needed, problems = patient.clock.now(), 0, set[str](), list[Text]()
    for key, raw in await patient.log.scan(UNDO_KIND):
        try:
            record = read_undo(raw, key)
            if record.expires_at > now - _OVERDUE:
                needed |= needed_bytes(record, blobs) | named_in(record)
            if record.reverted_at is None and record.expires_at > now:
                for sha in needed_bytes(record, blobs):
                    blobs.check(sha)
                sound += 1
        except MyclawError as error:
            problems.append(N_("{record}: {problem}", record=key, problem=error.text))
    for problem in problems:
        yield fail("undo", problem, N_("this action cannot be undone; put the folder undo back from a backup"))
    wasted = 0 if problems else sum(_unneeded(patient, needed, now - _OVERDUE))
    for finding in _room(patient, blobs, wasted):
        yield finding
    if not problems:
        yield ok("undo", N_("{n} actions can be undone, {bytes} bytes are kept", n=sound, bytes=blobs.total_bytes()))


def _unneeded(patient: Patient, needed: Container[str], before: datetime) -> Iterator[int]:
    """Yield the bytes of each file that should have been dropped by now."""
    root = patient.home.undo
    files = [*(file for file in blob_files(root) if sha_of(file) not in needed), *left_temporaries(root)]
    for file in files:
        with suppress(OSError):
            status = file.stat()
            if status.st_mtime < before.timestamp():
                yield status.st_size


def _room(patient: Patient, blobs: BlobStore, wasted: int) -> Iterator[Diagnosis]:
    if wasted:
        finding = N_("{bytes} bytes are kept that no action needs any more", bytes=wasted)
        yield warn("undo", finding, N_("'myclaw nightly' drops them; let a timer run it each night"))
    cap, used = patient.config.limits.undo_cap_bytes, blobs.total_bytes() - wasted
    if used > _NEARLY_FULL * cap:
        finding = N_("{used} of {cap} bytes for undo are used", used=used, cap=cap)
        yield warn("undo", finding, N_("raise [limits] undo_cap_bytes; what does not fit cannot be undone"))
