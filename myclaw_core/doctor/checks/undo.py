"""Are the bytes there that undo needs?"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

from myclaw_core import codec
from myclaw_core.doctor.diagnosis import Diagnosis, fail, ok
from myclaw_core.doctor.patient import Patient
from myclaw_core.errors import MyclawError, StoreError
from myclaw_core.messages import N_
from myclaw_core.runtime.recorder import UNDO_KIND
from myclaw_core.undo.blobs import BlobStore
from myclaw_core.undo.journal import SNAPSHOT
from myclaw_core.undo.scan import UNREADABLE
from myclaw_core.undo.snapshot import Snapshots
from myclaw_core.undo.types import UndoRecord

__all__ = ["check"]


async def check(patient: Patient) -> AsyncIterator[Diagnosis]:
    """Read every blob of the records that are still in force."""
    if patient.log is None:
        looked = N_("not looked at without the event log") if patient.log_problem else N_("nothing to undo yet")
        yield ok("undo", looked)
        return
    blobs = BlobStore(patient.home.undo, patient.config.limits.undo_cap_bytes)
    sound, problems = 0, []
    for key, raw in await patient.log.scan(UNDO_KIND):
        try:
            record = codec.loads(UndoRecord, raw, N_("undo record {key}", key=key))
            if record.reverted_at is None and record.expires_at > patient.clock.now():
                for sha in _needed(record, blobs):
                    blobs.check(sha)
                sound += 1
        except MyclawError as error:
            problems.append(N_("{record}: {problem}", record=key, problem=error.text))
    for problem in problems:
        yield fail("undo", problem, N_("this action cannot be undone; put the folder undo back from a backup"))
    if not problems:
        yield ok("undo", N_("{n} actions can be undone, {bytes} bytes are kept", n=sound, bytes=blobs.total_bytes()))


def _needed(record: UndoRecord, blobs: BlobStore) -> Iterator[str]:
    """Yield the names of the bytes that a record needs."""
    yield from (change.before.sha256 for change in record.changes if change.before.kind == "file")
    if record.handler == SNAPSHOT:
        before = record.data.get("before")
        if not isinstance(before, str):
            raise StoreError(N_("the record names no snapshot"))
        entries = Snapshots(blobs, lambda _root: ()).manifest(before).values()
        yield from {entry.sha256 for entry in entries if entry.kind == "file"} - {UNREADABLE}
