"""Exchanges the key that neurons are signed with; a rotation admits nothing that did not verify before.

The new key lies beside the old one until every folder is signed under it, then it takes its place. As long as it lies
there the rotation is under way, and the next start goes on with it.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from myclaw_core.errors import StoreError
from myclaw_core.events.keys import KEY_BYTES, load_or_create_key
from myclaw_core.events.log import EventLog
from myclaw_core.files.durable import sync_folder, write_new
from myclaw_core.messages import N_
from myclaw_core.neurons import records
from myclaw_core.neurons.placing import resign_in_place
from myclaw_core.neurons.signing import NEURON_KEY, sign
from myclaw_core.neurons.types import NeuronRecord, VerifiedNeuron
from myclaw_core.neurons.verified import Quarantined, neuron_names, verified
from myclaw_core.paths import Home

__all__ = ["Rotated", "begin_rotation", "complete_rotation", "is_rotating", "plan_rotation"]

_NEXT_KEY = f"{NEURON_KEY}.next"


@frozen(kw_only=True)
class Rotated:
    """What became of the folders.

    Attributes:
        signed: Neurons that are signed under the new key.
        aside: Folders that did not verify, each with the reason; they stay as they are.
    """

    signed: Sequence[str]
    aside: Sequence[Quarantined]


def is_rotating(home: Home) -> bool:
    """Return whether a rotation was begun and is not complete."""
    return os.path.lexists(home.keys / _NEXT_KEY)


async def plan_rotation(home: Home, log: EventLog) -> Rotated:
    """Return what a rotation would sign and what would stay aside; nothing is changed.

    Raises:
        StoreError: The key or a record cannot be read.
    """
    found = await _found(home, log, load_or_create_key(home.keys / NEURON_KEY))
    return _sorted(found)


def begin_rotation(home: Home) -> None:
    """Make the new key beside the old one: from here on the rotation is completed, also after a crash.

    The caller holds the lock of `changing_neurons`.

    Raises:
        StoreError: It cannot be written.
    """
    fresh, place = home.keys / f"{_NEXT_KEY}.{secrets.token_hex(8)}", home.keys / _NEXT_KEY
    try:
        load_or_create_key(home.keys / NEURON_KEY)
        write_new(fresh, secrets.token_bytes(KEY_BYTES))
        fresh.rename(place)
        sync_folder(home.keys)
    except OSError as error:
        reason = error.strerror or str(error)
        raise StoreError(N_("{path}: {reason}; the key stays as it is", path=str(place), reason=reason)) from error
    finally:
        fresh.unlink(missing_ok=True)


async def complete_rotation(home: Home, log: EventLog) -> Rotated:
    """Sign every folder under the new key that verifies under the old one and is what is on record, then switch.

    It can be called again from wherever it was interrupted; it does nothing where none was begun. The caller holds the
    lock of `changing_neurons`.

    Raises:
        StoreError: A key cannot be read, or something cannot be written; the old key stays until it can.
    """
    if not is_rotating(home):
        return Rotated(signed=(), aside=())
    old, new = load_or_create_key(home.keys / NEURON_KEY), load_or_create_key(home.keys / _NEXT_KEY)
    try:
        found = await _found(home, log, old, new)
        for each in found:
            if isinstance(each, VerifiedNeuron):
                await asyncio.to_thread(_resign, home.neurons, each, new)
        await _record(log, found)
        (home.keys / _NEXT_KEY).replace(home.keys / NEURON_KEY)
        sync_folder(home.keys)
    except OSError as error:
        reason = error.strerror or str(error)
        raise StoreError(
            N_("the key could not be exchanged: {reason}; the next start goes on with it", reason=reason)
        ) from error
    return _sorted(found)


async def _found(home: Home, log: EventLog, *keys: bytes) -> list[VerifiedNeuron | Quarantined]:
    """Return each folder as what is on record and signed under one of the keys, or with the reason why it is not."""
    known = await records.vouched(log, await log.scan(records.NEURON_KIND))
    names = await asyncio.to_thread(neuron_names, home.neurons)
    return [await asyncio.to_thread(_looked_at, home.neurons / name, known.get(name), keys) for name in names]


def _looked_at(
    folder: Path, record: NeuronRecord | records.Doubted | None, keys: Sequence[bytes]
) -> VerifiedNeuron | Quarantined:
    if not isinstance(record, NeuronRecord):
        reason = N_("nothing is on record about it; it was never adopted") if record is None else record.reason
        return Quarantined(name=folder.name, reason=reason)
    tried = [verified(folder, key, digest=record.digest) for key in keys]
    return next((each for each in tried if isinstance(each, VerifiedNeuron)), tried[0])


async def _record(log: EventLog, found: Sequence[VerifiedNeuron | Quarantined]) -> None:
    async with log.transaction() as tx:
        for each in found:
            record = await records.find(log, each.name, tx) if isinstance(each, VerifiedNeuron) else None
            if record is not None:
                await records.changed(tx, record, "signed again")


def _resign(neurons: Path, neuron: VerifiedNeuron, new: bytes) -> None:
    """Exchange the signature of a folder that was verified; one that has the new one already is left alone."""
    if not isinstance(verified(neurons / neuron.name, new, digest=neuron.digest), VerifiedNeuron):
        resign_in_place(neurons, neuron.name, sign(neuron.files, new))


def _sorted(found: Sequence[VerifiedNeuron | Quarantined]) -> Rotated:
    return Rotated(
        signed=tuple(each.name for each in found if isinstance(each, VerifiedNeuron)),
        aside=tuple(each for each in found if isinstance(each, Quarantined)),
    )
