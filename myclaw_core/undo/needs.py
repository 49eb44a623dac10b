"""Which bytes an undo record needs."""

from __future__ import annotations

import json
import re

from myclaw_core.errors import StoreError
from myclaw_core.messages import N_
from myclaw_core.undo.blobs import BlobStore
from myclaw_core.undo.handler import PATHS, SNAPSHOT
from myclaw_core.undo.types import UndoRecord

__all__ = ["named_in", "needed_bytes"]

_SHA256 = re.compile(r"\b[0-9a-f]{64}\b")


def needed_bytes(record: UndoRecord, blobs: BlobStore) -> set[str]:
    """Return the names of the bytes by which the core takes a step back; none once it was taken back.

    Raises:
        StoreError: The snapshot that names them cannot be read.
    """
    if record.reverted_at is not None:
        return set()
    if record.handler == SNAPSHOT:
        return _of_snapshot(record, blobs)
    return {change.before.sha256 for change in record.changes if change.before.kind == "file"}


def named_in(record: UndoRecord) -> set[str]:
    """Return every digest in the data of a record whose handler is not known here: it may name bytes."""
    if record.reverted_at is not None or record.handler in (PATHS, SNAPSHOT):
        return set()
    return set(_SHA256.findall(json.dumps(dict(record.data))))


def _of_snapshot(record: UndoRecord, blobs: BlobStore) -> set[str]:
    before, after = record.data.get("before"), record.data.get("after")
    if not isinstance(before, str):
        raise StoreError(N_("the record names no snapshot"))
    manifests = {before, after} if isinstance(after, str) else {before}
    # A name of a file may look like a digest, which keeps a blob too many at worst.
    return manifests | set(_SHA256.findall(blobs.get(before).decode("ascii", errors="replace")))
