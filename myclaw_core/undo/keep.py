"""The folder of the bytes that undo needs: how its files are named, and who may take one away."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from myclaw_core.errors import StoreError
from myclaw_core.messages import N_
from myclaw_core.process import is_left_behind

__all__ = ["blob_files", "blob_path", "held", "left_temporaries", "sha_of"]

_SHA256 = re.compile(r"[0-9a-f]{64}")


def blob_path(root: Path, sha: str) -> Path:
    """Return where the bytes of a digest lie.

    Raises:
        StoreError: It is no digest.
    """
    if not _SHA256.fullmatch(sha):
        raise StoreError(N_("'{sha}' is not the name of bytes kept for undo", sha=sha[:80]))
    return root / sha[:2] / sha[2:]


def sha_of(file: Path) -> str:
    """Return the digest that a file is named after."""
    return file.parent.name + file.name


def blob_files(root: Path) -> Iterator[Path]:
    """Yield the file of every blob."""
    return (file for file in root.glob("??/*") if _SHA256.fullmatch(sha_of(file)))


def left_temporaries(root: Path) -> Iterator[Path]:
    """Yield the copies that dead processes did not finish."""
    return (file for file in root.glob(".*.tmp") if is_left_behind(file.name))


@contextmanager
def held(root: Path) -> Iterator[None]:
    """Keep every other process from putting or dropping a blob for a moment; the kernel frees it if this one dies.

    Raises:
        OSError: The folder is not there or cannot be locked.
    """
    handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
