"""Where the policy's records and trust lie in the differential test: in memory, or in real databases."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol
from uuid import UUID

from myclaw_core.runtime.types import ActionStep, ExecutionTrace
from myclaw_core.trust.book import TrustBook
from myclaw_core.trust.decayed_mean import DecayedMean
from myclaw_core.trust.happenings import Order, Sample, Undo
from myclaw_core.trust.signals import subjects_of
from myclaw_core.trust.states import MemoryTrust
from myclaw_core.trust.types import TraceSignals
from myclaw_core.types.trust import TrustSubject

__all__ = ["DatabaseStores", "MemoryStores", "OrderKind", "Stores"]


OrderKind = Literal["revoke", "hold", "restore"]
_UNDO_WINDOW = timedelta(minutes=10)


class Stores(Protocol):
    """What the engine reads and what moves it."""

    log: Any
    trust: Any

    async def closed(self, trace: ExecutionTrace, signals: Sequence[TraceSignals]) -> None:
        """Let trust take in a closed trace."""
        ...

    async def undone(self, trace: ExecutionTrace, steps: Sequence[ActionStep], undo: ExecutionTrace) -> None:
        """Let trust take in that `undo` took back steps of a trace."""
        ...

    async def ordered(self, kind: OrderKind, subject: TrustSubject, at: datetime, order_id: UUID) -> None:
        """Let trust take in an order of the person about one subject."""
        ...


class MemoryStores:
    """Records in a mapping, and the book's own arithmetic without its rows."""

    def __init__(self) -> None:
        self.log = _MemoryLog()
        self.trust = MemoryTrust(DecayedMean())

    async def closed(self, trace: ExecutionTrace, signals: Sequence[TraceSignals]) -> None:
        """Take in a closed trace."""
        assert trace.closed_at is not None
        self.trust.add(*(Sample(at=trace.closed_at, trace_id=str(trace.id), signals=entry) for entry in signals))

    async def undone(self, trace: ExecutionTrace, steps: Sequence[ActionStep], undo: ExecutionTrace) -> None:
        """Take in an undo."""
        assert trace.closed_at is not None
        undo_id, in_time = str(undo.id), _in_time(trace, undo)
        at = max(undo.started_at, trace.closed_at + timedelta(microseconds=1))
        self.trust.add(
            *(
                Undo(at=at, trace_id=undo_id, subject=subject, undone_trace_id=str(trace.id), in_time=in_time)
                for subject in _subjects(steps)
            )
        )

    async def ordered(self, kind: OrderKind, subject: TrustSubject, at: datetime, order_id: UUID) -> None:
        """Take in an order."""
        state = self.trust.get(subject)
        if state is not None and state.as_of is not None:
            at = max(at, state.as_of + timedelta(microseconds=1))
        self.trust.add(Order(kind=kind, at=at, trace_id=str(order_id), subject=subject))


class DatabaseStores:
    """The core database and the trust store.

    Args:
        log: The open event log.
        trust: The open book.
    """

    def __init__(self, log: Any, trust: TrustBook) -> None:
        self.log = log
        self.trust = trust
        self._seq = 0

    async def closed(self, trace: ExecutionTrace, signals: Sequence[TraceSignals]) -> None:
        """Take in a closed trace."""
        self._seq += 1
        await self.trust.bulk_update_from_trace(trace, signals, self._seq)

    async def undone(self, trace: ExecutionTrace, steps: Sequence[ActionStep], undo: ExecutionTrace) -> None:
        """Take in an undo."""
        self._seq += 1
        at, in_time = undo.started_at, _in_time(trace, undo)
        await self.trust.record_undo(
            trace.id, _subjects(steps), at=at, undone_by=undo.id, in_time=in_time, applied_seq=self._seq
        )

    async def ordered(self, kind: OrderKind, subject: TrustSubject, at: datetime, order_id: UUID) -> None:
        """Take in an order."""
        self._seq += 1
        await getattr(self.trust, kind)([subject], at=at, order_id=order_id, applied_seq=self._seq)


class _MemoryLog:
    def __init__(self) -> None:
        self.records: dict[tuple[str, str], bytes] = {}

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[_MemoryLog]:
        yield self

    async def get(self, kind: str, key: str) -> bytes | None:
        return self.records.get((kind, key))

    async def put(self, kind: str, key: str, value: bytes) -> None:
        self.records[kind, key] = value

    async def delete(self, kind: str, key: str) -> None:
        del self.records[kind, key]

    async def scan(self, kind: str, prefix: str = "") -> Sequence[tuple[str, bytes]]:
        found = [(key, value) for (of, key), value in self.records.items() if of == kind and key.startswith(prefix)]
        return sorted(found)


def _subjects(steps: Sequence[ActionStep]) -> list[TrustSubject]:
    return list(dict.fromkeys(subject for step in steps for subject in subjects_of(step)))


def _in_time(trace: ExecutionTrace, undo: ExecutionTrace) -> bool:
    return trace.closed_at is not None and undo.started_at - trace.closed_at <= _UNDO_WINDOW
