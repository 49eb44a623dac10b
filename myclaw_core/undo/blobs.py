"""The bytes that undo needs, kept once each under their digest."""

from __future__ import annotations

import hashlib
import io
import itertools
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from myclaw_core.errors import StoreError
from myclaw_core.messages import N_

__all__ = ["BlobStore"]

_SHA256 = re.compile(r"[0-9a-f]{64}")
_CHUNK_BYTES = 1 << 20


class BlobStore:
    """A content-addressed store: `<first two digits>/<other digits>` of the SHA-256, for the owner only.

    Args:
        root: Its folder; made when the first blob is put.
        cap_bytes: Most bytes it holds; a blob that would pass the cap is refused.
    """

    def __init__(self, root: Path, cap_bytes: int) -> None:
        self._root = root
        self._cap_bytes = cap_bytes
        self._total: int | None = None
        self._counter = itertools.count()

    @property
    def free_bytes(self) -> int:
        """Return how many bytes still fit under the cap."""
        return max(0, self._cap_bytes - self.total_bytes())

    def total_bytes(self) -> int:
        """Return the bytes of all blobs; they are counted once and kept account of from then on."""
        if self._total is None:
            self._total = sum(file.stat().st_size for file in self._files())
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
        temporary = self._root / f".{os.getpid()}-{next(self._counter)}.tmp"
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

    def drop(self, shas: Iterable[str]) -> None:
        """Remove blobs; one that is not there is left out.

        The caller names only blobs that no record still in force refers to.

        Raises:
            StoreError: A blob cannot be removed.
        """
        for sha in shas:
            path = self._path(sha)
            try:
                size_bytes = path.stat().st_size
                path.unlink()
            except FileNotFoundError:
                continue
            except OSError as error:
                text = N_("cannot remove bytes kept for undo: {path}: {reason}", path=str(path), reason=_reason(error))
                raise StoreError(text) from error
            if self._total is not None:
                self._total -= size_bytes

    def _path(self, sha: str) -> Path:
        if not _SHA256.fullmatch(sha):
            raise StoreError(N_("'{sha}' is not the name of bytes kept for undo", sha=sha[:80]))
        return self._root / sha[:2] / sha[2:]

    def _files(self) -> Iterator[Path]:
        return (file for file in self._root.glob("??/*") if _SHA256.fullmatch(file.parent.name + file.name))

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
        if path.exists():
            with suppress(StoreError):
                self.check(sha)
                return
        old_bytes = path.stat().st_size if path.exists() else 0
        total_bytes = self.total_bytes() - old_bytes + size_bytes
        if total_bytes > self._cap_bytes:
            raise self._full(size_bytes)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        temporary.replace(path)
        for folder in (path.parent, self._root) if durable else ():
            _sync(folder)
        self._total = total_bytes

    def _full(self, size_bytes: int) -> StoreError:
        return StoreError(
            N_(
                "the undo store would pass its cap of {cap} bytes with {more} bytes more; "
                "older records free their space after their time, or raise the cap",
                cap=self._cap_bytes,
                more=size_bytes,
            )
        )


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
