"""What an error of the file system is called when it is told to a model or a person."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from myclaw_core.errors import ToolFailure
from myclaw_core.files.resolve import display_path
from myclaw_core.messages import N_
from myclaw_core.types.text import Text, as_text

__all__ = ["os_errors", "reason_of"]

_REASONS = {
    errno.ENOENT: N_("there is no {path}"),
    errno.EISDIR: N_("{path} is a folder, not a file"),
    errno.ENOTDIR: N_("{path} is not a folder, or lies below a file"),
    errno.EACCES: N_("no permission for {path}"),
    errno.EPERM: N_("no permission for {path}"),
    errno.ENOSPC: N_("no space left on the disk of {path}"),
    errno.EDQUOT: N_("no space left in the quota for {path}"),
    errno.EROFS: N_("{path} is on a read-only file system"),
    errno.ENOTEMPTY: N_("the folder {path} is not empty"),
    errno.EEXIST: N_("{path} exists already"),
    errno.EXDEV: N_("{path} would move to another file system; write the file there and delete it here"),
    errno.ENAMETOOLONG: N_("the path {path} is too long"),
    errno.EBUSY: N_("{path} is in use"),
}


def reason_of(error: OSError, path: str) -> Text:
    """Return one line on why the file system refused something at the real path `path`."""
    shown = display_path(path)
    known = _REASONS.get(error.errno or 0)
    if known is not None:
        return N_(known.msgid, path=shown)
    return N_("{path}: {problem}", path=shown, problem=as_text(error.strerror or str(error)))


@contextmanager
def os_errors(path: str) -> Iterator[None]:
    """Turn an `OSError` of the body into a `ToolFailure` that names the real path `path`."""
    try:
        yield
    except OSError as error:
        raise ToolFailure(reason_of(error, path)) from error
