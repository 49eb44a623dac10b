"""Lets a neuron in only with the bytes that were signed; anything else is put aside with the reason."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType

from attrs import frozen

from myclaw_core.errors import MyclawError, StoreError, UsageError
from myclaw_core.events.keys import load_or_create_key
from myclaw_core.files.handles import list_names
from myclaw_core.messages import N_
from myclaw_core.neurons.folder import BESIDE, SIGNATURE_FILE, FolderFiles, UnfitFolderError, opened_folder, read_folder
from myclaw_core.neurons.manifest import MANIFEST_FILE, NAME_TOLD, NEURON_NAME, read_manifest
from myclaw_core.neurons.normal import is_normal
from myclaw_core.neurons.signing import digest_of, verify
from myclaw_core.neurons.types import VerifiedNeuron
from myclaw_core.types.text import Text

__all__ = ["Quarantined", "neuron_names", "usable_key", "verified", "verify_folders"]

_SIGNATURE = re.compile(rb"([0-9a-f]{64})\n")


@frozen(kw_only=True)
class Quarantined:
    """A folder that is no verified neuron; nothing of it may be executed.

    Attributes:
        name: The name of the folder as it is on the disk.
        reason: What is wrong, one line.
    """

    name: str
    reason: Text


def verified(folder: Path, key: bytes, *, digest: str | None = None) -> VerifiedNeuron | Quarantined:
    """Return the neuron in `folder`, or why it is none; each file is read once, nothing is executed.

    Args:
        folder: `workspace/neurons/<name>`.
        key: That of `neuron_key`.
        digest: The digest that was approved last: an older version, signed as well, is not it. Any where `None`.
    """
    try:
        return _admitted(folder, key, digest)
    except MyclawError as error:
        return Quarantined(name=folder.name, reason=error.text)


def verify_folders(neurons: Path, key_file: Path, only: str | None = None) -> Iterator[VerifiedNeuron | Quarantined]:
    """Yield each entry of the folder of neurons, sorted, as verified or with its reason; no key is made.

    Args:
        key_file: Where the key is kept. Without one that can be used nothing is verified.
        only: The name of the one to look at.

    Raises:
        EffectChangedError: The folder of neurons is a link.
        UsageError: There is nothing with the name `only`.
    """
    names = neuron_names(neurons)
    if only is not None and only not in names:
        raise UsageError(N_("there is no neuron {name}; 'myclaw neurons verify' lists what there is", name=only))
    key = usable_key(key_file)
    for name in names if only is None else [only]:
        yield Quarantined(name=name, reason=key) if isinstance(key, Text) else verified(neurons / name, key)


def neuron_names(neurons: Path) -> list[str]:
    """Return the names of all that is in the folder of neurons, sorted, neurons or not.

    Raises:
        EffectChangedError: It is a link.
    """
    try:
        with opened_folder(neurons) as opened:
            return [name for name in list_names(opened) if not BESIDE.fullmatch(name)]
    except FileNotFoundError:
        return []


def usable_key(key_file: Path) -> bytes | Text:
    """Return the key that is kept there, or why there is none that can be used; none is made."""
    if not os.path.lexists(key_file):
        return N_("it is not signed: there is no key {path} to have signed it with", path=str(key_file))
    try:
        return load_or_create_key(key_file)
    except StoreError as error:
        return error.text


def _admitted(folder: Path, key: bytes, digest: str | None) -> VerifiedNeuron:
    name = folder.name
    if not NEURON_NAME.fullmatch(name):
        raise UnfitFolderError(N_("the name of the folder must have this form: {form}", form=NAME_TOLD))
    found = read_folder(folder)
    _require_signature(found, key)
    for file, data in found.files.items():
        if not is_normal(data):
            raise UnfitFolderError(
                N_("{file} is not in its normal form: LF line ends, no white space at the end of a line", file=file)
            )
    manifest = read_manifest(found.files[MANIFEST_FILE], name)
    made = digest_of(found.files)
    if digest is not None and made != digest:
        raise UnfitFolderError(N_("it is signed, but is not the version that was approved last"))
    return VerifiedNeuron(name=name, manifest=manifest, files=MappingProxyType(found.files), digest=made)


def _require_signature(found: FolderFiles, key: bytes) -> None:
    written = _SIGNATURE.fullmatch(found.signature)
    if written is None:
        raise UnfitFolderError(N_("{file} is no signature: 64 digits in hex and a line end", file=SIGNATURE_FILE))
    if not verify(found.files, written[1].decode(), key):
        raise UnfitFolderError(
            N_("the signature does not match: a file was changed, or another neuron or key was meant")
        )
