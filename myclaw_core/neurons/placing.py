"""Puts an approved version of a neuron in its place: whatever happens, the old one or the new one is there.

The new version is made ready beside the old one, under a name that is none of a neuron. Once the record says that it
is the one that may run, it is brought into place; that can be done again from wherever it was interrupted.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from myclaw_core.clock import Clock
from myclaw_core.errors import EffectChangedError, UsageError
from myclaw_core.files.durable import sync_folder, write_new
from myclaw_core.files.handles import Place, kind_at, list_names, open_regular, remove, rename
from myclaw_core.messages import N_
from myclaw_core.neurons.folder import (
    BESIDE,
    JOURNAL_FILES,
    SIGNATURE_FILE,
    UnfitFolderError,
    opened_folder,
    read_folder,
)
from myclaw_core.neurons.normal import NEURON_FILES, normalized
from myclaw_core.neurons.signing import digest_of
from myclaw_core.neurons.types import VerifiedNeuron
from myclaw_core.neurons.verified import verified
from myclaw_core.paths import Home

__all__ = ["archived_as", "bring_into_place", "make_ready", "names_beside", "require_replaceable", "resign_in_place"]

_NEW, _OLD = "new", "old"
_ARCHIVED_CHARS = 50
_OWN_FILES = (*NEURON_FILES, SIGNATURE_FILE, *JOURNAL_FILES)


def require_replaceable(neurons: Path, name: str, files: Mapping[str, bytes], key: bytes) -> None:
    """Check that nothing is lost where a version is put in place: what lies there was adopted, or is that version.

    Args:
        files: The new version, in its normal form.
        key: That of neurons.

    Raises:
        UsageError: It holds something else; the line says what to do.
    """
    folder = neurons / name
    if not os.path.lexists(folder):
        return
    if not folder.is_dir() or folder.is_symlink():
        raise UsageError(N_("{path} is a link or a file, not a folder; move it away", path=str(folder)))
    with opened_folder(neurons / name) as opened:
        names = list_names(opened)
        if other := [each for each in names if each not in _OWN_FILES]:
            raise UsageError(
                N_("{path} holds {name}, which does not belong there; move it away", path=str(folder), name=other[0])
            )
        same = all(_is_the_same((opened, each), files[each]) for each in names if each in NEURON_FILES)
    if not same and not isinstance(verified(folder, key), VerifiedNeuron):
        raise UsageError(
            N_(
                "{path} holds a version that was never adopted; adopt that one with 'myclaw neurons adopt {path}', or "
                "move it away",
                path=str(folder),
            )
        )


def make_ready(neurons: Path, name: str, files: Mapping[str, bytes], signature: str) -> None:
    """Write a version durably beside its place; what was left there of another one is gone.

    Raises:
        OSError: It cannot be written; nothing is left of it.
    """
    with opened_folder(neurons) as folder:
        place = (folder, _beside(name, _NEW))
        _discard(place)
        os.mkdir(place[1], 0o700, dir_fd=folder)
        try:
            with _inside(place) as fresh:
                for file, data in {**files, SIGNATURE_FILE: _signature_bytes(signature)}.items():
                    write_new(file, data, folder=fresh)
                sync_folder(".", folder=fresh)
            sync_folder(".", folder=folder)
        except BaseException:
            _discard(place)
            raise


def bring_into_place(neurons: Path, name: str, digest: str) -> bool:
    """Let the place of a neuron hold the version on record, and clear up beside it; return whether it holds that.

    The journal of the version so far goes on. Where no such version was made ready, nothing is put in place.

    Args:
        digest: Of the version that may run; empty where none may.

    Raises:
        OSError: A step of it failed; it can be called again.
    """
    with opened_folder(neurons) as folder:
        place, new, old = (folder, name), (folder, _beside(name, _NEW)), (folder, _beside(name, _OLD))
        if not _holds(neurons / name, digest) and _holds(neurons / new[1], digest):
            _take_journal(place, new)
            if kind_at(place) != "absent":
                _discard(old)
                rename(place, old)
            rename(new, place)
        is_there = _holds(neurons / name, digest)
        if is_there:
            _take_journal(old, place)
            _discard(old)
        elif kind_at(place) == "absent" and kind_at(old) == "dir":
            rename(old, place)
        _discard(new)
        return is_there


def resign_in_place(neurons: Path, name: str, signature: str) -> None:
    """Exchange the signature of a neuron durably; the old one or the new one is there, whatever happens.

    Raises:
        OSError: It cannot be written.
    """
    with opened_folder(neurons) as folder:
        place, new = (folder, name), (folder, _beside(name, _NEW))
        _discard(new)
        os.mkdir(new[1], 0o700, dir_fd=folder)
        try:
            with _inside(new) as fresh, _inside(place) as there:
                write_new(SIGNATURE_FILE, _signature_bytes(signature), folder=fresh)
                rename((fresh, SIGNATURE_FILE), (there, SIGNATURE_FILE))
        finally:
            _discard(new)


def archived_as(home: Home, clock: Clock, name: str, what: str = "") -> Path:
    """Return a place in the archive where nothing is yet, for what lies under a name of whatever length.

    Args:
        what: Which part of the neuron it is for; empty for its folder.
    """
    parts = (name[:_ARCHIVED_CHARS], what, f"{clock.now():%Y%m%dT%H%M%S}", str(clock.new_id())[-12:])
    return home.neuron_archive / "-".join(filter(None, parts))


def names_beside(neurons: Path) -> list[str]:
    """Return the neurons beside whose place something was left by a process that died."""
    with suppress(OSError, EffectChangedError), opened_folder(neurons) as folder:
        found = filter(None, map(BESIDE.fullmatch, list_names(folder)))
        return sorted({match[1] for match in found})
    return []


def _signature_bytes(signature: str) -> bytes:
    return signature.encode("ascii") + b"\n"


def _beside(name: str, what: str) -> str:
    return f".{name}.{what}"


@contextmanager
def _inside(place: Place) -> Iterator[int]:
    opened = os.open(place[1], os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=place[0])
    try:
        yield opened
    finally:
        os.close(opened)


def _holds(folder: Path, digest: str) -> bool:
    if not digest:
        return False
    try:
        return digest_of(read_folder(folder).files) == digest
    except UnfitFolderError:
        return False


def _is_the_same(place: Place, data: bytes) -> bool:
    try:
        with os.fdopen(open_regular(place), "rb") as file:
            return normalized(file.read(len(data) * 4 + 4096)) == data
    except (OSError, EffectChangedError):
        return False


def _take_journal(source: Place, target: Place) -> None:
    """Move the journal from one folder to another that has none; either folder may be missing."""
    if kind_at(source) != "dir" or kind_at(target) != "dir":
        return
    with _inside(source) as old, _inside(target) as new:
        if kind_at((new, JOURNAL_FILES[0])) != "absent":
            return
        # The journal itself goes last: until then this is begun again.
        for name in reversed(JOURNAL_FILES):
            if kind_at((old, name)) == "file":
                rename((old, name), (new, name))


def _discard(place: Place) -> None:
    """Remove what is at a place beside a neuron; files that are none of a neuron's are left where they are."""
    kind = kind_at(place)
    if kind == "absent":
        return
    if kind != "dir":
        remove(place)
        return
    with _inside(place) as folder:
        for name in list_names(folder):
            if name in _OWN_FILES and kind_at((folder, name)) != "dir":
                os.unlink(name, dir_fd=folder)
        if list_names(folder):
            return
    remove(place)
