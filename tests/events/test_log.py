"""Appending to the log, reading it back and telling the listeners."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from attrs import evolve
from myclaw_sqlite.event_store import SqliteEventStore

from myclaw_core.errors import CodecError, StoreError
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import Event, PluginFault, UndoApplied, UnknownEvent
from myclaw_core.testing import FakeClock

Fault = Callable[[int], PluginFault]


def undone(trace_id: UUID, step: int) -> UndoApplied:
    return UndoApplied(
        trace_id=trace_id,
        original_trace_id=UUID(int=7),
        step_index=step,
        undo_id=UUID(int=8),
        reverted=True,
        within_window=False,
    )


async def test_what_is_appended_is_read_back_by_trace(log: EventLog, fault: Fault) -> None:
    trace_id = uuid4()
    async with log.transaction() as tx:
        assert await tx.append(undone(trace_id, 0)) == 1
        assert await tx.append(fault(1)) == 2
    async with log.transaction() as tx:
        assert await tx.append(undone(trace_id, 1)) == 3
    found = await log.events(trace_id)
    assert [event for _, event in found] == [undone(trace_id, 0), undone(trace_id, 1)]
    assert [(head.seq, head.type, head.trace_id) for head, _ in found] == [
        (1, "undo_applied", str(trace_id)),
        (3, "undo_applied", str(trace_id)),
    ]
    assert [event for _, event in await log.since(1, limit=1)] == [fault(1)]
    assert await log.events(uuid4()) == []


async def test_only_the_bodies_of_the_wanted_classes_are_read(log: EventLog, fault: Fault, tamper: Any) -> None:
    trace_id = uuid4()
    async with log.transaction() as tx:
        await tx.append(evolve(fault(1), trace_id=trace_id))
        await tx.append(undone(trace_id, 0))
    tamper("UPDATE bodies SET body = x'00' WHERE seq = 1")
    assert [event for _, event in await log.events(trace_id, UndoApplied)] == [undone(trace_id, 0)]
    with pytest.raises(StoreError, match="event 1"):
        await log.events(trace_id)


async def test_traces_are_found_by_the_beginning_of_their_id(log: EventLog, fault: Fault) -> None:
    ids = [UUID(f"01234567-89ab-4000-8000-00000000000{number}") for number in range(3)]
    for trace_id in ids:
        async with log.transaction() as tx:
            await tx.append(evolve(fault(1), trace_id=trace_id))
    assert list(await log.trace_ids()) == [str(trace_id) for trace_id in reversed(ids)]
    assert list(await log.trace_ids("01234567-89ab", limit=1)) == [str(ids[2])]
    assert list(await log.trace_ids("\udc80")) == []


async def test_an_event_is_stamped_by_the_clock_in_one_fixed_form(db: Path, fault: Fault) -> None:
    clock = FakeClock()
    log = EventLog(SqliteEventStore(db), bytes(32), clock)
    await log.open()
    for step in (timedelta(0), timedelta(microseconds=5)):
        clock.advance(seconds=step.total_seconds())
        async with log.transaction() as tx:
            await tx.append(fault(1))
    assert [head.at for head, _ in await log.since(0)] == ["2026-01-05T09:00:00.000000Z", "2026-01-05T09:00:00.000005Z"]
    await log.close()


async def test_an_event_of_a_later_version_is_kept(log: EventLog) -> None:
    event = UnknownEvent(type="moon_phase", data={"phase": "full"})
    async with log.transaction() as tx:
        await tx.append(event)
    ((head, found),) = await log.since(0)
    assert head.type == "moon_phase"
    assert isinstance(found, UnknownEvent)
    assert found.data["phase"] == "full"


async def test_events_and_records_are_committed_together_or_not_at_all(log: EventLog, fault: Fault) -> None:
    async def fail() -> None:
        async with log.transaction() as tx:
            await tx.append(fault(1))
            await tx.put("grant", "a", b"1")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert (await log.since(0), await log.scan("grant")) == ([], [])
    async with log.transaction() as tx:
        await tx.append(fault(2))
        await tx.put("grant", "a", b"1")
        await tx.put("grant", "b", b"2")
        await tx.delete("grant", "b")
        assert await tx.get("grant", "a") == b"1"
        assert await tx.scan("grant") == [("a", b"1")]
    assert await log.get("grant", "a") == b"1"
    assert len(await log.since(0)) == 1


async def test_an_event_that_cannot_be_written_leaves_the_rest_to_the_caller(log: EventLog, fault: Fault) -> None:
    async with log.transaction() as tx:
        with pytest.raises(CodecError):
            await tx.append(UnknownEvent(type="broken", data={"cost": float("nan")}))
        assert await tx.append(fault(1)) == 1
    assert (await log.verify()).ok


async def test_listeners_hear_of_events_after_the_commit_and_in_order(log: EventLog, fault: Fault) -> None:
    heard: list[tuple[str, Event]] = []

    async def slow(event: Event) -> None:
        assert (await log.since(0))[-1][1] is not None
        await asyncio.sleep(0)
        heard.append(("slow", event))

    log.subscribe(slow)
    log.subscribe(lambda event: heard.append(("quick", event)))

    async def add(number: int) -> None:
        async with log.transaction() as tx:
            await tx.append(fault(number))
            await tx.append(fault(number + 100))
            assert ("quick", fault(number)) not in heard

    await asyncio.gather(*(add(number) for number in range(8)))
    await log.close()
    await log.open()
    written = [event for _, event in await log.since(0)]
    assert [event for name, event in heard if name == "quick"] == written
    assert [event for name, event in heard if name == "slow"] == written


async def test_one_task_alone_goes_on_once_the_listeners_are_done(log: EventLog, fault: Fault) -> None:
    heard: list[Event] = []

    async def slow(event: Event) -> None:
        for _ in range(5):
            await asyncio.sleep(0)
        heard.append(event)

    log.subscribe(slow)
    async with log.transaction() as tx:
        await tx.append(fault(1))
    assert heard == [fault(1)]


async def test_nothing_is_told_of_what_was_rolled_back(log: EventLog, fault: Fault) -> None:
    heard: list[Event] = []
    log.subscribe(heard.append)

    async def fail() -> None:
        async with log.transaction() as tx:
            await tx.append(fault(1))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    async with log.transaction() as tx:
        await tx.append(fault(2))
    assert heard == [fault(2)]


@pytest.mark.parametrize("error", [ValueError("no"), asyncio.CancelledError(), StoreError("no")])
async def test_a_listener_that_fails_changes_nothing_for_the_others(
    log: EventLog, fault: Fault, error: BaseException
) -> None:
    heard: list[Event] = []

    def fail(event: Event) -> None:
        raise error

    async def fail_later(event: Event) -> None:
        raise error

    for listener in (fail, fail_later, heard.append):
        log.subscribe(listener)
    for number in (1, 2):
        async with log.transaction() as tx:
            await tx.append(fault(number))
    assert heard == [fault(1), fault(2)]
    assert (await log.verify()).checked == 2


async def test_a_listener_may_append_itself(log: EventLog, fault: Fault) -> None:
    heard: list[Event] = []

    async def answer(event: Event) -> None:
        heard.append(event)
        if event == fault(1):
            async with log.transaction() as tx:
                await tx.append(fault(2))

    log.subscribe(answer)
    async with log.transaction() as tx:
        await tx.append(fault(1))
    assert heard == [fault(1), fault(2)]


async def test_a_task_cancelled_while_it_commits_still_has_its_events_told(log: EventLog, fault: Fault) -> None:
    heard: list[Event] = []
    log.subscribe(heard.append)
    for number in range(12):
        task = asyncio.create_task(_add(log, fault(number)))
        for _ in range(number):
            await log.get("-", "-")
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    await log.close()
    await log.open()
    assert heard == [event for _, event in await log.since(0)]


async def _add(log: EventLog, event: Event) -> None:
    async with log.transaction() as tx:
        await tx.append(event)


async def test_secrets_are_masked_before_they_are_stored(
    log: EventLog, db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME_API_TOKEN", "s3cr3t-v4lue-0123456789")
    event = PluginFault(plugin="demo", hook="load", detail="sent s3cr3t-v4lue-0123456789 to the server")
    async with log.transaction() as tx:
        await tx.append(event)
    ((_, found),) = await log.since(0)
    assert isinstance(found, PluginFault)
    assert "«redacted:" in found.detail
    assert not any(b"s3cr3t" in content for content in _contents(db.parent))


def _contents(folder: Path) -> list[bytes]:
    return [file.read_bytes() for file in folder.iterdir()]


async def test_an_erased_event_reads_as_none_and_the_rest_stays(log: EventLog, fault: Fault) -> None:
    for number in (1, 2, 3):
        await _add(log, fault(number))
    await log.erase(2)
    assert [event for _, event in await log.since(0)] == [fault(1), None, fault(3)]
    report = await log.verify()
    assert (report.ok, report.checked) == (True, 3)


async def test_a_changed_body_is_never_read_as_an_event(
    log: EventLog, fault: Fault, tamper: Callable[..., None]
) -> None:
    await _add(log, fault(1))
    tamper("UPDATE bodies SET body = CAST(replace(CAST(body AS TEXT), 'number 1', 'number 9') AS BLOB)")
    with pytest.raises(StoreError, match="event 1: its body was changed"):
        await log.since(0)


async def test_closing_twice_is_fine(new_log: Callable[..., EventLog], fault: Fault) -> None:
    log = new_log()
    await log.close()
    await log.open()
    await _add(log, fault(1))
    await log.close()
    await log.close()
