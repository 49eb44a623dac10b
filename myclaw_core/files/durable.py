"""New files and folders that are on the disk, not only on their way to it, before anything relies on them."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["sync_folder", "write_new"]


def write_new(path: Path | str, data: bytes, *, folder: int | None = None) -> None:
    """Make a file that only its owner can read, with these bytes, durably; its name is durable once its folder is.

    Args:
        folder: The descriptor of an opened folder in which `path` is looked up.

    Raises:
        OSError: It cannot be made, or something has its name already.
    """
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(handle)


def sync_folder(path: Path | str, *, folder: int | None = None) -> None:
    """Make the names in a folder durable.

    Args:
        folder: The descriptor of an opened folder in which `path` is looked up; `.` is that folder itself.

    Raises:
        OSError: It cannot be opened or synced.
    """
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
