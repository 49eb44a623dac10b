"""What an error of the file system is called when it is told to a model or a person."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from myclaw_core.errors import ToolFailure
from myclaw_core.files.resolve import display_path

__all__ = ["os_errors", "reason_of"]

_REASONS = {
    errno.ENOENT: "there is no {path}",
    errno.EISDIR: "{path} is a folder, not a file",
    errno.ENOTDIR: "{path} is not a folder, or lies below a file",
    errno.EACCES: "no permission for {path}",
    errno.EPERM: "no permission for {path}",
    errno.ENOSPC: "no space left on the disk of {path}",
    errno.EDQUOT: "no space left in the quota for {path}",
    errno.EROFS: "{path} is on a read-only file system",
    errno.ENOTEMPTY: "the folder {path} is not empty",
    errno.EEXIST: "{path} exists already",
    errno.EXDEV: "{path} would move to another file system; write the file there and delete it here",
    errno.ENAMETOOLONG: "the path {path} is too long",
    errno.EBUSY: "{path} is in use",
}


def reason_of(error: OSError, path: str) -> str:
    """Return one line on why the file system refused something at the real path `path`."""
    shown = display_path(path)
    known = _REASONS.get(error.errno or 0)
    return known.format(path=shown) if known else f"{shown}: {error.strerror or error}"


@contextmanager
def os_errors(path: str) -> Iterator[None]:
    """Turn an `OSError` of the body into a `ToolFailure` that names the real path `path`."""
    try:
        yield
    except OSError as error:
        raise ToolFailure(reason_of(error, path)) from error
