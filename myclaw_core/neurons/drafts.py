"""Keeps what a person is asked to adopt, byte for byte, until the question about it is over."""

from __future__ import annotations

import itertools
import os
import re
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from attrs import field, frozen

from myclaw_core import codec
from myclaw_core.atomic import replace_file
from myclaw_core.errors import EffectChangedError, MyclawError, StoreError, UsageError
from myclaw_core.files.durable import sync_folder, write_new
from myclaw_core.files.handles import open_folder, open_regular
from myclaw_core.messages import N_
from myclaw_core.neurons.birth_report import BirthReport
from myclaw_core.neurons.folder import MAX_FILE_BYTES
from myclaw_core.neurons.manifest import MANIFEST_FILE, read_manifest
from myclaw_core.neurons.normal import NEURON_FILES, is_normal, normalized
from myclaw_core.neurons.signing import digest_of
from myclaw_core.neurons.types import NeuronManifest
from myclaw_core.process import is_left_behind, temporary_name
from myclaw_core.synthesis.types import Making, RewardBreakdown

__all__ = ["DRAFTS", "Draft", "DraftGoneError", "Drafts", "Tested", "read_source"]

DRAFTS = "drafts"
"""The folder of drafts in the folder of state."""

_TESTED_FILE = "tested.json"
_MOST_TESTED_BYTES = 16 << 20
"""It holds a line for each test, and all that the tests printed."""
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
_counter = itertools.count()
_FRESH = timedelta(hours=1)
"""How long a draft is kept that no question is about: it may be about to be asked."""


class DraftGoneError(MyclawError):
    """Raised when there is no draft of a digest, or when it is not what the digest says."""


@frozen(kw_only=True)
class Tested:
    """What was found out about a draft before anybody was asked.

    Attributes:
        digest: What was tested.
        at: When.
        report: What its birth tests showed.
        reward: R as its trust would begin.
        making: How it came about; `None` where a person wrote it.
    """

    digest: str
    at: datetime
    report: BirthReport
    reward: RewardBreakdown
    making: Making | None = None
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class Draft:
    """The files of a neuron in their normal form, with what was found out about them.

    Attributes:
        digest: As `signing.digest_of` makes it from the files.
        files: The bytes that are shown, signed and put in place.
    """

    digest: str
    manifest: NeuronManifest
    files: Mapping[str, bytes]
    tested: Tested


