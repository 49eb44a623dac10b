"""Reading a file as text, with one line on why where it is none."""

from __future__ import annotations

from myclaw_core.errors import ToolFailure
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_
from myclaw_core.runtime.tool import FileAccess
from myclaw_core.undo.diff import is_binary

__all__ = ["MAX_TEXT_BYTES", "read_text", "require_file"]

MAX_TEXT_BYTES = 8_000_000
"""Most bytes of a file that are read as text."""


def require_file(files: FileAccess, path: str) -> None:
    """Check that there is a regular file at `path`.

    Raises:
        ToolFailure: There is not.
    """
    kind = files.kind(path)
    if kind == "absent":
        raise ToolFailure(N_("there is no file {path}", path=visible(path)))
    if kind == "dir":
        raise ToolFailure(N_("{path} is a folder, not a file; use fs_list", path=visible(path)))
    if kind != "file":
        raise ToolFailure(N_("{path} is no regular file (device, pipe or socket)", path=visible(path)))


def read_text(files: FileAccess, path: str) -> tuple[str, bool]:
    """Return the text of the file at `path` and whether it was cut at `MAX_TEXT_BYTES`.

    Raises:
        ToolFailure: It is not there, not a file, not text or not UTF-8.
    """
    require_file(files, path)
    data = files.read_bytes(path, MAX_TEXT_BYTES + 1)
    cut = len(data) > MAX_TEXT_BYTES
    if cut:
        data = data[: data.rfind(b"\n", 0, MAX_TEXT_BYTES) + 1]
    if is_binary(data):
        raise ToolFailure(N_("{path} is not text but binary", path=visible(path)))
    try:
        return data.decode(), cut
    except UnicodeDecodeError as error:
        raise ToolFailure(N_("{path} is not UTF-8 text (byte {n})", path=visible(path), n=error.start)) from error
