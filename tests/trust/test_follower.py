"""The follower: what the event log says reaches the book, whatever it costs others."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from myclaw_sqlite.event_store import SqliteEventStore

from myclaw_core.events.log import EventLog
from myclaw_core.events.types import PluginFault, TraceClosed, UndoApplied
from myclaw_core.runtime.types import ActionStep
from myclaw_core.testing import FakeClock
from myclaw_core.trust.follower import TrustFollower


@pytest.fixture
async def log(tmp_path: Path, clock: FakeClock) -> AsyncIterator[EventLog]:
    """Return an open, empty log."""
    log = EventLog(SqliteEventStore(tmp_path / "events.db"), bytes(32), clock)
    await log.open()
    yield log
    await log.close()


def closed(make: SimpleNamespace, clock: FakeClock) -> TraceClosed:
    """Return the closing of a trace that wrote one note."""
    effect = make.effect(make.NOTES)
    step = ActionStep(
        index=0,
        tool_name="fs_write",
        args={},
        args_digest="",
        actor="fs_write",
        actor_version="1",
        model="m",
        state="done",
        kind="fs_write",
        effect_class=effect.effect_class,
        effects=(effect,),
        started_at=clock.now(),
    )
    trace = make.trace(clock.new_id(), clock.now(), steps=[step])
    return TraceClosed(trace_id=trace.id, trace=trace, signals=(make.ideal(),))


@pytest.mark.parametrize("within_window", [True, False])
async def test_whether_an_undo_counts_is_what_its_event_says_and_no_second_look_at_a_clock(
    log: EventLog, open_book: Any, clock: FakeClock, make: SimpleNamespace, within_window: bool
) -> None:
    """The clock was set between the decision and the record: the opposite of what the times would give."""
    ending = closed(make, clock)
    async with log.transaction() as tx:
        await tx.append(ending)
    clock.advance(minutes=11 if within_window else 1)
    undo = UndoApplied(
        trace_id=clock.new_id(),
        original_trace_id=ending.trace_id,
        step_index=0,
        undo_id=UUID(int=8),
        reverted=True,
        within_window=within_window,
    )
    async with log.transaction() as tx:
        await tx.append(undo)
    book = await open_book()

    await TrustFollower(log, book).catch_up()

    assert ((await book.get(make.NOTES)).undo_rate > 0.1) == within_window


async def test_only_what_it_applies_is_read(
    tmp_path: Path, log: EventLog, open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    """Most of a log is conversation; a start after a long time shall not parse all of it."""
    read: list[int] = []

    class Watched(SqliteEventStore):
        async def body(self, seq: int) -> bytes | None:
            read.append(seq)
            return await super().body(seq)

    async with log.transaction() as tx:
        for number in range(5):
            await tx.append(PluginFault(plugin="demo", hook="load", detail=f"number {number}"))
        await tx.append(closed(make, clock))
    watched = EventLog(Watched(tmp_path / "events.db"), bytes(32), clock)
    await watched.open()
    book = await open_book()

    await TrustFollower(watched, book).catch_up()
    await watched.close()

    assert read == [6]
    assert (await book.get(make.NOTES)).n_samples == 1
    assert book.applied_seq == 6
