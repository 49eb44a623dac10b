"""The state of a path as the undo journal compares it: what is there, its bytes, its mode, its link text."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator

from myclaw_core.errors import ToolFailure
from myclaw_core.files.handles import Place, kind_at, open_regular, place_of, status_at
from myclaw_core.files.resolve import display_path
from myclaw_core.messages import N_
from myclaw_core.undo.types import PathState

__all__ = ["ABSENT", "chunks_of", "state_at", "state_in"]

ABSENT = PathState(kind="absent")
_CHUNK_BYTES = 1 << 20


def state_at(path: str) -> PathState:
    """Return the state of the real path `path`; absent also where its parent is absent or a file.

    Raises:
        EffectChangedError: A name on the way is a link.
        ToolFailure: A special file is there: it has no state that could be compared or restored.
        OSError: It may not be read.
    """
    try:
        with place_of(path) as place:
            return state_in(place, path)
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT


def state_in(place: Place, path: str) -> PathState:
    """Return the state at a place; `path` is its real path, for messages."""
    kind = kind_at(place)
    if kind == "file":
        return _file_state(place)
    if kind == "special":
        raise ToolFailure(
            N_("{path} is a special file (device, pipe or socket); it is left alone", path=display_path(path))
        )
    if kind == "link":
        return PathState(kind="link", link=os.readlink(place[1], dir_fd=place[0]))
    status = status_at(place)
    return ABSENT if status is None else PathState(kind="dir", mode=stat.S_IMODE(status.st_mode))


def chunks_of(descriptor: int) -> Iterator[bytes]:
    """Yield the bytes of an opened file and leave it open."""
    while chunk := os.read(descriptor, _CHUNK_BYTES):
        yield chunk


def _file_state(place: Place) -> PathState:
    descriptor = open_regular(place)
    try:
        digest = hashlib.sha256()
        for chunk in chunks_of(descriptor):
            digest.update(chunk)
        return PathState(kind="file", sha256=digest.hexdigest(), mode=stat.S_IMODE(os.fstat(descriptor).st_mode))
    finally:
        os.close(descriptor)
