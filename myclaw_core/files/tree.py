"""Walking a folder by descriptors: any depth, no link followed, and never by a path that is too long to open."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import PurePosixPath

from attrs import define, field

from myclaw_core.errors import EffectChangedError
from myclaw_core.files.handles import Place, open_folder, remove
from myclaw_core.messages import N_

__all__ = ["MAX_FOLDER_BYTES", "Folder", "opened_in", "remove_tree", "walk", "walk_opened"]

MAX_FOLDER_BYTES = 4000
"""Longest path of a folder, in bytes, that can be opened by its path: the kernel takes 4095 and a name needs room."""

_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

Leave = Callable[[int, str], None]
"""Is called with a folder's descriptor and the name of the folder in it that the walk has just left."""


@define(eq=False)
class Folder:
    """One folder of a walk; valid until the walk goes on.

    Attributes:
        descriptor: The opened folder.
        name: Its own name.
        parts: The names that lead to it from where the walk began.
        path_bytes: Length of its path from the root of the disk.
        status: What it was when it was opened.
        names: What is in it, sorted; `None` where its mode keeps from looking.
        enter: Names of the folders in it where the walk goes next; take out those it is to leave alone.
        opened: Whether its mode was widened for as long as the walk is in it.
    """

    descriptor: int
    name: str
    parts: Sequence[str]
    path_bytes: int
    status: os.stat_result
    names: list[str] | None
    enter: dict[str, None] = field(factory=dict)
    opened: bool = False

    @property
    def path(self) -> str:
        """Return its path from where the walk began, which is `.` itself."""
        return "/".join(self.parts) or "."

    @property
    def mode(self) -> int:
        """Return its permission bits."""
        return stat.S_IMODE(self.status.st_mode)

    @property
    def too_deep(self) -> bool:
        """Return whether its path is too long to open it by."""
        return self.path_bytes > MAX_FOLDER_BYTES

    def below(self, name: str) -> str:
        """Return the path of an entry from where the walk began."""
        return "/".join((*self.parts, name))

    def entries(self) -> Iterator[tuple[str, os.stat_result]]:
        """Yield name and status of what is in it, as far as it is still there."""
        for name in self.names or ():
            with suppress(FileNotFoundError):
                yield name, os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)


def walk(root: str, *, opening: bool = False) -> Iterator[Folder]:
    """Yield the folder at the real path `root` and every folder beneath it, each before what it holds.

    Args:
        root: Real path.
        opening: Whether the owner lets itself into folders that their mode shuts, and gives the modes back after.

    Raises:
        EffectChangedError: A folder was moved meanwhile.
        OSError: `root` cannot be opened.
    """
    with open_folder(root) as top:
        yield from walk_opened(top, PurePosixPath(root).name, len(os.fsencode(root)), opening=opening)


def walk_opened(
    top: int, name: str = "", path_bytes: int = 0, *, opening: bool = False, leave: Leave | None = None
) -> Iterator[Folder]:
    """Walk as `walk` does, from an opened folder on.

    Args:
        top: Descriptor of the folder.
        name: Its name.
        path_bytes: Length of its path.
        opening: As in `walk`.
        leave: Is told of each folder beneath once all in it was seen.
    """
    return _Walk(opening=opening, leave=leave).folders(os.dup(top), name, path_bytes)


def opened_in(folder: int, name: str) -> int:
    """Open a folder inside an opened folder and return its descriptor.

    Raises:
        OSError: It is gone, or no folder any more.
    """
    return os.open(name, _FOLDER, dir_fd=folder)


def remove_tree(place: Place) -> None:
    """Remove a folder with everything in it, whatever its depth and its modes.

    Raises:
        OSError: Something in it cannot be removed.
    """
    top = opened_in(*place)
    try:
        for folder in walk_opened(top, opening=True, leave=lambda above, name: os.rmdir(name, dir_fd=above)):
            for name in set(folder.names or ()) - folder.enter.keys():
                os.unlink(name, dir_fd=folder.descriptor)
    finally:
        os.close(top)
    remove(place)


@define
class _Walk:
    """The way from where a walk began to where it is; only the folder it is in stays open."""

    opening: bool
    leave: Leave | None
    trail: list[Folder] = field(factory=list)
    parts: list[str] = field(factory=list)

    def folders(self, top: int, name: str, path_bytes: int) -> Iterator[Folder]:
        self.trail.append(self._seen(top, name, path_bytes))
        try:
            yield self.trail[-1]
            while self.trail:
                if not self.trail[-1].enter:
                    self._go_up()
                elif self._go_down():
                    yield self.trail[-1]
        finally:
            for folder in self.trail:
                if folder.descriptor >= 0:
                    os.close(folder.descriptor)

    def _go_down(self) -> bool:
        """Go into the next folder, unless it was removed or replaced since it was listed."""
        above = self.trail[-1]
        name, _ = above.enter.popitem()
        try:
            descriptor = opened_in(above.descriptor, name)
        except (FileNotFoundError, NotADirectoryError):
            return False
        self.parts.append(name)
        self.trail.append(self._seen(descriptor, name, above.path_bytes + 1 + len(os.fsencode(name))))
        if self.trail[-1].names is not None:
            os.close(above.descriptor)
            above.descriptor = -1
        return True

    def _go_up(self) -> None:
        left = self.trail.pop()
        above = self.trail[-1] if self.trail else None
        try:
            if above is not None and above.descriptor < 0:
                above.descriptor = _parent_of(left, above)
            if left.opened:
                _chmod(left.descriptor, left.mode)
        finally:
            os.close(left.descriptor)
        if above is not None:
            self.parts.pop()
            if self.leave is not None:
                self.leave(above.descriptor, left.name)

    def _seen(self, descriptor: int, name: str, path_bytes: int) -> Folder:
        try:
            status = os.fstat(descriptor)
            shut = self.opening and status.st_mode & stat.S_IRWXU != stat.S_IRWXU
            opened = shut and _chmod(descriptor, stat.S_IMODE(status.st_mode) | stat.S_IRWXU)
            listed = _listed(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        names = None if listed is None else [entry for entry, _ in listed]
        enter = {entry: None for entry, is_folder in listed or () if is_folder}
        return Folder(descriptor, name, self.parts, path_bytes, status, names, enter, opened)


def _listed(descriptor: int) -> list[tuple[str, bool]] | None:
    """Return the names in a folder, sorted, each with whether it is a folder."""
    try:
        listing = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=descriptor)
    except PermissionError:
        return None
    try:
        with os.scandir(listing) as entries:
            return sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries)
    finally:
        os.close(listing)


def _parent_of(folder: Folder, expected: Folder) -> int:
    parent = os.open("..", _FOLDER, dir_fd=folder.descriptor)
    status = os.fstat(parent)
    if (status.st_dev, status.st_ino) != (expected.status.st_dev, expected.status.st_ino):
        os.close(parent)
        raise EffectChangedError(N_("the folder {name} was moved while it was looked at", name=folder.name))
    return parent


def _chmod(descriptor: int, mode: int) -> bool:
    with suppress(PermissionError):
        os.chmod(f"/proc/self/fd/{descriptor}", mode)  # noqa: PTH101 - a descriptor, no path
        return True
    return False
