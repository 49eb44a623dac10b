"""The key under which the log is chained: made once, readable by its owner only."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from myclaw_core.errors import StoreError
from myclaw_core.files.durable import sync_folder, write_new
from myclaw_core.messages import N_

__all__ = ["KEY_BYTES", "load_or_create_key"]

KEY_BYTES = 32


def load_or_create_key(path: Path) -> bytes:
    """Return the key kept at `path`; where there is none, make one of 32 random bytes (mode 0600).

    Two processes that come first at the same time get the same key, and a crash never leaves half a key.

    Raises:
        StoreError: It cannot be read or made, others can read it, or it is not a key.
    """
    try:
        if not os.path.lexists(path):
            _create(path)
        return _load(path)
    except OSError as error:
        raise StoreError(
            N_(
                "{path}: {reason}; check that its folder exists and that it is yours",
                path=str(path),
                reason=error.strerror or str(error),
            )
        ) from error


def _create(path: Path) -> None:
    fresh = path.with_name(f"{path.name}.{secrets.token_hex(8)}.new")
    try:
        write_new(fresh, secrets.token_bytes(KEY_BYTES))
        # Unlike a rename, a link never replaces the key of a process that was faster.
        with suppress(FileExistsError):
            os.link(fresh, path)
    finally:
        fresh.unlink(missing_ok=True)
    sync_folder(path.parent)


def _load(path: Path) -> bytes:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise StoreError(N_("{path} is not a file; move it away or put the key back", path=str(path)))
        if found.st_uid != os.geteuid():
            raise StoreError(
                N_("{path} belongs to another user; run `chown {user} {path}`", path=str(path), user=os.geteuid())
            )
        if found.st_mode & 0o077:
            raise StoreError(N_("{path} can be read by others; run `chmod 600 {path}`", path=str(path)))
        key = file.read(KEY_BYTES + 1)
    if len(key) != KEY_BYTES:
        raise StoreError(N_("{path} is not a key of {n} bytes; put it back from a backup", path=str(path), n=KEY_BYTES))
    return key
