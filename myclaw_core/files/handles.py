"""Acting on what was judged: folders opened without following a link, and changes made inside them by name.

A *place* is `(folder, name)`: the descriptor of an opened folder and the name of an entry in it. Every function here
takes real absolute paths or places; none follows a link.
"""
# Paths are text here: pathlib would tidy them, and cannot act on descriptors.
# ruff: noqa: PTH101, PTH115, PTH208

from __future__ import annotations

import errno
import itertools
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

from myclaw_core.errors import EffectChangedError
from myclaw_core.files.resolve import PathKind, display_path, kind_of_mode
from myclaw_core.messages import N_
from myclaw_core.process import is_left_behind, temporary_name

__all__ = [
    "Place",
    "kind_at",
    "list_names",
    "make_folder",
    "make_link",
    "open_folder",
    "open_regular",
    "place_of",
    "remove",
    "remove_leftovers",
    "rename",
    "set_mode",
    "status_at",
    "write_file",
]

Place = tuple[int, str]

_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NOT_REGULAR = N_("it is no regular file")
_counter = itertools.count()


@contextmanager
def open_folder(path: str) -> Iterator[int]:
    """Open the folder at the real path `path` name by name from the root and check that it is where it should be.

    Raises:
        EffectChangedError: A name on the way is a link, or the folder was moved meanwhile.
        OSError: The folder does not exist, is none, or may not be entered.
    """
    folder = _descend(path)
    try:
        if os.readlink(f"/proc/self/fd/{folder}") != path:
            raise EffectChangedError(
                N_("{path} was moved while it was opened; nothing was done", path=display_path(path))
            )
        yield folder
    finally:
        os.close(folder)


@contextmanager
def place_of(path: str) -> Iterator[Place]:
    """Open the parent folder of the real path `path`; the entry itself need not exist.

    Raises:
        EffectChangedError: A name on the way is a link, or a folder was moved meanwhile.
        OSError: The parent does not exist, is no folder, or may not be entered.
    """
    parent, name = os.path.split(path)
    if not name:
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), path)
    with open_folder(parent) as folder:
        yield folder, name


def status_at(place: Place) -> os.stat_result | None:
    """Return the status of an entry, `None` where there is none."""
    folder, name = place
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def kind_at(place: Place) -> PathKind:
    """Return what is at a place."""
    status = status_at(place)
    return kind_of_mode(status.st_mode) if status else "absent"


def open_regular(place: Place) -> int:
    """Open a regular file for reading and return its descriptor; a pipe or device is refused and never waited for.

    Raises:
        EffectChangedError: A link is there.
        OSError: It is no regular file (`EISDIR` for a folder, `EINVAL` for a special file), or may not be read.
    """
    folder, name = place
    kind = kind_at(place)
    if kind == "link":
        raise EffectChangedError(N_("'{name}' is now a link; nothing was read", name=name))
    _require_regular(kind, name)
    descriptor = os.open(name, _READ, dir_fd=folder)
    try:
        _require_regular(kind_of_mode(os.fstat(descriptor).st_mode), name)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def list_names(folder: int) -> list[str]:
    """Return the names in an opened folder, sorted."""
    listing = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    try:
        return sorted(os.listdir(listing))
    finally:
        os.close(listing)


def write_file(place: Place, chunks: Iterable[bytes], mode: int) -> None:
    """Put a file with the bytes of `chunks` at a place in one step; the owner of a replaced file is kept.

    Raises:
        OSError: It cannot be written; the place is as it was.
    """

    def fill(temporary: str) -> None:
        old = status_at(place)
        descriptor = os.open(temporary, _NEW, 0o600, dir_fd=place[0])
        with os.fdopen(descriptor, "wb") as file:
            for chunk in chunks:
                file.write(chunk)
            file.flush()
            if old and stat.S_ISREG(old.st_mode) and (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
                with suppress(PermissionError):
                    os.fchown(descriptor, old.st_uid, old.st_gid)
            os.fchmod(descriptor, mode)
            os.fsync(descriptor)

    _swap_in(place, fill, os.unlink)


def make_folder(place: Place, mode: int) -> None:
    """Make an empty folder with exactly `mode` in one step; the place must be empty."""

    def fill(temporary: str) -> None:
        os.mkdir(temporary, 0o700, dir_fd=place[0])
        set_mode((place[0], temporary), mode)

    _swap_in(place, fill, os.rmdir)


def make_link(place: Place, target: str) -> None:
    """Put a symbolic link with the text `target` at a place in one step."""
    _swap_in(place, lambda temporary: os.symlink(target, temporary, dir_fd=place[0]), os.unlink)


def set_mode(place: Place, mode: int) -> None:
    """Set the permission bits of a folder."""
    entry = os.open(place[1], _FOLDER, dir_fd=place[0])
    try:
        os.chmod(f"/proc/self/fd/{entry}", mode)
    finally:
        os.close(entry)


def remove(place: Place) -> None:
    """Remove a file, link, special file or empty folder."""
    folder, name = place
    (os.rmdir if kind_at(place) == "dir" else os.unlink)(name, dir_fd=folder)
    _sync(folder)


def remove_leftovers(paths: Iterable[str]) -> None:
    """Remove, beside each of these paths, what a process that died was about to put there; what cannot go stays."""
    for parent in {os.path.dirname(path) for path in paths}:  # noqa: PTH120
        with suppress(OSError, EffectChangedError), open_folder(parent) as folder:
            for name in filter(is_left_behind, list_names(folder)):
                with suppress(OSError):
                    remove((folder, name))


def rename(source: Place, place: Place) -> None:
    """Rename an entry; a file at `place` is replaced."""
    os.rename(source[1], place[1], src_dir_fd=source[0], dst_dir_fd=place[0])
    _sync(place[0])
    _sync(source[0])


def _descend(path: str) -> int:
    folder = os.open("/", _FOLDER)
    for name in filter(None, path.split("/")):
        try:
            below = os.open(name, _FOLDER, dir_fd=folder)
        except NotADirectoryError:
            if kind_at((folder, name)) == "link":
                problem = N_(
                    "'{name}' in {folder} is now a link; nothing was done", name=name, folder=display_path(path)
                )
                raise EffectChangedError(problem) from None
            raise
        finally:
            os.close(folder)
        folder = below
    return folder


def _require_regular(kind: PathKind, name: str) -> None:
    if kind == "absent":
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    if kind == "dir":
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    if kind != "file":
        raise OSError(errno.EINVAL, str(_NOT_REGULAR), name)


def _swap_in(place: Place, fill: Callable[[str], None], discard: Callable[..., None]) -> None:
    """Make something under a name of our own beside the place and rename it there."""
    folder, name = place
    temporary = _free_name(folder)
    try:
        fill(temporary)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            discard(temporary, dir_fd=folder)
        raise
    _sync(folder)


def _free_name(folder: int) -> str:
    while True:
        name = temporary_name(next(_counter))
        if kind_at((folder, name)) == "absent":
            return name


def _sync(folder: int) -> None:
    """Make the entries of a folder durable; one that may not be listed cannot be synced and is left to the kernel."""
    try:
        listing = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    except PermissionError:
        return
    try:
        os.fsync(listing)
    finally:
        os.close(listing)
