"""Reads the folder of a neuron once, without following a link, so that what is checked is what is used."""
# Descriptors, not paths: pathlib cannot open an entry of an opened folder.
# ruff: noqa: PTH118

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from attrs import frozen

from myclaw_core.errors import EffectChangedError, MyclawError
from myclaw_core.files.handles import Place, open_folder, status_at
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_
from myclaw_core.neurons.normal import NEURON_FILES
from myclaw_core.types.text import Text

__all__ = [
    "BESIDE",
    "JOURNAL_FILES",
    "MAX_FILE_BYTES",
    "SIGNATURE_FILE",
    "FolderFiles",
    "UnfitFolderError",
    "opened_folder",
    "read_folder",
]

SIGNATURE_FILE = "signature.hmac"
JOURNAL_FILES = ("journal.sqlite", "journal.sqlite-journal", "journal.sqlite-shm", "journal.sqlite-wal")
"""What the runtime writes there; none of it is read here."""
MAX_FILE_BYTES = 64 * 1024

BESIDE = re.compile(r"\.([a-z][a-z0-9_]{2,40})\.(?:new|old)")
"""The name of what is being put in the place of a neuron, or was there before: never itself a neuron."""

_READ_FILES = (*NEURON_FILES, SIGNATURE_FILE)
_KNOWN = frozenset({*_READ_FILES, *JOURNAL_FILES})
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_SHOWN_CHARS = 80


class UnfitFolderError(MyclawError):
    """Raised when a folder is not exactly what the folder of a neuron is; the text says what is wrong with it."""


@frozen(kw_only=True)
class FolderFiles:
    """What was read.

    Attributes:
        files: The bytes of the three files of a neuron by name; nothing vouches for them yet.
        signature: The bytes of `signature.hmac`.
    """

    files: Mapping[str, bytes]
    signature: bytes


def read_folder(folder: Path) -> FolderFiles:
    """Return the files of the neuron in `folder`, each read once; the folder and the one it lies in may be no links.

    Raises:
        UnfitFolderError: It holds anything else, a file is missing, too big or no ordinary file, or cannot be read.
    """
    try:
        with _opened(folder.absolute()) as opened:
            _require_known_names(opened)
            found = {name: _read((opened, name)) for name in _READ_FILES}
    except EffectChangedError as error:
        raise UnfitFolderError(error.text) from error
    except OSError as error:
        place, reason = _shown(str(error.filename or folder)), error.strerror or str(error)
        raise UnfitFolderError(N_("{path} cannot be read: {reason}", path=place, reason=reason)) from error
    return FolderFiles(signature=found.pop(SIGNATURE_FILE), files=found)


@contextmanager
def opened_folder(path: Path) -> Iterator[int]:
    """Open a folder that is no link itself, and whose parent may be reached through links.

    Raises:
        EffectChangedError: It is a link.
        OSError: It does not exist, is none, or may not be entered.
    """
    path = path.absolute()
    with open_folder(os.path.join(os.path.realpath(path.parent), path.name)) as opened:
        yield opened


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    with opened_folder(folder.parent) as above:
        status = status_at((above, folder.name))
        if status is None:
            raise UnfitFolderError(N_("there is no such folder"))
        if not stat.S_ISDIR(status.st_mode):
            raise UnfitFolderError(N_("it is a link or a file, not a folder"))
        opened = os.open(folder.name, _FOLDER, dir_fd=above)
    try:
        yield opened
    finally:
        os.close(opened)


def _require_known_names(folder: int) -> None:
    """Refuse any other name, and a journal that is no ordinary file; it is never opened here."""
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry in islice(entries, 2 * len(_KNOWN)))
    for name in names:
        if name not in _KNOWN:
            raise UnfitFolderError(N_("{name} does not belong there; move it away", name=_shown(name)))
    for name in sorted(set(names).intersection(JOURNAL_FILES)):
        if status := status_at((folder, name)):  # the companions of a journal come and go
            _require_ordinary(name, status)


def _read(place: Place) -> bytes:
    name = place[1]
    status = status_at(place)
    if status is None:
        raise UnfitFolderError(_missing(name))
    _require_ordinary(name, status)  # before it is opened: to open a device may already do something
    with os.fdopen(os.open(name, _FILE, dir_fd=place[0]), "rb") as file:
        _require_ordinary(name, os.fstat(file.fileno()))
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise UnfitFolderError(N_("{name} has more than {n} bytes", name=name, n=MAX_FILE_BYTES))
    return data


def _require_ordinary(name: str, status: os.stat_result) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise UnfitFolderError(N_("{name} is a link; put the file itself there", name=name))
    if not stat.S_ISREG(status.st_mode):
        raise UnfitFolderError(N_("{name} is no ordinary file", name=name))
    if status.st_nlink > 1:
        raise UnfitFolderError(N_("{name} has a second name elsewhere (a hard link); put a copy there", name=name))


def _missing(name: str) -> Text:
    if name == SIGNATURE_FILE:
        return N_("it is not signed: {file} is missing", file=name)
    return N_("the file {file} is missing", file=name)


def _shown(name: str) -> str:
    """Return a name so that one that only looks like another is seen to differ."""
    return visible(name.encode("ascii", "backslashreplace").decode())[:_SHOWN_CHARS]
