"""Takes away bytes that no record needs: old ones only, so that a record that is being made loses nothing."""

from __future__ import annotations

from collections.abc import Container
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from attrs import frozen

from myclaw_core.errors import StoreError
from myclaw_core.messages import N_
from myclaw_core.undo.keep import blob_files, held, left_temporaries, sha_of

__all__ = ["Dropped", "drop_unneeded"]


@frozen(kw_only=True)
class Dropped:
    """What was taken away.

    Attributes:
        files: How many files.
        bytes: What they took.
    """

    files: int = 0
    bytes: int = 0

    def __add__(self, more: Dropped) -> Dropped:
        """Return both together."""
        return Dropped(files=self.files + more.files, bytes=self.bytes + more.bytes)


def drop_unneeded(root: Path, needed: Container[str], before: datetime) -> Dropped:
    """Remove the blobs that are not `needed` and were last put before a moment, and what dead processes left.

    Running it again after a crash finishes the work. A blob that is put again meanwhile is young then, and stays.

    Raises:
        StoreError: A file cannot be removed.
    """
    if not root.is_dir():
        return Dropped()
    dropped = Dropped()
    for file in [*blob_files(root), *left_temporaries(root)]:
        if file.name.endswith(".tmp"):
            dropped += _drop(root, file, None)
        elif sha_of(file) not in needed:
            dropped += _drop(root, file, before)
    return dropped


def _drop(root: Path, file: Path, before: datetime | None) -> Dropped:
    """Remove one file; whether it is old enough is looked at while nobody can put it again."""
    try:
        with suppress(FileNotFoundError), held(root):
            status = file.stat()
            if before is None or status.st_mtime < before.timestamp():
                file.unlink()
                return Dropped(files=1, bytes=status.st_size)
    except OSError as error:
        text = N_("cannot remove bytes kept for undo: {path}: {reason}", path=str(file), reason=str(error.strerror))
        raise StoreError(text) from error
    return Dropped()
