"""Secrets that a person hands over: from the environment, or from a file that only its owner can read."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from myclaw_core.errors import UnavailableError
from myclaw_core.messages import N_

__all__ = ["find_secret"]

_MAX_BYTES = 4096


def find_secret(name: str, path: Path, environ: Mapping[str, str]) -> str:
    """Return the secret of the environment variable `name`, else the text of the file `path`; empty without either.

    Raises:
        UnavailableError: The file cannot be read, is of another user, or can be read by others.
    """
    if given := environ.get(name, "").strip():
        return given
    try:
        return _read(path).decode("utf-8").strip()
    except FileNotFoundError:
        return ""
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UnavailableError(N_("{path} cannot be read: {reason}", path=str(path), reason=reason)) from error
    except UnicodeError as error:
        raise UnavailableError(N_("{path} is not text", path=str(path))) from error


def _read(path: Path) -> bytes:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise UnavailableError(N_("{path} is not a file", path=str(path)))
        if found.st_uid != os.geteuid():
            raise UnavailableError(
                N_("{path} belongs to another user; run `chown {user} {path}`", path=str(path), user=os.geteuid())
            )
        if found.st_mode & 0o077:
            raise UnavailableError(N_("{path} can be read by others; run `chmod 600 {path}`", path=str(path)))
        return os.read(handle, _MAX_BYTES)
    finally:
        os.close(handle)
