"""Trust that was earned: traces closed now, and good ones day by day."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from uuid import UUID

from myclaw_core.testing import FakeClock
from myclaw_core.trust.book import TrustBook
from myclaw_core.trust.types import TraceSignals

__all__ = ["apply", "practised"]


async def apply(make: SimpleNamespace, book: TrustBook, clock: FakeClock, *signals: TraceSignals) -> UUID:
    """Close a trace now that says `signals`; return its id."""
    trace = make.trace(clock.new_id(), clock.now())
    await book.bulk_update_from_trace(trace, signals)
    return trace.id  # type: ignore[no-any-return]


async def practised(
    make: SimpleNamespace, book: TrustBook, clock: FakeClock, days: int, subject: Any = None, **changes: Any
) -> list[UUID]:
    """Close a good trace a day; return their ids."""
    traces = []
    for _ in range(days):
        clock.advance(days=1)
        traces.append(await apply(make, book, clock, make.ideal(subject or make.NOTES, **changes)))
    return traces
