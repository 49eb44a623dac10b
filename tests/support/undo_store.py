"""A home whose undo store is filled, aged and swept."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import UUID

from attrs import field, frozen
from myclaw_sqlite.event_store import SqliteEventStore

from myclaw_core import codec
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import UnknownEvent
from myclaw_core.runtime.tool import PlannedChange
from myclaw_core.testing import FakeClock
from myclaw_core.undo.blobs import BlobStore
from myclaw_core.undo.journal import UndoJournal
from myclaw_core.undo.keep import blob_files
from myclaw_core.undo.needs import needed_bytes
from myclaw_core.undo.records import UNDO_KIND, undo_key
from myclaw_core.undo.sweep import Swept, UndoSweeper
from myclaw_core.undo.types import UndoRecord

TRACE = UUID(int=7)
KEEP_DAYS = 30


@frozen
class Store:
    """One home: a log, a blob store, a journal, and a file to change."""

    folder: Path
    clock: FakeClock = field(factory=FakeClock)

    @property
    def undo(self) -> Path:
        return self.folder / "undo"

    @property
    def blobs(self) -> BlobStore:
        return BlobStore(self.undo, 1_000_000, self.clock)

    @property
    def root(self) -> Path:
        return self.folder / "root"

    async def with_log(self, work: Callable[[EventLog], Awaitable[Any]]) -> Any:
        log = EventLog(SqliteEventStore(self.folder / "events.db"), bytes(32), self.clock)
        await log.open()
        try:
            return await work(log)
        finally:
            await log.close()

    def make(self, text: str, *, whole: bool = False) -> UndoRecord:
        """Keep a file, or its folder, as it is with this text, and return the record."""
        self.root.mkdir(exist_ok=True)
        (self.root / "a.txt").write_text(text)
        journal = UndoJournal(self.blobs, self.clock, KEEP_DAYS)
        named: dict[str, Any] = {
            "undo_id": self.clock.new_id(),
            "tool_name": "t",
            "trace_id": TRACE,
            "step_index": int(self.clock.new_id()) & 0xFFFF,
        }
        if whole:
            return journal.record_snapshot(root=str(self.root), **named)
        return journal.record(plan=(PlannedChange(path="a.txt", content=b"new"),), cwd=str(self.root), **named)

    async def commit(self, record: UndoRecord) -> None:
        """Record it as a step's intent does."""

        async def put(log: EventLog) -> None:
            async with log.transaction() as tx:
                await tx.put(UNDO_KIND, undo_key(record.trace_id, record.step_index), codec.dumps(record))
                await tx.append(UnknownEvent(type="intended", data={}))

        await self.with_log(put)

    async def happen(self) -> None:
        """Let something be recorded now."""

        async def put(log: EventLog) -> None:
            async with log.transaction() as tx:
                await tx.append(UnknownEvent(type="something", data={}))

        await self.with_log(put)

    async def sweep(self) -> Swept:
        return await self.with_log(
            lambda log: UndoSweeper(log=log, root=self.undo, clock=self.clock, keep_days=KEEP_DAYS).sweep()
        )

    async def pass_days(self, days: float) -> None:
        """Let time pass that the record knows of."""
        self.clock.advance(days=days)
        await self.happen()
        self.clock.advance(hours=13)

    async def records(self) -> list[UndoRecord]:
        rows = await self.with_log(lambda log: log.scan(UNDO_KIND))
        return [codec.loads(UndoRecord, raw, key) for key, raw in rows if raw != b"torn"]

    def files(self) -> set[str]:
        return {file.parent.name + file.name for file in blob_files(self.undo)}

    async def needed(self) -> set[str]:
        return {sha for record in await self.records() for sha in needed_bytes(record, self.blobs)}
