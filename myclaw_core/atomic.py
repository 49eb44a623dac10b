"""Files that are replaced whole: a crash leaves the old bytes or the new ones, never a part."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from myclaw_core.files.durable import sync_folder

__all__ = ["replace_file"]


def replace_file(path: Path, data: bytes) -> None:
    """Put `data` durably in the place of what `path` holds; a link is followed and kept, and so are its rights.

    A new file can be read by its owner only.

    Raises:
        OSError: It cannot be written; what was there is unchanged.
    """
    real = Path(os.path.realpath(path))
    mode = real.stat().st_mode & 0o777 if real.exists() else 0o600
    fresh = real.with_name(f"{real.name}.{secrets.token_hex(8)}.new")
    try:
        handle = os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(handle, mode)
            os.fsync(handle)
        fresh.replace(real)
    finally:
        fresh.unlink(missing_ok=True)
    sync_folder(real.parent)
