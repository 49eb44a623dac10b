"""The bytes that undo needs, kept once each under their digest."""

from __future__ import annotations

import hashlib
import io
import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from myclaw_core.clock import Clock
from myclaw_core.errors import StoreError
from myclaw_core.messages import N_
from myclaw_core.process import temporary_name
from myclaw_core.undo.keep import blob_files, blob_path, held

__all__ = ["BlobStore"]

_CHUNK_BYTES = 1 << 20


class BlobStore:
    """A content-addressed store: `<first two digits>/<other digits>` of the SHA-256, for the owner only.

    A blob that is put bears that moment as its time, also where it was there already: `dropping` takes old ones only.

    Args:
        root: Its folder; made when the first blob is put.
        cap_bytes: Most bytes it holds; a blob that would pass the cap is refused.
        clock: Time.
        make_room: Drops what nobody needs any more; called from a thread where the cap would be passed.
    """

    def __init__(
        self, root: Path, cap_bytes: int, clock: Clock, *, make_room: Callable[[], None] = lambda: None
    ) -> None:
        self._root = root
        self._cap_bytes = cap_bytes
        self._clock = clock
        self._make_room = make_room
        self._total: int | None = None
        self._counter = itertools.count()

    @property
    def free_bytes(self) -> int:
        """Return how many bytes still fit under the cap."""
        return max(0, self._cap_bytes - self.total_bytes())

    def has_room(self, more_bytes: int) -> bool:
        """Return whether so many bytes fit under the cap; room is made first where they do not."""
        if more_bytes > self.free_bytes and more_bytes <= self._cap_bytes:
            self._total = None  # another process may have dropped some
            if more_bytes > self.free_bytes:
                self._make_room()
                self._total = None
        return more_bytes <= self.free_bytes

    def total_bytes(self) -> int:
        """Return the bytes of all blobs; they are counted once and kept account of from then on."""
        if self._total is None:
            self._total = sum(_size_of(file) for file in blob_files(self._root))
        return self._total

    def put(self, data: bytes) -> str:
        """Keep `data` and return its SHA-256.

        Raises:
            StoreError: It would pass the cap, or cannot be written.
        """
        return self.put_file(io.BytesIO(data))

    def put_file(self, file: BinaryIO, *, durable: bool = True) -> str:
        """Keep the rest of an opened file and return the SHA-256 of exactly the bytes that were kept.

        Args:
            file: An opened file.
            durable: Whether the bytes survive a power cut from now on; else only after `flush`, which is far quicker
                for many small files.

        Raises:
            StoreError: It would pass the cap, or it cannot be written; nothing is kept then.
        """
        temporary = self._root / temporary_name(next(self._counter))
        try:
            self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
            sha, size_bytes = self._copy(file, temporary, durable=durable)
            self._keep(temporary, sha, size_bytes, durable=durable)
        except OSError as error:
            raise StoreError(
                N_("cannot keep bytes for undo in {folder}: {reason}", folder=str(self._root), reason=_reason(error))
            ) from error
        finally:
            with suppress(OSError):
                temporary.unlink()
        return sha

    def flush(self) -> None:
        """Make everything that was kept so far survive a power cut.

        Raises:
            StoreError: The disk refused.
        """
        import ctypes

        libc = ctypes.CDLL(None, use_errno=True)
        descriptor = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if libc.syncfs(descriptor) != 0:
                reason = os.strerror(ctypes.get_errno())
                raise StoreError(
                    N_(
                        "cannot make the bytes for undo in {folder} durable: {reason}",
                        folder=str(self._root),
                        reason=reason,
                    )
                )
        finally:
            os.close(descriptor)

    def get(self, sha: str) -> bytes:
        """Return the bytes of a blob.

        Raises:
            StoreError: The blob is gone or damaged.
        """
        return b"".join(self.chunks(sha))

    def chunks(self, sha: str) -> Iterator[bytes]:
        """Yield the bytes of a blob; damage is found at the end, so use them only once all were read.

        Raises:
            StoreError: The blob is gone or damaged.
        """
        digest = hashlib.sha256()
        try:
            with self._path(sha).open("rb") as file:
                while chunk := file.read(_CHUNK_BYTES):
                    digest.update(chunk)
                    yield chunk
        except OSError as error:
            text = N_("the bytes {sha} kept for undo cannot be read: {reason}", sha=sha[:12], reason=_reason(error))
            raise StoreError(text) from error
        if digest.hexdigest() != sha:
            raise StoreError(N_("the bytes {sha} kept for undo are damaged", sha=sha[:12]))

    def check(self, sha: str) -> None:
        """Read a blob through.

        Raises:
            StoreError: The blob is gone or damaged.
        """
        for _ in self.chunks(sha):
            pass

    def hold(self, sha: str) -> None:
        """Read a blob through and make it young again: it is not dropped while it is being used.

        Raises:
            StoreError: The blob is gone or damaged.
        """
        self.check(sha)
        with suppress(OSError), held(self._root):
            self._touch(self._path(sha))

    def _path(self, sha: str) -> Path:
        return blob_path(self._root, sha)

    def _touch(self, path: Path) -> None:
        at_s = self._clock.now().timestamp()
        os.utime(path, (at_s, at_s))

    def _copy(self, file: BinaryIO, temporary: Path, *, durable: bool) -> tuple[str, int]:
        """Copy a file to `temporary`, stopping at the cap, and return its digest and size."""
        digest, size_bytes = hashlib.sha256(), 0
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as copy:
            while chunk := file.read(_CHUNK_BYTES):
                size_bytes += len(chunk)
                if size_bytes > self._cap_bytes:
                    raise self._full(size_bytes)
                digest.update(chunk)
                copy.write(chunk)
            copy.flush()
            if durable:
                os.fsync(descriptor)
        return digest.hexdigest(), size_bytes

    def _keep(self, temporary: Path, sha: str, size_bytes: int, *, durable: bool) -> None:
        """Move a copy to its name; a blob that is there and sound stays, a damaged one is replaced."""
        path = self._path(sha)
        sound = self._is_sound(sha)
        old_bytes = _size_of(path)
        if not sound and not self.has_room(size_bytes - old_bytes):
            raise self._full(size_bytes)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        self._touch(temporary)
        with held(self._root):
            if sound and path.exists():
                self._touch(path)
                return
            temporary.replace(path)
        for folder in (path.parent, self._root) if durable else ():
            _sync(folder)
        self._total = self.total_bytes() - old_bytes + size_bytes

    def _is_sound(self, sha: str) -> bool:
        with suppress(StoreError):
            self.check(sha)
            return True
        return False

    def _full(self, size_bytes: int) -> StoreError:
        return StoreError(
            N_(
                "the undo store would pass its cap of {cap} bytes with {more} bytes more; "
                "older records free their space after their time, or raise the cap",
                cap=self._cap_bytes,
                more=size_bytes,
            )
        )


def _size_of(file: Path) -> int:
    """Return the size of a file, 0 where another process has just dropped it."""
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
