"""Lets go of what undo kept once its time is over: first the records, then the bytes that no record needs.

The clock alone ends nothing. Time counts as passed up to the newest event that is half a day old: a clock that is wrong
for less than that, ahead or behind, ends no record early.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from attrs import field, frozen

from myclaw_core.clock import Clock
from myclaw_core.config import Config
from myclaw_core.errors import MyclawError
from myclaw_core.events.log import EventLog, stamp
from myclaw_core.events.types import UndoExpired
from myclaw_core.paths import Home
from myclaw_core.undo.blobs import BlobStore
from myclaw_core.undo.dropping import Dropped, drop_unneeded
from myclaw_core.undo.needs import named_in, needed_bytes
from myclaw_core.undo.records import UNDO_KIND, read_undo
from myclaw_core.undo.types import UndoRecord

__all__ = ["SETTLED", "Swept", "UndoSweeper", "settled_time"]

SETTLED = timedelta(hours=12)
"""How long ago an event must have been for its time to be relied on."""
_PAGE = 500
_BATCH = 500


@frozen(kw_only=True)
class Swept:
    """What was let go of.

    Attributes:
        records: How many actions can no longer be taken back.
        dropped: The bytes that were freed.
        unread: How many records cannot be read; what they may need is kept as long as a record lives.
    """

    records: int = 0
    dropped: Dropped = field(factory=Dropped)
    unread: int = 0


@frozen(kw_only=True)
class UndoSweeper:
    """Sweeps one undo store; doing it twice changes nothing.

    Attributes:
        root: The folder of the store.
        keep_days: Days a record lives.
    """

    log: EventLog
    root: Path
    clock: Clock
    keep_days: int

    @staticmethod
    def of(log: EventLog, home: Home, clock: Clock, config: Config) -> UndoSweeper:
        """Return what sweeps the store of a home."""
        return UndoSweeper(log=log, root=home.undo, clock=clock, keep_days=config.limits.undo_days)

    async def sweep(self) -> Swept:
        """Forget the records whose time is over and drop the bytes that no other one needs.

        Raises:
            StoreError: The log cannot be read or written, or a file not be removed; the next sweep goes on.
        """
        settled = await settled_time(self.log, self.clock.now())
        if settled is None:
            return Swept()
        records = await self._forget(settled)
        kept = await self.log.scan(UNDO_KIND)
        dropped, unread = await asyncio.to_thread(self._drop, kept, settled)
        return Swept(records=records, dropped=dropped, unread=unread)

    async def _forget(self, settled: datetime) -> int:
        rows = await self.log.scan(UNDO_KIND)
        keys = await asyncio.to_thread(_over, rows, settled)
        forgotten = 0
        for start in range(0, len(keys), _BATCH):
            async with self.log.transaction() as tx:
                found = [(key, await tx.get(UNDO_KIND, key)) for key in keys[start : start + _BATCH]]
                over = [(key, record) for key, raw in found if raw and (record := _read(key, raw)) is not None]
                for key, _ in over:
                    await tx.delete(UNDO_KIND, key)
                if over:
                    await tx.append(UndoExpired(undo_ids=tuple(record.id for _, record in over)))
            forgotten += len(over)
        return forgotten

    def _drop(self, kept: Iterable[tuple[str, bytes]], settled: datetime) -> tuple[Dropped, int]:
        blobs = BlobStore(self.root, 0, self.clock)
        needed: set[str] = set()
        unread = 0
        for key, raw in kept:
            record = _read(key, raw)
            try:
                needed |= needed_bytes(record, blobs) | named_in(record) if record else set()
            except MyclawError:
                record = None
            unread += record is None
        before = settled - timedelta(days=self.keep_days) if unread else settled
        return drop_unneeded(self.root, needed, before), unread


async def settled_time(log: EventLog, now: datetime) -> datetime | None:
    """Return the time of the newest event that was half a day ago at least, `None` where there is none."""
    newest = await log.last()
    end, limit = newest.seq if newest else 0, stamp(now - SETTLED)
    while end > 0:
        after = max(0, end - _PAGE)
        page: Sequence[str] = [head.at for head in await log.heads(after, end - after)]
        for at in reversed(page):
            if at <= limit:
                return datetime.fromisoformat(at)
        end = after
    return None


def _read(key: str, raw: bytes) -> UndoRecord | None:
    try:
        return read_undo(raw, key)
    except MyclawError:
        return None


def _over(rows: Iterable[tuple[str, bytes]], settled: datetime) -> list[str]:
    """Return the keys of the records whose time is over."""
    read = ((key, _read(key, raw)) for key, raw in rows)
    return [key for key, record in read if record is not None and record.expires_at <= settled]
