"""The files of an installed plugin and one digest over them: what a person agrees to.

It covers what the distribution's RECORD lists and every file in the package folder that would be imported, so it also
sees a file that was added, and the sources of an editable install. Python's own `__pycache__` is left out: whoever can
write there can change any program of this environment.
"""

from __future__ import annotations

import csv
import hashlib
import os
import stat
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Sequence
from importlib.metadata import Distribution
from pathlib import Path, PurePosixPath

from attrs import frozen

from myclaw_core.messages import N_
from myclaw_core.plugins.contain import PluginError, one_line
from myclaw_core.types.text import Text

__all__ = ["Fingerprint", "fingerprint"]

_CACHE = "__pycache__"
_CHUNK_BYTES = 1 << 20


@frozen(kw_only=True)
class Fingerprint:
    """What is installed, in one value.

    Attributes:
        digest: SHA-256 over the names and contents of all files, as hex.
        files: How many they are.
        problem: The first file that is not what the RECORD says, or `None`.
    """

    digest: str
    files: int
    problem: Text | None = None


def fingerprint(distribution: Distribution, folders: Sequence[str]) -> Fingerprint:
    """Return the fingerprint of an installed distribution; nothing of it is run.

    Args:
        distribution: Its metadata.
        folders: The folders of its package, as an import would find them.

    Raises:
        PluginError: Its RECORD cannot be read.
    """
    found = [*_recorded(distribution), *_in_package(folders)]
    text = "\n".join(sorted(f"{each.source} {each.sha256} {each.name}" for each in found))
    return Fingerprint(
        digest=hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest(),
        files=len({each.name for each in found}),
        problem=next((each.problem for each in found if each.problem), None),
    )


@frozen
class _File:
    source: str
    name: str
    sha256: str
    problem: Text | None


def _recorded(distribution: Distribution) -> Iterator[_File]:
    """Yield each file that the RECORD lists."""
    for name, expected in _rows(distribution):
        if _CACHE in PurePosixPath(name).parts:
            continue
        found = _sha256(Path(str(distribution.locate_file(name))))
        yield _File("record", name, found.hex() if found else "-", _difference(name, expected, found))


def _rows(distribution: Distribution) -> list[tuple[str, str]]:
    """Return name and hash of each row of the RECORD."""
    try:
        rows = list(csv.reader((distribution.read_text("RECORD") or "").splitlines()))
    except (OSError, ValueError, csv.Error) as error:
        problem = N_("its RECORD cannot be read: {error}", error=one_line(error))
        raise PluginError(problem, N_("install it again")) from error
    return [(row[0], (*row, "")[1]) for row in rows if row]


def _difference(name: str, expected: str, found: bytes | None) -> Text | None:
    if found is None:
        return N_("{file} is missing or not a file", file=name)
    kind, _, value = expected.partition("=")
    if not expected:
        return None  # RECORD itself
    if kind != "sha256":
        return N_("{file} is recorded with {kind}, not with sha256", file=name, kind=kind)
    same = urlsafe_b64encode(found).decode().rstrip("=") == value.rstrip("=")
    return None if same else N_("{file} is not the file that was installed", file=name)


def _in_package(folders: Sequence[str]) -> Iterator[_File]:
    """Yield each file that lies in the package."""
    for folder in map(Path, folders):
        for path in sorted(_walk(folder)):
            name = f"{folder.name}/{path.relative_to(folder).as_posix()}"
            found = _sha256(path)
            problem = (
                None if found else N_("{file} is not a file; a plugin may hold plain files and folders only", file=name)
            )
            yield _File("package", name, found.hex() if found else "-", problem)


def _walk(folder: Path) -> Iterator[Path]:
    """Yield files, and links to folders: code behind such a link would not be seen."""
    for root, names, files in os.walk(folder):
        names[:] = [name for name in names if name != _CACHE]
        yield from (Path(root) / name for name in files)
        yield from (Path(root) / name for name in names if (Path(root) / name).is_symlink())


def _sha256(path: Path) -> bytes | None:
    """Return the digest of a regular file, or `None` for anything else; a pipe or device is never waited for."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            return _content(handle) if stat.S_ISREG(os.fstat(handle).st_mode) else None
        finally:
            os.close(handle)
    except (OSError, ValueError):
        return None


def _content(handle: int) -> bytes:
    digest = hashlib.sha256()
    while chunk := os.read(handle, _CHUNK_BYTES):
        digest.update(chunk)
    return digest.digest()
