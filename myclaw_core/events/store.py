"""What a core database plugin keeps: chained heads, erasable bodies and small current-state records.

The plugin keeps bytes. What they mean, how they are chained and when they may change is the core's business
(`log.py`); a plugin that is wrong about them is found out by `verify`.

A head names its trace and not its session: the trace's first event, `turn_started`, says the session, and so does its
closing one. Events of another process (recovery, an undo) know the trace only; and a head stays for good, while the
session of an erased conversation is erased with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from attrs import frozen

__all__ = ["EventStore", "Head", "StoreTransaction"]


@frozen(kw_only=True)
class Head:
    """One link of the chain; it stays when its body is erased.

    Attributes:
        seq: 1, 2, 3 … without gaps.
        at: ISO-8601 UTC, microseconds, `Z`.
        type: Tag of the event.
        trace_id: The trace it belongs to, or empty.
        body_sha256: Digest of the body's stored bytes.
        mac: HMAC-SHA256 over the previous head's mac and this head's other fields.
    """

    seq: int
    at: str
    type: str
    trace_id: str
    body_sha256: bytes
    mac: bytes


class StoreTransaction(Protocol):
    """One atomic change; nothing of it is visible to others before it is committed."""

    async def last_head(self) -> Head | None:
        """Return the newest head, or `None` in an empty log."""
        ...

    async def append(self, head: Head, body: bytes) -> None:
        """Add a head with its body."""
        ...

    async def get(self, kind: str, key: str) -> bytes | None:
        """Return one current-state record."""
        ...

    async def put(self, kind: str, key: str, value: bytes) -> None:
        """Set one current-state record."""
        ...

    async def delete(self, kind: str, key: str) -> None:
        """Remove one current-state record; nothing happens where there is none."""
        ...

    async def scan(self, kind: str, prefix: str = "") -> Sequence[tuple[str, bytes]]:
        """Return the records of `kind` whose key starts with `prefix`, by key."""
        ...


class EventStore(Protocol):
    """The one core database: event log, turns, approvals, grants, ledger, counters and undo index together."""

    async def open(self) -> None:
        """Open or create it.

        Raises:
            StoreError: It cannot be opened; the text names the file and what to do.
        """
        ...

    async def close(self) -> None:
        """Close it; may be called twice."""
        ...

    def transaction(self) -> AbstractAsyncContextManager[StoreTransaction]:
        """Return a context that holds the write lock from its start and commits durably at its end.

        An exception in its body rolls everything back. Other processes wait; they never see "database is locked".
        A commit that has begun ends before a cancellation comes through; a transaction inside one of the same task is
        an error.
        """
        ...

    async def last_head(self) -> Head | None:
        """Return the newest head, or `None` in an empty log."""
        ...

    async def heads(self, after: int = 0, limit: int = 1000) -> Sequence[Head]:
        """Return heads with `seq > after` in order."""
        ...

    async def heads_of(self, trace_id: str) -> Sequence[Head]:
        """Return the heads of one trace in order."""
        ...

    async def trace_ids(self, prefix: str = "", limit: int = 1000) -> Sequence[str]:
        """Return the ids of traces that start with `prefix`, the one that began last first.

        It reads an index, not the heads: logs grow for years.
        """
        ...

    async def body(self, seq: int) -> bytes | None:
        """Return the body of one event, or `None` where it was erased."""
        ...

    async def erase_body(self, seq: int) -> None:
        """Erase one body for good; its head stays."""
        ...

    async def get(self, kind: str, key: str) -> bytes | None:
        """Return one committed current-state record."""
        ...

    async def scan(self, kind: str, prefix: str = "") -> Sequence[tuple[str, bytes]]:
        """Return the committed records of `kind` whose key starts with `prefix`, by key."""
        ...
