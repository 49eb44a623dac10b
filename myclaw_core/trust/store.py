"""What a trust store plugin keeps: score blobs, thresholds and append-only event rows (seed 000).

The plugin keeps bytes in the three tables of the seed; arithmetic, chain and promotion are the core's (`book.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from attrs import frozen

from myclaw_core.types.trust import TrustSubject

__all__ = ["TrustBackend", "TrustRow", "TrustTransaction"]


@frozen(kw_only=True)
class TrustRow:
    """One row of `events`; never changed once written.

    Attributes:
        seq: 1, 2, 3 … without gaps.
        ts: When its trace closed (an undo: when it was done), ISO-8601 UTC with `Z`; what rows say is ordered by
            (ts, trace_id), never by arrival.
        kind: `sample`, `undo`, `approval`, `revoke`, `restore`, `birth` or `rollback`.
        subject_hash: SHA-256 of the subject as hex.
        trace_id: The trace it comes from, or empty.
        attempt: How often rows of its subject were rolled back before: the table only grows, so what a rollback voided
            is written again under the next number.
        delta: JSON bytes of what happened.
        mac: HMAC over the previous row's mac and this row.
    """

    seq: int
    ts: str
    kind: str
    subject_hash: str
    trace_id: str
    attempt: int = 0
    delta: bytes
    mac: bytes


class TrustTransaction(Protocol):
    """One atomic change of the trust store."""

    async def append(self, row: TrustRow) -> bool:
        """Add a row; return False and change nothing where there is one of its trace, kind, subject and attempt."""
        ...

    async def put_score(self, subject_hash: str, subject: TrustSubject, blob: bytes, last_updated: str) -> None:
        """Set the component blob of a subject."""
        ...

    async def put_threshold(
        self, effect_class: str, risk_band: str, min_score: float, min_samples: int, cap_autonomy: str
    ) -> None:
        """Set one row of the table `thresholds`."""
        ...

    async def put_meta(self, key: str, value: bytes) -> None:
        """Set a small value such as `applied_seq`."""
        ...


class TrustBackend(Protocol):
    """A follower of the core database: it says how far it got and applies what is missing."""

    async def open(self) -> None:
        """Open or create it."""
        ...

    async def close(self) -> None:
        """Close it; may be called twice."""
        ...

    def transaction(self) -> AbstractAsyncContextManager[TrustTransaction]:
        """Return a context that holds the write lock from its start and commits at its end."""
        ...

    async def rows(self, after: int = 0, limit: int = 10_000) -> Sequence[TrustRow]:
        """Return event rows with `seq > after` in order."""
        ...

    async def rows_of(self, subject_hashes: Sequence[str]) -> Sequence[TrustRow]:
        """Return the event rows of these subjects by seq."""
        ...

    async def rows_of_trace(self, trace_id: str) -> Sequence[TrustRow]:
        """Return the event rows that came from this trace by seq."""
        ...

    async def macs(self, seqs: Sequence[int]) -> Mapping[int, bytes]:
        """Return the macs of the event rows with these numbers."""
        ...

    async def scores(self) -> Sequence[tuple[TrustSubject, bytes]]:
        """Return every subject with its component blob."""
        ...

    async def get_meta(self, key: str) -> bytes | None:
        """Return a small value."""
        ...
