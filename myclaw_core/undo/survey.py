"""Whether all of a folder can be kept: one look at names and sizes before a command runs in it."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection

from myclaw_core.files.resolve import display_path, kind_of_mode
from myclaw_core.files.tree import Folder, walk
from myclaw_core.messages import N_
from myclaw_core.types.text import Text
from myclaw_core.undo.blobs import BlobStore

__all__ = ["MAX_BYTES", "MAX_ENTRIES", "Survey"]

MAX_ENTRIES = 20_000
"""Most files and folders of a folder that can be kept."""
MAX_BYTES = 512 << 20
"""Most bytes of a folder that can be kept."""
_SHOWN_CHARS = 120


class Survey:
    """One look at a folder.

    Args:
        root: Its real path.
        closed: Real paths that are left out.
        blobs: Where it would be kept.
    """

    def __init__(self, root: str, closed: Collection[str], blobs: BlobStore) -> None:
        self._root = root
        self._closed = closed
        self._blobs = blobs
        self._entries = 0
        self._bytes = 0
        self._names: dict[int, int] = {}

    def obstacle(self) -> Text | None:
        """Return why not all of it can be kept, or `None`.

        Raises:
            EffectChangedError: A folder was moved meanwhile.
            OSError: It cannot be read.
        """
        for folder in walk(self._root):
            found = self._folder_problem(folder)
            if found is not None:
                return found
        if any(self._names.values()):
            return N_("a file in {root} has another name elsewhere (hard link)", root=display_path(self._root))
        return None

    def _folder_problem(self, folder: Folder) -> Text | None:
        if folder.too_deep:
            return N_("{path} lies too deep to be kept", path=_shown(f"{self._root}/{folder.path}"))
        if folder.names is None:
            return N_("{path} cannot be read", path=_shown(f"{self._root}/{folder.path}"))
        for name, status in folder.entries():
            path = f"{self._root}/{folder.below(name)}"
            if path in self._closed:
                folder.enter.pop(name, None)
                continue
            found = self._problem(status, path) or self._full()
            if found is not None:
                return found
        return None

    def _problem(self, status: os.stat_result, path: str) -> Text | None:
        kind = kind_of_mode(status.st_mode)
        self._entries += 1
        if status.st_uid != os.geteuid():
            return N_("{path} belongs to another user", path=_shown(path))
        if kind == "special":
            return N_("{path} is a special file (device, pipe or socket)", path=_shown(path))
        if kind in ("file", "dir") and not status.st_mode & stat.S_IRUSR:
            return N_("{path} cannot be read", path=_shown(path))
        if kind == "file":
            self._bytes += status.st_size
            if status.st_nlink > 1:
                self._names[status.st_ino] = self._names.get(status.st_ino, status.st_nlink) - 1
        return None

    def _full(self) -> Text | None:
        shown = display_path(self._root)
        if self._entries > MAX_ENTRIES:
            return N_("{root} holds more than {max} files; that much is not kept for undo", root=shown, max=MAX_ENTRIES)
        if self._bytes > MAX_BYTES or not self._blobs.has_room(self._bytes):
            most = min(MAX_BYTES, self._blobs.free_bytes)
            return N_("{root} holds more than the {max} bytes that can be kept for undo", root=shown, max=most)
        return None


def _shown(path: str) -> str:
    shown = display_path(path)
    return shown if len(shown) <= _SHOWN_CHARS else shown[:_SHOWN_CHARS] + "…"
