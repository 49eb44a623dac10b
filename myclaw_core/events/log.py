"""The event log: every event is one link of a keyed chain, committed together with the records it changes."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from inspect import isawaitable
from pathlib import Path

from attrs import evolve

from myclaw_core.clock import Clock
from myclaw_core.codec import dumps_event, event_tag, loads_event
from myclaw_core.errors import NewerVersionError, StoreError
from myclaw_core.events.chain import Mark, body_digest, linked, mark_of, same_mac
from myclaw_core.events.marks import checkpoint_bytes, read_anchor, read_checkpoint, write_anchor
from myclaw_core.events.store import EventStore, Head, StoreTransaction
from myclaw_core.events.types import Event, TraceClosed
from myclaw_core.events.verify import VerifyReport, verify_chain
from myclaw_core.messages import N_
from myclaw_core.types.text import Text

__all__ = ["EventLog", "Listener", "LogTransaction", "stamp"]

Listener = Callable[[Event], Awaitable[None] | None]
_RECORDS = "log"
_CHECKPOINT = "checkpoint"
_logger = logging.getLogger("myclaw.events")


class LogTransaction:
    """One atomic change of the core database: events and the records that go with them."""

    def __init__(self, store: StoreTransaction, key: bytes, clock: Clock) -> None:
        self._store = store
        self._key = key
        self._clock = clock
        self.newest: Head | None = None
        self.events: list[Event] = []

    async def append(self, event: Event) -> int:
        """Add an event, its secrets masked, and return its sequence number.

        Raises:
            CodecError: The event cannot be written as a document.
            StoreError: The store failed; nothing of the transaction will be kept.
        """
        body = dumps_event(event, redact=True)
        head = linked(
            self._key,
            self.newest or await self._store.last_head(),
            at=stamp(self._clock.now()),
            type_=event_tag(event),
            trace_id=str(event.trace_id) if event.trace_id else "",
            body=body,
        )
        await self._store.append(head, body)
        self.newest = head
        self.events.append(event)
        return head.seq

    async def get(self, kind: str, key: str) -> bytes | None:
        """Return one record as this transaction sees it."""
        return await self._store.get(kind, key)

    async def put(self, kind: str, key: str, value: bytes) -> None:
        """Set one record."""
        await self._store.put(kind, key, value)

    async def delete(self, kind: str, key: str) -> None:
        """Remove one record; nothing happens where there is none."""
        await self._store.delete(kind, key)

    async def scan(self, kind: str, prefix: str = "") -> Sequence[tuple[str, bytes]]:
        """Return the records of `kind` whose key starts with `prefix`, by key, as this transaction sees them."""
        return await self._store.scan(kind, prefix)


class EventLog:
    """The chained log over a core database.

    Args:
        store: Keeps the bytes.
        key: Key of the chain, 32 bytes.
        clock: Stamps the events.
        anchor: File beside the database that remembers the newest head, so that a cut tail is noticed.
    """

    def __init__(self, store: EventStore, key: bytes, clock: Clock, *, anchor: Path | None = None) -> None:
        self._store = store
        self._key = key
        self._clock = clock
        self._anchor = anchor
        self._listeners: list[Listener] = []
        self._newest: Head | None = None
        self._untold: deque[Event] = deque()
        self._telling: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Open the store.

        Raises:
            StoreError: It cannot be opened; the text names the file and what to do.
        """
        await self._store.open()

    async def close(self) -> None:
        """Tell the listeners what is left, remember the newest head and close the store; may be called twice."""
        self._tell_listeners()
        if self._telling is not None:
            await asyncio.wait({self._telling})
        if self._newest is not None:
            write_anchor(self._anchor, mark_of(self._newest))
        await self._store.close()

    def subscribe(self, listener: Listener) -> None:
        """Call `listener` with each event after its commit, in the order of the log; its faults change nothing."""
        self._listeners.append(listener)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[LogTransaction]:
        """Hold the write lock; commit durably at the end of the body, then tell the listeners.

        Raises:
            StoreError: The change could not be made durable; nothing of it was kept.
        """
        sealed: LogTransaction | None = None
        try:
            async with self._store.transaction() as store:
                change = LogTransaction(store, self._key, self._clock)
                yield change
                sealed = change
        except asyncio.CancelledError:
            # A commit that has begun ends before the cancellation comes through.
            self._note(sealed)
            self._tell_listeners()
            raise
        self._note(sealed)
        if (telling := self._tell_listeners()) is not None:
            await asyncio.wait({telling})

    async def events(self, trace_id: object, *kinds: type[Event]) -> list[tuple[Head, Event | None]]:
        """Return the events of one trace in order; `None` stands for an erased one.

        Args:
            kinds: Read the bodies of these classes only; of all where none is given.

        Raises:
            StoreError: A body is not the one that was written.
        """
        wanted = {event_tag(kind) for kind in kinds}
        heads = await self._store.heads_of(str(trace_id))
        return await self._with_bodies([head for head in heads if not wanted or head.type in wanted])

    async def event(self, head: Head) -> Event | None:
        """Return the event that `head` stands for, `None` where it was erased; like `events`."""
        return _event(head, await self._store.body(head.seq))

    async def trace_ids(self, prefix: str = "", limit: int = 1000) -> Sequence[str]:
        """Return the ids of traces that start with `prefix`, the one that began last first."""
        return await self._store.trace_ids(prefix, limit) if prefix.isascii() else ()

    async def since(self, seq: int, limit: int = 1000) -> list[tuple[Head, Event | None]]:
        """Return up to `limit` events after `seq` in order; like `events`."""
        return await self._with_bodies(await self._store.heads(seq, limit))

    async def stored(self, after: int, limit: int = 256) -> list[tuple[Head, bytes | None]]:
        """Return up to `limit` heads after `after`, each with its body as it is stored; `None` for an erased one."""
        heads = await self._store.heads(after, limit)
        bodies = await asyncio.gather(*(self._store.body(head.seq) for head in heads))
        return list(zip(heads, bodies, strict=True))

    async def last(self) -> Head | None:
        """Return the newest head, or `None` in an empty log."""
        return await self._store.last_head()

    async def heads(self, after: int = 0, limit: int = 1000) -> Sequence[Head]:
        """Return up to `limit` heads after `after` in order, without their bodies."""
        return await self._store.heads(after, limit)

    async def get(self, kind: str, key: str) -> bytes | None:
        """Return one committed record."""
        return await self._store.get(kind, key)

    async def scan(self, kind: str, prefix: str = "") -> Sequence[tuple[str, bytes]]:
        """Return the committed records of `kind` whose key starts with `prefix`, by key."""
        return await self._store.scan(kind, prefix)

    async def erase(self, seq: int) -> None:
        """Erase the body of one event for good; the chain still verifies.

        Its exported line is the business of `AuditExport.erase`, which calls this.
        """
        await self._store.erase_body(seq)

    async def verify(self, *, after: int = 0) -> VerifyReport:
        """Verify the chain after event `after`, the bodies, the anchor and the checkpoint."""
        anchor, newer = self._read_anchor()
        checkpoint, problem = await self._checkpoint()
        problem = newer or problem
        marks = [mark for mark in (anchor, checkpoint) if mark is not None]
        report = await verify_chain(self._store, self._key, after=after, marks=marks)
        if report.ok and problem is not None:
            return evolve(report, ok=False, problem=problem)
        return report

    async def verify_tail(self) -> VerifyReport:
        """Verify what came after the last checkpoint; everything where there is no sound one."""
        checkpoint, _ = await self._checkpoint()
        return await self.verify(after=checkpoint.seq if checkpoint else 0)

    async def checkpoint(self) -> VerifyReport:
        """Verify the tail and, where the chain is sound, sign its newest head so that the next start begins there.

        A checkpoint that a later version left is not replaced.
        """
        report = await self.verify_tail()
        if report.first_bad_seq is None and report.last is not None and not await self._is_of_a_later_version():
            async with self._store.transaction() as store:
                await store.put(_RECORDS, _CHECKPOINT, checkpoint_bytes(self._key, report.last))
            write_anchor(self._anchor, report.last)
        return report

    async def _checkpoint(self) -> tuple[Mark | None, Text | None]:
        try:
            return read_checkpoint(self._key, await self._store.get(_RECORDS, _CHECKPOINT)), None
        except (StoreError, NewerVersionError) as error:
            return None, error.text

    async def _is_of_a_later_version(self) -> bool:
        try:
            read_checkpoint(self._key, await self._store.get(_RECORDS, _CHECKPOINT))
        except (StoreError, NewerVersionError) as error:
            return isinstance(error, NewerVersionError)
        return False

    def _read_anchor(self) -> tuple[Mark | None, Text | None]:
        try:
            return read_anchor(self._anchor), None
        except NewerVersionError as error:
            return None, error.text

    async def _with_bodies(self, heads: Sequence[Head]) -> list[tuple[Head, Event | None]]:
        return [(head, await self.event(head)) for head in heads]

    def _note(self, change: LogTransaction | None) -> None:
        """Note what a commit added; nothing is awaited between a commit and this, so that the order is the log's."""
        if change is None or change.newest is None:
            return
        self._newest = change.newest
        self._untold.extend(change.events)
        if any(isinstance(event, TraceClosed) for event in change.events):
            write_anchor(self._anchor, mark_of(change.newest))

    def _tell_listeners(self) -> asyncio.Task[None] | None:
        """Start telling the listeners; `None` where that is under way (a listener may commit) or not needed."""
        if self._telling is not None or not self._untold:
            return None
        self._telling = asyncio.create_task(self._tell_all())
        return self._telling

    async def _tell_all(self) -> None:
        try:
            while self._untold:
                event = self._untold.popleft()
                for listener in self._listeners:
                    await _tell(listener, event)
        finally:
            self._telling = None


async def _tell(listener: Listener, event: Event) -> None:
    try:
        result = listener(event)
        if isawaitable(result):
            await result
    except (Exception, asyncio.CancelledError) as error:
        _logger.warning("a listener failed on %s: %r", event_tag(event), error)


def _event(head: Head, body: bytes | None) -> Event | None:
    if body is None:
        return None
    if not same_mac(body_digest(body), head.body_sha256):
        raise StoreError(N_("event {seq}: its body was changed after it was written; verify the log", seq=head.seq))
    return loads_event(body, N_("event {seq}", seq=head.seq))


def stamp(at: datetime) -> str:
    """Return a time as heads carry it: ISO-8601 UTC, microseconds, `Z`."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
