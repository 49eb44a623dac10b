"""The journals of neurons: how each run ended, kept beside the neuron; one that is damaged never hurts anything."""

from __future__ import annotations

import asyncio
import logging
import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from attrs import frozen

from myclaw_core.clock import Clock
from myclaw_core.errors import StoreError
from myclaw_core.messages import N_
from myclaw_core.neurons.folder import JOURNAL_FILES
from myclaw_core.neurons.placing import archived_as
from myclaw_core.neurons.types import Invocation
from myclaw_core.paths import Home
from myclaw_core.plugins.contain import one_line
from myclaw_core.types.text import Text

__all__ = ["JournalStore", "Journals", "UnfitJournalError"]

_log = logging.getLogger("myclaw.neurons")


class UnfitJournalError(StoreError):
    """Raised when a file is no journal, or is damaged: it must be moved away before a new one can be begun."""


class JournalStore(Protocol):
    """Keeps journals, one file each; a file is open only while it is used."""

    async def append(self, file: Path, invocation: Invocation) -> None:
        """Add a run, durably; the file is made where there is none.

        Raises:
            UnfitJournalError: The file is no journal of this kind, or damaged; nothing in it was executed.
            StoreError: It cannot be written.
        """
        ...

    async def newest(self, file: Path, limit: int) -> Sequence[Invocation]:
        """Return the last runs, the newest first; none where there is no file.

        Raises:
            UnfitJournalError: Like `append`.
            StoreError: It cannot be read.
        """
        ...


@frozen
class Journals:
    """The journals of all neurons.

    Attributes:
        store: Keeps them; or why nobody does.
    """

    store: JournalStore | Text
    home: Home
    clock: Clock

    async def append(self, name: str, invocation: Invocation) -> None:
        """Write down a run; where that cannot be done it is told to the log. One that is unfit is begun anew."""
        try:
            await self._append(name, invocation)
        except Exception as error:
            _log.warning("a run of the neuron %s is not in its journal: %s", name, one_line(error))

    async def newest(self, name: str, limit: int) -> Sequence[Invocation]:
        """Return the last runs of a neuron, the newest first.

        Raises:
            StoreError: The journal cannot be read.
        """
        if isinstance(self.store, Text):
            raise StoreError(self.store)
        self._require_plain(name)
        return await self.store.newest(self._file(name), limit)

    def tidy(self, name: str) -> None:
        """Move away what lies in the place of a journal and is none, such as a link; it is not followed."""
        with suppress(StoreError):  # where there is no folder there is nothing to tidy
            self._make_room(name)

    async def _append(self, name: str, invocation: Invocation) -> None:
        if isinstance(self.store, Text):
            raise StoreError(self.store)
        await asyncio.to_thread(self._make_room, name)
        try:
            await self.store.append(self._file(name), invocation)
        except UnfitJournalError as error:
            await asyncio.to_thread(self._set_aside, name, error.text)
            await self.store.append(self._file(name), invocation)

    def _make_room(self, name: str) -> None:
        try:
            self._require_plain(name)
        except UnfitJournalError as error:
            self._set_aside(name, error.text)

    def _require_plain(self, name: str) -> None:
        folder = self.home.neurons / name
        if folder.is_symlink() or not folder.is_dir():
            raise StoreError(N_("{folder} is no folder", folder=str(folder)))
        for file in JOURNAL_FILES:
            try:
                status = os.lstat(folder / file)
            except OSError:
                continue
            if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
                raise UnfitJournalError(N_("{file} is no ordinary file", file=file))

    def _set_aside(self, name: str, reason: Text) -> None:
        """Move a journal with its companions where nobody reads it; nothing of it is deleted."""
        folder = archived_as(self.home, self.clock, name, "journal")
        try:
            folder.mkdir(mode=0o700, parents=True)
            for file in JOURNAL_FILES:
                path = self.home.neurons / name / file
                if os.path.lexists(path):
                    path.rename(folder / file)
        except OSError as error:
            _log.warning("the journal of the neuron %s is unfit and cannot be moved away: %s", name, one_line(error))
        else:
            _log.warning("the journal of the neuron %s is begun anew (%s); the old one is %s", name, reason, folder)

    def _file(self, name: str) -> Path:
        return self.home.neurons / name / JOURNAL_FILES[0]
