"""Lets one process at a time change folders of neurons together with what is on record about them."""

from __future__ import annotations

import fcntl
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from myclaw_core.clock import Clock
from myclaw_core.errors import UnavailableError
from myclaw_core.messages import N_

__all__ = ["changing_neurons", "is_changing"]

_FILE = "neurons.lock"
_WAIT_S = 20.0
_LOOK_EVERY_S = 0.05


@asynccontextmanager
async def changing_neurons(state: Path, clock: Clock) -> AsyncIterator[None]:
    """Hold the lock; it ends with the process too.

    Args:
        state: The folder of state.

    Raises:
        UnavailableError: Another process holds it for longer than any change takes, or it cannot be made.
    """
    with _opened(state) as handle:
        waited_s = 0.0
        while not _locked(handle, fcntl.LOCK_EX):
            if waited_s >= _WAIT_S:
                raise UnavailableError(N_("another process is changing the neurons; try again when it has ended"))
            await clock.sleep(_LOOK_EVERY_S)
            waited_s += _LOOK_EVERY_S
        yield


def is_changing(state: Path) -> bool:
    """Return whether a process holds the lock now: what lies in the folders then is not final.

    Raises:
        UnavailableError: It cannot be looked at.
    """
    with _opened(state) as handle:
        return not _locked(handle, fcntl.LOCK_SH)


@contextmanager
def _opened(state: Path) -> Iterator[int]:
    path = state / _FILE
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UnavailableError(N_("{path} cannot be opened: {reason}", path=str(path), reason=reason)) from error
    try:
        yield handle
    finally:
        os.close(handle)


def _locked(handle: int, how: int) -> bool:
    try:
        fcntl.flock(handle, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
