"""Looks whether the folders of neurons are still those that were read; only one that changed is read again."""
# Descriptors, not paths: pathlib cannot open an entry of an opened folder.
# ruff: noqa: PTH118

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

from attrs import frozen

from myclaw_core.messages import N_
from myclaw_core.neurons.folder import JOURNAL_FILES
from myclaw_core.neurons.types import VerifiedNeuron
from myclaw_core.neurons.verified import Quarantined, usable_key, verified
from myclaw_core.types.text import Text

__all__ = ["Look", "Seen", "State"]

State = tuple[object, ...]
"""Tells a folder or a file as it is from what it was: names, inodes, sizes and times."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_ENTRIES = 32
_GRAIN_NS = 100_000_000
"""Two changes within so long may leave the same times behind; a file system's clock ticks in steps."""


@frozen(kw_only=True)
class Seen:
    """What was found in one folder.

    Attributes:
        state: The folder as it was just before it was read; `None` where there is none.
        wanted: The digest that was looked for.
        found: The neuron with that digest, or why it is not there.
        at_fault: Whether the folder itself is wrong, and not the key or what else it needs.
        settled: Whether a change after the reading would show in `state`.
    """

    state: State | None
    wanted: str
    found: VerifiedNeuron | Quarantined
    at_fault: bool = False
    settled: bool = True


@frozen
class Look:
    """Looks at the folders of some neurons, in a thread.

    Attributes:
        neurons: The folder of neurons.
        key_file: The key that they are signed with.
        tidy: Moves a journal out of the way that is none, given the name of its neuron.
    """

    neurons: Path
    key_file: Path
    tidy: Callable[[str], None]

    def at_all(self, wanted: Mapping[str, str], before: Mapping[str, Seen], now_ns: int) -> Mapping[str, Seen]:
        """Return what is in the folder of each neuron; what stands as it was before is not read again.

        Args:
            wanted: The digest that each neuron must have, by its name.
            before: What the last look returned.
            now_ns: The time, as file systems count it.
        """
        key_state = _state_of_key(self.key_file)
        key = usable_key(self.key_file) if wanted else Text("")
        with _opened(self.neurons) as opened:
            states = {name: _state(opened, name, key_state) for name in wanted}
        found: dict[str, Seen] = {}
        for name, digest in wanted.items():
            seen, state = before.get(name), states[name]
            if seen is not None and seen.settled and (seen.state, seen.wanted) == (state, digest):
                found[name] = seen
            else:
                found[name] = self._read(name, state, digest, key, now_ns)
        return found

    def _read(self, name: str, state: State | None, digest: str, key: bytes | Text, now_ns: int) -> Seen:
        if state is None:
            return Seen(state=None, wanted=digest, found=Quarantined(name=name, reason=N_("its folder is gone")))
        if isinstance(key, Text):
            return Seen(state=state, wanted=digest, found=Quarantined(name=name, reason=key))
        self.tidy(name)
        found = verified(self.neurons / name, key, digest=digest)
        return Seen(
            state=state,
            wanted=digest,
            found=found,
            at_fault=isinstance(found, Quarantined),
            settled=_newest_ns(state) + _GRAIN_NS < now_ns,
        )


@contextmanager
def _opened(neurons: Path) -> Iterator[int | None]:
    """Open the folder of neurons, which may be no link; `None` where it cannot be."""
    path = neurons.absolute()
    try:
        opened = os.open(os.path.join(os.path.realpath(path.parent), path.name), _FOLDER)
    except OSError:
        yield None
        return
    try:
        yield opened
    finally:
        os.close(opened)


def _state(neurons: int | None, name: str, key: State) -> State | None:
    """Return the state of a folder without its journal, together with that of the key; `None` where it is not there."""
    if neurons is None:
        return None
    try:
        folder = os.open(name, _FOLDER, dir_fd=neurons)
    except FileNotFoundError:
        return None
    except OSError:
        return (key, _entry(name, neurons))
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in islice(entries, _MOST_ENTRIES) if entry.name not in JOURNAL_FILES)
        return (key, os.fstat(folder).st_ino, *(_entry(each, folder) for each in names))
    except OSError as error:
        return (key, error.errno)
    finally:
        os.close(folder)


def _entry(name: str, folder: int) -> State:
    with suppress(OSError):
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        kind = stat.S_IFMT(status.st_mode)
        return (name, kind, status.st_ino, status.st_nlink, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    return (name,)


def _state_of_key(key_file: Path) -> State:
    with suppress(OSError):
        status = os.lstat(key_file)
        return (status.st_mode, status.st_uid, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    return ()


def _newest_ns(state: State) -> int:
    """Return the time of the newest change of a file in a state."""
    return max(
        (each[-1] for each in state if isinstance(each, tuple) and each and isinstance(each[-1], int)), default=0
    )
