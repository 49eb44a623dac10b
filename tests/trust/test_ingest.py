"""Traces from a file count like live ones, once each; what is wrong with a line stays with that line."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from myclaw_sqlite.event_store import SqliteEventStore

from myclaw_core import codec
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import TraceClosed
from myclaw_core.runtime.types import ExecutionTrace, Message
from myclaw_core.testing import FakeClock
from myclaw_core.trust.book import TrustBook
from myclaw_core.trust.follower import TrustFollower
from myclaw_core.trust.ingest import Ingested, ingest
from myclaw_core.trust.types import TraceSignals

MOST = 100_000


@pytest.fixture
async def log(tmp_path: Path, clock: FakeClock) -> AsyncIterator[EventLog]:
    """Return an open, empty log."""
    log = EventLog(SqliteEventStore(tmp_path / "events.db"), bytes(32), clock)
    await log.open()
    yield log
    await log.close()


class Taking:
    """Takes lines in, and lets trust follow."""

    def __init__(self, log: EventLog, book: TrustBook, clock: FakeClock, make: SimpleNamespace) -> None:
        self.log, self.book, self.clock, self.make = log, book, clock, make

    def line(self, **changes: Any) -> bytes:
        """Return the line of a trace that was closed a day ago."""
        trace = self.make.trace(self.clock.new_id(), self.clock.now() - timedelta(days=1), **changes)
        return codec.dumps(trace) + b"\n"

    def signals(self, _trace: ExecutionTrace) -> Sequence[TraceSignals]:
        return (self.make.ideal(),)

    async def __call__(self, lines: Iterable[bytes]) -> Ingested:
        numbered = enumerate(lines, start=1)
        done = await ingest(numbered, self.log, self.signals, self.clock, most_bytes=MOST)
        await TrustFollower(self.log, self.book).catch_up()
        return done

    async def samples(self) -> int:
        score = await self.book.get(self.make.NOTES)
        return score.n_samples if score else 0

    async def closed(self) -> list[TraceClosed]:
        return [event for _, event in await self.log.since(0) if isinstance(event, TraceClosed)]


@pytest.fixture
async def take(log: EventLog, open_book: Any, clock: FakeClock, make: SimpleNamespace) -> Taking:
    """Return what takes lines in."""
    return Taking(log, await open_book(), clock, make)


async def test_each_trace_of_a_file_counts_and_is_marked(take: Taking) -> None:
    done = await take([take.line(), take.line()])

    assert (done.taken, done.known, done.problems) == (2, 0, [])
    assert await take.samples() == 2
    assert all(event.ingested and event.signals for event in await take.closed())


async def test_a_sample_is_dated_by_when_its_trace_was_closed(take: Taking, make: SimpleNamespace) -> None:
    """Not by when it was taken in: old trust has faded."""
    await take([take.line(closed_at=take.clock.now() - timedelta(days=60))])

    (sample,) = await take.book.events(make.NOTES)
    assert sample.at == take.clock.now() - timedelta(days=60)


async def test_a_trace_of_long_ago_leaves_the_record_whole(take: Taking, make: SimpleNamespace) -> None:
    """Its year has fewer than four digits, and still has to be written with four."""
    line = codec.dumps(make.trace(take.clock.new_id(), datetime(900, 1, 1, tzinfo=UTC))) + b"\n"

    assert (await take([line, take.line()])).taken == 2
    assert await take.samples() == 2
    assert (await take.book.verify()).ok


async def test_reading_a_file_again_changes_nothing(take: Taking) -> None:
    """Nor does the same trace twice in one file, or one that was closed here."""
    lines = [take.line(), take.line()]
    await take([*lines, lines[0]])
    before = [head.mac for head, _ in await take.log.since(0)]

    done = await take(lines)

    assert (done.taken, done.known) == (0, 2)
    assert [head.mac for head, _ in await take.log.since(0)] == before
    assert await take.samples() == 2


async def test_a_trace_of_this_home_is_known(take: Taking, clock: FakeClock, make: SimpleNamespace) -> None:
    trace = make.trace(clock.new_id(), clock.now())
    async with take.log.transaction() as tx:
        await tx.append(TraceClosed(trace_id=trace.id, trace=trace, signals=(make.ideal(),)))

    done = await take([codec.dumps(trace)])

    assert (done.taken, done.known) == (0, 1)
    assert await take.samples() == 1


async def test_more_traces_than_one_transaction_holds_are_all_taken_in(take: Taking) -> None:
    assert (await take([take.line() for _ in range(130)])).taken == 130
    assert await take.samples() == 130


def broken(take: Taking) -> dict[str, tuple[bytes, str]]:
    """Return lines that are wrong, each with what is said of it."""
    value = json.loads(take.line())
    return {
        "no JSON": (b"{", "line 2: "),
        "no object": (b"3\n", "line 2: expected an object"),
        "no text": (b"\xff\xfe\n", "line 2: "),
        "no version": (json.dumps(value | {"schema_version": None}).encode(), "line 2: "),
        "a later major": (
            json.dumps(value | {"schema_version": "2.0"}).encode(),
            "line 2: schema version 2.0 is newer",
        ),
        "a wrong type": (json.dumps(value | {"steps": 3}).encode(), "line 2: "),
        "not closed": (take.line(closed_at=None), "line 2: the trace is not closed"),
        "no outcome": (take.line(outcome=None), "line 2: the trace is not closed"),
        "the future": (
            take.line(closed_at=take.clock.now() + timedelta(seconds=1)),
            "line 2: the trace was closed in the future",
        ),
        "too long": (take.line(session_id="x" * MOST), f"line 2: it is longer than {MOST} bytes"),
    }


@pytest.mark.parametrize(
    "what",
    [
        "no JSON",
        "no object",
        "no text",
        "no version",
        "a later major",
        "a wrong type",
        "not closed",
        "no outcome",
        "the future",
        "too long",
    ],
)
async def test_a_line_that_is_wrong_is_one_error_and_the_rest_is_taken_in(take: Taking, what: str) -> None:
    line, said = broken(take)[what]

    done = await take([take.line(), line, take.line()])

    ((number, problem),) = done.problems
    assert (done.taken, number) == (2, 2)
    assert str(problem).startswith(said)
    assert "\n" not in str(problem)
    assert await take.samples() == 2


async def test_a_field_of_a_later_minor_is_kept(take: Taking) -> None:
    value = json.loads(take.line()) | {"schema_version": "1.7", "mood": "fine"}

    await take([json.dumps(value).encode()])

    (event,) = await take.closed()
    assert event.trace.unknown_fields["mood"] == "fine"


async def test_secrets_are_masked_on_the_way_in(take: Taking) -> None:
    secret = "ghp_" + "a1B2" * 9
    await take([take.line(messages=[Message(role="user", text=f"my token is {secret}")])])

    (event,) = await take.closed()
    assert secret not in event.trace.messages[0].text


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(noise=st.lists(st.binary(max_size=40), max_size=5))
async def test_whatever_else_lies_in_a_file_no_trace_of_it_is_lost(take: Taking, noise: list[bytes]) -> None:
    """Each line is either taken in or named."""
    lines = [part for junk in noise for part in (junk, take.line())]
    before = len(await take.closed())

    done = await take(lines)

    assert done.taken == len(noise) == len(done.problems)
    assert len(await take.closed()) == before + len(noise)
