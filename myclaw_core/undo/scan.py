"""What is in a folder: an entry for each path, or one digest for all that is new where there is too much to list."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Collection, Container, Iterator, Mapping
from contextlib import suppress
from io import BufferedReader
from typing import Literal

from attrs import field, frozen

from myclaw_core.errors import MyclawError
from myclaw_core.files.handles import open_regular
from myclaw_core.files.resolve import kind_of_mode
from myclaw_core.files.tree import Folder, opened_in, walk, walk_opened
from myclaw_core.messages import N_

__all__ = [
    "MAX_LISTED",
    "MAX_READ_BYTES",
    "UNREADABLE",
    "BoundedDigest",
    "Digest",
    "Entry",
    "Manifest",
    "Scope",
    "TooMuchError",
    "is_shut",
    "is_summed",
    "lies_in",
    "parents_of",
    "scan",
]

MAX_LISTED = 100_000
"""Most entries that are listed one by one."""
MAX_READ_BYTES = 512 << 20
"""Most bytes of files that one look reads."""
UNREADABLE = "unreadable"
"""Stands for the digest of what its own mode keeps from being read."""
_SUM = "new:"
_STAMP = "stamp:"


@frozen(kw_only=True)
class Entry:
    """What is at one path.

    Attributes:
        kind: What is there; `special` is a pipe, socket or device, `closed` a place that is left alone.
        mode: Permission bits of a file or folder.
        sha256: Digest of a file's bytes, or its stamp where they were too many to read; of a folder all in it that is
            new, where that was not listed; or `UNREADABLE`.
        link: Target text of a link.
        stamp: Inode, size, and times of change in ns; while they are the same, so are the bytes.
    """

    kind: Literal["file", "dir", "link", "special", "closed"]
    mode: int = 0
    sha256: str = ""
    link: str = ""
    stamp: tuple[int, ...] = field(default=(), eq=False)


Digest = Callable[[BufferedReader], str]
"""Returns the SHA-256 of an opened file; may keep it as well."""

Manifest = Mapping[str, Entry]
"""Entries by path below the folder; the folder itself is `.`."""


@frozen(kw_only=True)
class Scope:
    """How far a look lists one by one.

    Attributes:
        among: Paths that are listed.
        summed: Whether everything else in a folder (given by its path) is summed up in one digest of names, modes,
            sizes and times; it is passed over otherwise.
    """

    among: Container[str]
    summed: Callable[[str], bool]


class TooMuchError(MyclawError):
    """Raised when a folder holds more, or lies deeper, than can be listed one by one."""


class BoundedDigest:
    """Digests files up to a number of bytes together; from then on a file is told by its inode, size and times.

    Args:
        limit_bytes: That number.
    """

    def __init__(self, limit_bytes: int = MAX_READ_BYTES) -> None:
        self._left_bytes = limit_bytes

    def __call__(self, file: BufferedReader) -> str:
        """Return the SHA-256 of an opened file, or its stamp."""
        status = os.fstat(file.fileno())
        if status.st_size > self._left_bytes:
            return _STAMP + ":".join(map(str, _stamp(status)))
        self._left_bytes -= status.st_size
        return hashlib.file_digest(file, "sha256").hexdigest()


def scan(
    root: str, closed: Collection[str], digest: Digest, known: Manifest | None = None, scope: Scope | None = None
) -> dict[str, Entry]:
    """Return what is in the folder `root`, following no link.

    Args:
        root: Real path.
        closed: Real paths that are not looked into.
        digest: Returns the digest of an opened file.
        known: An earlier look; a file with the same stamp is not read again.
        scope: What is listed; everything where left out.

    Raises:
        OSError: The folder cannot be read.
        EffectChangedError: It was exchanged meanwhile.
        StoreError: `digest` could not keep a file.
        TooMuchError: There is too much to list.
    """
    found: dict[str, Entry] = {}
    for folder in walk(root):
        for path, entry in _entries(root, folder, closed, digest, known or {}, scope):
            found[path] = entry
            if len(found) > MAX_LISTED and scope is None:
                raise TooMuchError(N_("there are more than {n} files", n=MAX_LISTED))
    return found


def is_summed(entry: Entry | None) -> bool:
    """Return whether an entry is a folder in which something new was summed up."""
    return entry is not None and entry.kind == "dir" and entry.sha256.startswith(_SUM)


def is_shut(entry: Entry | None) -> bool:
    """Return whether an entry is a folder that its mode keeps from being looked into."""
    return entry is not None and entry.kind == "dir" and entry.sha256 == UNREADABLE


def lies_in(path: str, folders: Collection[str]) -> bool:
    """Return whether a path of a manifest lies in one of these folders."""
    return bool(folders) and any(parent in folders for parent in parents_of(path))


def parents_of(path: str) -> Iterator[str]:
    """Yield the folders of a manifest that hold `path`, the nearest first."""
    while path != ".":
        path = path.rpartition("/")[0] or "."
        yield path


def _entries(
    root: str, folder: Folder, closed: Collection[str], digest: Digest, known: Manifest, scope: Scope | None
) -> Iterator[tuple[str, Entry]]:
    if folder.too_deep:
        raise TooMuchError(N_("folders lie too deep"))
    if folder.names is None:
        yield folder.path, Entry(kind="dir", mode=folder.mode, sha256=UNREADABLE)
        return
    rest = _Rest(scope is not None and scope.summed(folder.path))
    for name, status in folder.entries():
        below = folder.below(name)
        if f"{root}/{below}" in closed:
            folder.enter.pop(name, None)
            yield below, Entry(kind="closed")
        elif scope is not None and below not in scope.among:
            folder.enter.pop(name, None)
            rest.add(folder.descriptor, name, status)
        elif not stat.S_ISDIR(status.st_mode):
            yield below, _look(folder.descriptor, name, status, digest, known.get(below))
    yield folder.path, Entry(kind="dir", mode=folder.mode, sha256=rest.digest())


class _Rest:
    """Sums up what is not listed of one folder."""

    def __init__(self, wanted: bool) -> None:
        self._sum = hashlib.sha256() if wanted else None
        self._empty = True

    def add(self, folder: int, name: str, status: os.stat_result) -> None:
        if self._sum is None:
            return
        self._empty = False
        self._sum.update(_line(name, status))
        if stat.S_ISDIR(status.st_mode):
            descriptor = opened_in(folder, name)
            try:
                for below in walk_opened(descriptor):
                    self._sum.update(b"%d\n" % len(below.parts))
                    for each in below.entries():
                        self._sum.update(_line(*each))
            finally:
                os.close(descriptor)

    def digest(self) -> str:
        return "" if self._sum is None or self._empty else _SUM + self._sum.hexdigest()


def _line(name: str, status: os.stat_result) -> bytes:
    return f"{name!r} {status.st_mode:o} {_stamp(status)}\n".encode()


def _look(folder: int, name: str, status: os.stat_result, digest: Digest, known: Entry | None) -> Entry:
    """Return what an entry of an opened folder is that is no folder."""
    kind = kind_of_mode(status.st_mode)
    if kind == "link":
        return Entry(kind="link", link=os.readlink(name, dir_fd=folder))
    if kind != "file":
        return Entry(kind="special")
    stamp = _stamp(status)
    mode = stat.S_IMODE(status.st_mode)
    if known is not None and known.kind == "file" and known.stamp == stamp:
        return Entry(kind="file", mode=mode, sha256=known.sha256, stamp=stamp)
    sha256 = UNREADABLE
    with suppress(PermissionError), os.fdopen(open_regular((folder, name)), "rb") as file:
        sha256 = digest(file)
    return Entry(kind="file", mode=mode, sha256=sha256, stamp=stamp)


def _stamp(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
