"""Marks that outlive the log's own rows: the anchor file beside the database and the signed checkpoint record.

A log that was cut at its end is still a sound chain; only a mark from outside shows that something is missing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from attrs import field, frozen

from myclaw_core import codec
from myclaw_core.errors import CodecError, NewerVersionError, StoreError
from myclaw_core.events.chain import Mark, same_mac, signature_of
from myclaw_core.messages import N_

__all__ = ["Checkpoint", "checkpoint_bytes", "read_anchor", "read_checkpoint", "write_anchor"]


@frozen(kw_only=True)
class Checkpoint:
    """The record that says up to where the log was verified.

    Attributes:
        signature: Of `mark`, made with the log's key.
    """

    mark: Mark
    signature: bytes
    unknown_fields: Mapping[str, Any] = field(factory=dict)


def read_anchor(path: Path | None) -> Mark | None:
    """Return the mark kept in the anchor file, or `None` where there is none that can be read.

    It is written without waiting for the disk, so a power cut may leave it empty: that proves nothing.

    Raises:
        NewerVersionError: A later version wrote it.
    """
    if path is None:
        return None
    try:
        return codec.loads(Mark, path.read_bytes(), path.name)
    except NewerVersionError:
        raise
    except (OSError, CodecError):
        return None


def write_anchor(path: Path | None, mark: Mark) -> None:
    """Remember `mark` in the anchor file unless a newer one stands there.

    A file that cannot be written, or is of a later version, stays as it is: an old anchor is never wrong, it only
    notices less.
    """
    try:
        known = read_anchor(path)
    except NewerVersionError:
        return
    if path is None or (known is not None and known.seq >= mark.seq):
        return
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    with suppress(OSError):
        fresh.write_bytes(codec.dumps(mark))
        fresh.replace(path)


def checkpoint_bytes(key: bytes, mark: Mark) -> bytes:
    """Return the record that says the log was verified up to `mark`, signed with the log's key."""
    return codec.dumps(Checkpoint(mark=mark, signature=signature_of(key, mark)))


def read_checkpoint(key: bytes, record: bytes | None) -> Mark | None:
    """Return the mark of a checkpoint record, or `None` where there is no record.

    Raises:
        NewerVersionError: A later version wrote it.
        StoreError: The record is damaged or was not signed with this key.
    """
    if record is None:
        return None
    try:
        found = codec.loads(Checkpoint, record, N_("the checkpoint of the event log"))
        is_signed = same_mac(found.signature, signature_of(key, found.mark))
    except NewerVersionError:
        raise
    except (CodecError, OverflowError) as error:
        raise StoreError(N_("the checkpoint of the event log is damaged")) from error
    if not is_signed:
        raise StoreError(N_("the checkpoint of the event log was not signed with its key"))
    return found.mark
