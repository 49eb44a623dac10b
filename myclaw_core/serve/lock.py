"""One daemon a home: a second one would act on each message twice."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from attrs import frozen

from myclaw_core import codec
from myclaw_core.clock import Clock
from myclaw_core.errors import CodecError, UnavailableError
from myclaw_core.messages import N_
from myclaw_core.paths import Home
from myclaw_core.process import is_alive, this_process
from myclaw_core.types.text import Text

__all__ = ["Owner", "read_state", "running", "sole_instance"]

_MOST_BYTES = 4096


@frozen(kw_only=True)
class Owner:
    """The process that serves a home.

    Attributes:
        process: Its name, as `this_process` gives it.
        since: When it began.
    """

    process: str
    pid: int
    since: datetime


@contextmanager
def sole_instance(home: Home, clock: Clock) -> Iterator[Owner]:
    """Be the only daemon of `home` inside the block; the kernel gives the lock free however the process ends.

    What is locked is a folder that nothing works without: a file called lock is soon removed by somebody who thinks
    that a dead process left it, and then two of them run. The file only says who holds it.

    Raises:
        UnavailableError: Another one serves this home, or the file cannot be written.
    """
    home.create()
    path = _path(home)
    handle = _opened(home.keys)
    try:
        _lock(handle, path)
        owner = Owner(process=this_process(), pid=os.getpid(), since=clock.now())
        with _told(path):
            _write(path, codec.dumps(owner))
        try:
            yield owner
        finally:
            with suppress(OSError):
                _write(path, b"")
    finally:
        os.close(handle)


def running(home: Home) -> Owner | None:
    """Return the daemon of `home`, or `None` where none runs; nothing is locked for it."""
    owner = _owner(_path(home))
    return owner if owner is not None and is_alive(owner.process) else None


def _path(home: Home) -> Path:
    return home.state / "serve.lock"


def read_state(path: Path, most_bytes: int) -> bytes:
    """Return what a small file of the daemon's holds.

    Raises:
        OSError: It cannot be read, or is no file.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "it is no file")
        return os.read(handle, most_bytes)
    finally:
        os.close(handle)


def _write(path: Path, data: bytes) -> None:
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    try:
        os.ftruncate(handle, 0)
        os.pwrite(handle, data, 0)
    finally:
        os.close(handle)


def _opened(folder: Path) -> int:
    try:
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise UnavailableError(
            N_(
                "{path} cannot be opened: {reason}; make it a folder of yours",
                path=str(folder),
                reason=error.strerror or "",
            )
        ) from error


def _lock(handle: int, path: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UnavailableError(_taken(_owner(path))) from None
    except OSError as error:
        reason = error.strerror or ""
        raise UnavailableError(
            N_("{path} cannot be locked: {reason}; put the home on another disk", path=str(path.parent), reason=reason)
        ) from error


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Tell in one line what the system refused."""
    try:
        yield
    except OSError as error:
        raise UnavailableError(
            N_("{path}: {reason}; make it a file of yours", path=str(path), reason=error.strerror or "")
        ) from error


def _taken(owner: Owner | None) -> Text:
    if owner is None:
        return N_("another process serves this home already; stop it first, or set MYCLAW_HOME to another folder")
    return N_(
        "process {pid} serves this home already; stop it first ('kill {pid}'), or set MYCLAW_HOME to another folder",
        pid=owner.pid,
    )


def _owner(path: Path) -> Owner | None:
    """Return the owner that a file names; `None` for one that names none."""
    with suppress(OSError, CodecError):
        return codec.loads(Owner, read_state(path, _MOST_BYTES), "serve.lock")
    return None