@frozen
class Drafts:
    """The drafts of one installation: a folder for each, named by its digest.

    Attributes:
        folder: `workspace/state/drafts`.
    """

    folder: Path

    def stage(self, files: Mapping[str, bytes], tested: Tested) -> Draft:
        """Put a draft there durably, as a whole or not at all; where it is there already, it was tested anew.

        Args:
            files: The three files in their normal form.

        Raises:
            StoreError: It cannot be written.
            ValueError: `tested` is about other files.
        """
        if tested.digest != digest_of(files):
            raise ValueError("these tests were made of other files")
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            if self._holds(tested.digest):
                replace_file(self.folder / tested.digest / _TESTED_FILE, codec.dumps(tested))
            else:
                self._put(tested.digest, {**files, _TESTED_FILE: codec.dumps(tested)})
        except OSError as error:
            raise _unwritable(self.folder, error) from error
        return self.read(tested.digest)

    def read(self, digest: str) -> Draft:
        """Return the draft of a digest.

        Raises:
            DraftGoneError: It is not there, or its files are not those of the digest.
        """
        if not _DIGEST.fullmatch(digest):
            raise DraftGoneError(N_("{digest} is no digest of a draft", digest=digest[:80]))
        folder = self.folder / digest
        try:
            files = _read_files(folder, (*NEURON_FILES, _TESTED_FILE))
            raw = files.pop(_TESTED_FILE)
            if digest_of(files) != digest or not all(map(is_normal, files.values())):
                raise DraftGoneError(N_("the draft {digest} was changed since it was asked about", digest=digest[:12]))
            tested = codec.loads(Tested, raw, N_("draft {digest}", digest=digest[:12]))
            manifest = read_manifest(files[MANIFEST_FILE])
        except (OSError, KeyError, UsageError, EffectChangedError) as error:
            raise DraftGoneError(
                N_("the draft {digest} is not there any more; adopt the folder again", digest=digest[:12])
            ) from error
        if tested.digest != digest:
            raise DraftGoneError(N_("the tests of the draft {digest} are those of another one", digest=digest[:12]))
        return Draft(digest=digest, manifest=manifest, files=files, tested=tested)

    def drop(self, digest: str) -> None:
        """Remove a draft that is not needed any more."""
        if _DIGEST.fullmatch(digest):
            self._discard(digest)

    def sweep(self, asked: Collection[str], now: datetime) -> None:
        """Remove the drafts that no question is about, and what a process that died was writing.

        Args:
            asked: The digests that questions are about.
        """
        for name in self._names():
            if is_left_behind(name) or (
                _DIGEST.fullmatch(name) and name not in asked and not self._is_fresh(name, now)
            ):
                self._discard(name)

    def _holds(self, digest: str) -> bool:
        try:
            return self.read(digest).digest == digest
        except DraftGoneError:
            return False

    def _put(self, digest: str, files: Mapping[str, bytes]) -> None:
        fresh = self.folder / temporary_name(next(_counter))
        try:
            fresh.mkdir(mode=0o700)
            for name, data in files.items():
                write_new(fresh / name, data)
            sync_folder(fresh)
            self._discard(digest)
            fresh.rename(self.folder / digest)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
        sync_folder(self.folder)

    def _names(self) -> Iterator[str]:
        if self.folder.is_symlink():
            return  # what it leads to is not ours to clear up
        with suppress(OSError), os.scandir(self.folder) as entries:
            yield from sorted(entry.name for entry in entries)

    def _is_fresh(self, name: str, now: datetime) -> bool:
        with suppress(DraftGoneError):
            return abs(now - self.read(name).tested.at) < _FRESH
        return False

    def _discard(self, name: str) -> None:
        place = self.folder / name
        if place.is_symlink() or place.is_file():
            place.unlink(missing_ok=True)
        elif place.exists():
            shutil.rmtree(place, ignore_errors=True)


def read_source(folder: Path) -> Mapping[str, bytes]:
    """Return the three files of a neuron in a folder that a person named, in their normal form.

    Each is read once; a link in place of one is not followed. What else lies there is left alone.

    Raises:
        UsageError: It is no folder, a file is missing, too big or no ordinary file, or cannot be read.
    """
    if not folder.is_dir():
        raise UsageError(N_("{path} is no folder", path=str(folder)))
    try:
        files = _read_files(Path(os.path.realpath(folder)), NEURON_FILES)
    except EffectChangedError as error:
        raise UsageError(error.text) from error
    except FileNotFoundError as error:
        raise UsageError(N_("the file {file} is missing in {path}", file=error.filename, path=str(folder))) from error
    except OSError as error:
        file, reason = str(error.filename or folder), error.strerror or str(error)
        raise UsageError(N_("{file} in {path}: {reason}", file=file, path=str(folder), reason=reason)) from error
    return {name: normalized(data) for name, data in files.items()}


def _read_files(folder: Path, names: Collection[str]) -> dict[str, bytes]:
    with open_folder(str(folder)) as opened:
        return {name: _read(opened, name) for name in names}


def _read(folder: int, name: str) -> bytes:
    most = _MOST_TESTED_BYTES if name == _TESTED_FILE else MAX_FILE_BYTES
    with os.fdopen(open_regular((folder, name)), "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise UsageError(N_("{name} has more than {n} bytes", name=name, n=most))
    return data


def _unwritable(folder: Path, error: OSError) -> StoreError:
    reason = error.strerror or str(error)
    return StoreError(N_("{path} cannot be written: {reason}; nothing was adopted", path=str(folder), reason=reason))
