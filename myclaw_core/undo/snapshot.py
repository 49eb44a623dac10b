"""A whole folder kept before a command runs in it: every file, mode and link, the bytes once each in the blob store."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from io import BufferedReader
from typing import Literal

from attrs import field, frozen

from myclaw_core.errors import MyclawError, StoreError, ToolFailure
from myclaw_core.files.failures import os_errors, reason_of
from myclaw_core.files.handles import list_names, open_folder, open_regular
from myclaw_core.files.resolve import display_path, kind_of_mode
from myclaw_core.types.text import Text
from myclaw_core.undo.blobs import BlobStore

__all__ = ["MAX_BYTES", "MAX_ENTRIES", "UNREADABLE", "Closed", "Entry", "Manifest", "Snapshots", "digest_of", "scan"]

MAX_ENTRIES = 20_000
"""Most files and folders of a folder that can be kept."""
MAX_BYTES = 512 << 20
"""Most bytes of a folder that can be kept."""
UNREADABLE = "unreadable"
"""Stands for the digest of what its own mode keeps from being read."""

Closed = Callable[[str], Collection[str]]
"""Returns the places beneath a folder that no command can change; they are neither kept nor restored."""


@frozen(kw_only=True)
class Entry:
    """What is at one path.

    Attributes:
        kind: What is there; `special` is a pipe, socket or device.
        mode: Permission bits of a file or folder.
        sha256: Digest of a file's bytes, or `UNREADABLE`.
        link: Target text of a link.
        stamp: Inode, size, and times of change in ns; while they are the same, so are the bytes.
    """

    kind: Literal["file", "dir", "link", "special"]
    mode: int = 0
    sha256: str = ""
    link: str = ""
    stamp: tuple[int, ...] = field(default=(), eq=False)


Digest = Callable[[BufferedReader], str]
"""Returns the SHA-256 of an opened file; may keep it as well."""

Manifest = Mapping[str, Entry]
"""Entries by path below the folder; the folder itself is `.`."""


class Snapshots:
    """Takes snapshots and reads them back.

    Args:
        blobs: Where bytes and manifests are kept.
        closed: What is left out.
    """

    def __init__(self, blobs: BlobStore, closed: Closed) -> None:
        self.blobs = blobs
        self.closed = closed

    def obstacle(self, root: str) -> Text | None:
        """Return why a change of the folder `root` could not be undone, or `None`: a look that reads no content."""
        try:
            found = _Survey(root, self.closed(root), self.blobs.free_bytes).obstacle()
        except OSError as error:
            return Text("{reason}", {"reason": reason_of(error, root)})
        except MyclawError as error:
            return Text("{reason}", {"reason": str(error)})
        return found

    def take(self, root: str) -> str:
        """Keep everything in the folder `root` and return the digest of its manifest.

        Raises:
            ToolFailure: Something cannot be kept.
            EffectChangedError: A folder was exchanged meanwhile.
            StoreError: The bytes cannot be kept.
        """
        obstacle = self.obstacle(root)
        if obstacle is not None:
            raise ToolFailure(str(obstacle))
        with os_errors(root):
            manifest = scan(root, self.closed(root), lambda file: self.blobs.put_file(file, durable=False))
        digest = self._put(manifest)
        self.blobs.flush()
        return digest

    def note(self, root: str, before: str) -> str:
        """Note the state of the folder `root` without its bytes, and return the digest of that manifest.

        Args:
            before: Digest of an earlier manifest; what has not changed since is not read again.

        Raises:
            ToolFailure: The folder cannot be read.
            StoreError: The manifest cannot be read or kept.
        """
        with os_errors(root):
            manifest = scan(root, self.closed(root), digest_of, self.manifest(before))
        return self._put(manifest)

    def manifest(self, digest: str) -> Manifest:
        """Return a kept manifest.

        Raises:
            StoreError: It is gone or damaged.
        """
        raw = self.blobs.get(digest)
        try:
            return {path: _entry(values) for path, values in json.loads(raw).items()}
        except (ValueError, TypeError) as error:
            raise StoreError(f"the snapshot {digest[:12]} cannot be read; nothing was changed") from error

    def _put(self, manifest: Manifest) -> str:
        listed = {path: [e.kind, e.mode, e.sha256, e.link, e.stamp] for path, e in manifest.items()}
        return self.blobs.put(json.dumps(listed, separators=(",", ":")).encode())


def scan(root: str, closed: Collection[str], digest: Digest, known: Manifest | None = None) -> dict[str, Entry]:
    """Return what is in the folder `root`, following no link.

    Args:
        root: Real path.
        closed: Real paths that are left out.
        digest: Returns the digest of an opened file.
        known: An earlier look; a file with the same stamp is not read again.

    Raises:
        OSError: The folder cannot be read.
        EffectChangedError: It was exchanged meanwhile.
        StoreError: `digest` could not keep a file.
    """
    return dict(_entries(root, closed, digest, known or {}))


def digest_of(file: BufferedReader) -> str:
    """Return the SHA-256 of the rest of an opened file."""
    return hashlib.file_digest(file, "sha256").hexdigest()


def _entries(root: str, closed: Collection[str], digest: Digest, known: Manifest) -> Iterator[tuple[str, Entry]]:
    todo = ["."]
    while todo:
        relative = todo.pop()
        path = root if relative == "." else f"{root}/{relative}"
        try:
            with open_folder(path) as folder:
                mode = stat.S_IMODE(os.fstat(folder).st_mode)
                try:
                    names = list_names(folder)
                except PermissionError:
                    yield relative, Entry(kind="dir", mode=mode, sha256=UNREADABLE)
                    continue
                yield relative, Entry(kind="dir", mode=mode)
                for name in names:
                    below = name if relative == "." else f"{relative}/{name}"
                    if f"{root}/{below}" in closed:
                        continue
                    entry = _look(folder, name, digest, known.get(below))
                    if entry is None:
                        todo.append(below)
                    else:
                        yield below, entry
        except FileNotFoundError:
            if relative == ".":
                raise


def _look(folder: int, name: str, digest: Digest, known: Entry | None) -> Entry | None:
    """Return what an entry of an opened folder is, `None` for a folder."""
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    kind = kind_of_mode(status.st_mode)
    if kind == "dir":
        return None
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


def _entry(values: list[object]) -> Entry:
    kind, mode, sha256, link, stamp = values
    return Entry(kind=kind, mode=mode, sha256=sha256, link=link, stamp=tuple(stamp))  # type: ignore[arg-type]


class _Survey:
    """One look at a folder: whether all of it can be kept."""

    def __init__(self, root: str, closed: Collection[str], free_bytes: int) -> None:
        self._root = root
        self._closed = closed
        self._room_bytes = min(MAX_BYTES, free_bytes)
        self._entries = 0
        self._bytes = 0
        self._names: dict[int, int] = {}

    def obstacle(self) -> Text | None:
        todo = [self._root]
        while todo:
            path = todo.pop()
            with open_folder(path) as folder:
                for name in list_names(folder):
                    below = f"{path}/{name}"
                    if below in self._closed:
                        continue
                    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                    found = self._problem(status, below) or self._full()
                    if found is not None:
                        return found
                    if stat.S_ISDIR(status.st_mode):
                        todo.append(below)
        if any(self._names.values()):
            return Text("a file in {root} has another name elsewhere (hard link)", {"root": display_path(self._root)})
        return None

    def _problem(self, status: os.stat_result, path: str) -> Text | None:
        kind = kind_of_mode(status.st_mode)
        name = {"path": display_path(path)}
        self._entries += 1
        if status.st_uid != os.geteuid():
            return Text("{path} belongs to another user", name)
        if kind == "special":
            return Text("{path} is a special file (device, pipe or socket)", name)
        if kind in ("file", "dir") and not status.st_mode & stat.S_IRUSR:
            return Text("{path} cannot be read", name)
        if kind == "file":
            self._bytes += status.st_size
            if status.st_nlink > 1:
                self._names[status.st_ino] = self._names.get(status.st_ino, status.st_nlink) - 1
        return None

    def _full(self) -> Text | None:
        if self._entries > MAX_ENTRIES:
            return Text(
                "{root} holds more than {max} files; that much is not kept for undo",
                {"root": display_path(self._root), "max": MAX_ENTRIES},
            )
        if self._bytes > self._room_bytes:
            return Text(
                "{root} holds more than the {max} bytes that can be kept for undo",
                {"root": display_path(self._root), "max": self._room_bytes},
            )
        return None
