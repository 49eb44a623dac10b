"""Trust that was earned: traces closed now, and good ones day by day."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from myclaw_core.testing import FakeClock
from myclaw_core.trust.book import TrustBook
from myclaw_core.trust.types import TraceSignals

__all__ = ["apply", "happen", "practised"]


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


async def happen(
    make: SimpleNamespace, book: TrustBook, clock: FakeClock, what: str, subject: Any, traces: list[tuple[UUID, Any]]
) -> None:
    """Let one thing happen through `book`, to a trace of the subject where it takes one."""
    mine = [trace for trace, of in traces if of == subject]
    if what in ("good", "failed", "denied"):
        signals = make.denied(subject) if what == "denied" else make.ideal(subject, tool_success=float(what == "good"))
        traces.append((await apply(make, book, clock, signals), subject))
    elif what in ("undo", "late undo") and mine:
        await book.record_undo(mine[-1], [subject], in_time=what == "undo")
    elif what in ("yes", "no") and mine:
        answer = make.approval(clock, mine[0], granted=what == "yes")
        await book.record_approval_outcome(mine[0], answer, [subject])
    elif what == "rollback":
        await book.rollback(subject, clock.now() - timedelta(hours=50))
    elif what in ("revoke", "hold", "restore"):
        await getattr(book, what)([subject])
