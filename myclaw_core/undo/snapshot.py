"""A whole folder kept before a command runs in it: every file, mode and link, the bytes once each in the blob store."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection

from myclaw_core.errors import MyclawError, StoreError, ToolFailure
from myclaw_core.files.failures import os_errors, reason_of
from myclaw_core.messages import N_
from myclaw_core.types.text import Text
from myclaw_core.undo.blobs import BlobStore
from myclaw_core.undo.scan import BoundedDigest, Entry, Manifest, Scope, TooMuchError, scan
from myclaw_core.undo.survey import Survey

__all__ = ["Closed", "Snapshots", "closed_in"]

Closed = Callable[[str], Collection[str]]
"""Returns the places beneath a folder that are left alone: neither kept nor restored."""


class Snapshots:
    """Takes snapshots and reads them back.

    Args:
        blobs: Where bytes and manifests are kept.
        closed: What is left out; the snapshot says so itself, for what comes after it.
    """

    def __init__(self, blobs: BlobStore, closed: Closed) -> None:
        self.blobs = blobs
        self.closed = closed

    def obstacle(self, root: str) -> Text | None:
        """Return why a change of the folder `root` could not be undone, or `None`: a look that reads no content."""
        try:
            return Survey(root, self.closed(root), self.blobs).obstacle()
        except OSError as error:
            return reason_of(error, root)
        except MyclawError as error:
            return error.text

    def take(self, root: str) -> str:
        """Keep everything in the folder `root` and return the digest of its manifest.

        Raises:
            ToolFailure: Something cannot be kept.
            EffectChangedError: A folder was exchanged meanwhile.
            TooMuchError: It grew meanwhile.
            StoreError: The bytes cannot be kept.
        """
        obstacle = self.obstacle(root)
        if obstacle is not None:
            raise ToolFailure(obstacle)
        with os_errors(root):
            manifest = scan(root, self.closed(root), lambda file: self.blobs.put_file(file, durable=False))
        digest = self._put(manifest)
        self.blobs.flush()
        return digest

    def note(self, root: str, before: str) -> str:
        """Note the state of the folder `root` without its bytes, and return the digest of that manifest.

        However much a command left, only so much is read and listed: what is more is told by its times and sizes, and
        where there are too many new files or folders lie too deep, those of each folder are summed up.

        Args:
            before: Digest of an earlier manifest; what has not changed since is not read again.

        Raises:
            ToolFailure: The folder cannot be read.
            StoreError: The manifest cannot be read or kept.
        """
        with os_errors(root):
            known = self.manifest(before)
            closed = {*closed_in(root, known), *self.closed(root)}
            try:
                manifest = scan(root, closed, BoundedDigest(), known)
            except TooMuchError:
                manifest = scan(root, closed, BoundedDigest(), known, Scope(among=known, summed=lambda _path: True))
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
            raise StoreError(
                N_("the snapshot {digest} cannot be read; nothing was changed", digest=digest[:12])
            ) from error

    def _put(self, manifest: Manifest) -> str:
        listed = {path: [e.kind, e.mode, e.sha256, e.link, e.stamp] for path, e in manifest.items()}
        return self.blobs.put(json.dumps(listed, separators=(",", ":")).encode())


def closed_in(root: str, manifest: Manifest) -> set[str]:
    """Return the real paths that a snapshot of the folder `root` left out."""
    return {f"{root}/{path}" for path, entry in manifest.items() if entry.kind == "closed"}


def _entry(values: list[object]) -> Entry:
    kind, mode, sha256, link, stamp = values
    return Entry(kind=kind, mode=mode, sha256=sha256, link=link, stamp=tuple(stamp))  # type: ignore[arg-type]
