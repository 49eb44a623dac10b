"""Lets one process at a time go on with a synthesis; the lock ends with the process, too."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from myclaw_core.errors import UnavailableError
from myclaw_core.messages import N_

__all__ = ["BusyError", "designing"]

_FILE = "synthesis.lock"


class BusyError(UnavailableError):
    """Raised while another process designs."""


@contextmanager
def designing(state: Path) -> Iterator[None]:
    """Hold the lock.

    Args:
        state: The folder of state.

    Raises:
        BusyError: Another process holds it.
        UnavailableError: It cannot be made.
    """
    path = state / _FILE
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UnavailableError(N_("{path} cannot be opened: {reason}", path=str(path), reason=reason)) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise BusyError(N_("another process designs a neuron now; try again when it has ended")) from None
    try:
        yield
    finally:
        os.close(handle)
