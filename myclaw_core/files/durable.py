"""New files and folders that are on the disk, not only on their way to it, before anything relies on them."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["sync_folder", "write_new"]


def write_new(path: Path, data: bytes) -> None:
    """Make a file that only its owner can read, with these bytes, durably; its name is durable once its folder is.

    Raises:
        OSError: It cannot be made, or something has its name already.
    """
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(handle)


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable.

    Raises:
        OSError: It cannot be opened or synced.
    """
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
