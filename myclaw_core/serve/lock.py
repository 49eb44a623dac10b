"""One daemon a home: a second one would act on each message twice."""

from __future__ import annotations

import fcntl
import os
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

__all__ = ["Owner", "running", "sole_instance"]

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

    Raises:
        UnavailableError: Another one serves this home, or the file cannot be written.
    """
    home.create()
    handle = _locked(_path(home))
    try:
        owner = Owner(process=this_process(), pid=os.getpid(), since=clock.now())
        os.ftruncate(handle, 0)
        os.pwrite(handle, codec.dumps(owner), 0)
        yield owner
    finally:
        os.ftruncate(handle, 0)
        os.close(handle)


def running(home: Home) -> Owner | None:
    """Return the daemon of `home`, or `None` where none runs; nothing is locked for it."""
    try:
        owner = _read(_path(home).read_bytes())
    except OSError:
        return None
    return owner if owner is not None and is_alive(owner.process) else None


def _path(home: Home) -> Path:
    return home.state / "serve.lock"


def _locked(path: Path) -> int:
    """Return a handle on the locked file, the one that is still in its place."""
    try:
        while True:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.path.samestat(os.fstat(handle), path.stat()):
                    return handle
            except FileNotFoundError:
                pass
            except BlockingIOError:
                raise UnavailableError(_taken(_read(os.pread(handle, _MOST_BYTES, 0)))) from None
            except BaseException:
                os.close(handle)
                raise
            os.close(handle)
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


def _read(data: bytes) -> Owner | None:
    """Return the owner that a file names; `None` for one that names none, or is just being written."""
    with suppress(CodecError):
        return codec.loads(Owner, data, "serve.lock")
    return None
