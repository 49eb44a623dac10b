"""A goal that rests is left alone until the end of its rest and not longer, whatever the clock does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from myclaw_sqlite.event_store import SqliteEventStore

from myclaw_core import codec
from myclaw_core.embedding.book import EmbeddingBook
from myclaw_core.embedding.hashed import HashedEmbedder
from myclaw_core.events.log import EventLog
from myclaw_core.messages import N_
from myclaw_core.synthesis.rests import ABANDONED_RESTS, REFUSED_RESTS, REST_KIND, Rest, rest, resting
from myclaw_core.testing import FakeClock

AT = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
GOAL = "Merge the scans of May into one PDF"
WHY = N_("four attempts were refused")
BOOK = EmbeddingBook(HashedEmbedder(), None, FakeClock())


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[EventLog]:
    log = EventLog(SqliteEventStore(folder / "events.db"), bytes(32), FakeClock())
    await log.open()
    try:
        yield log
    finally:
        await log.close()


@pytest.fixture
async def log(tmp_path: Path) -> AsyncIterator[EventLog]:
    """Return an event log in a real database."""
    async with opened(tmp_path) as made:
        yield made


async def put(log: EventLog, goal: str = GOAL, span: timedelta = ABANDONED_RESTS, now: datetime = AT) -> None:
    async with log.transaction() as tx:
        await rest(tx, goal, now + span, WHY, now=now)


async def rests(log: EventLog, now: datetime, goal: str = GOAL) -> bool:
    return await resting(log, BOOK, goal, now) is not None


async def test_a_goal_that_was_given_up_rests_for_a_day(log: EventLog) -> None:
    await put(log)

    found = await resting(log, BOOK, GOAL, AT + timedelta(hours=23, minutes=59))

    assert found is not None
    assert (found.goal, found.until, str(found.why)) == (GOAL, AT + timedelta(days=1), "four attempts were refused")
    assert not await rests(log, AT + timedelta(hours=24))


@pytest.mark.parametrize(
    ("goal", "same"),
    [
        ("  merge the SCANS of may\n into one pdf ", True),
        ("Merge the scans of June into one PDF", True),
        ("Water the plants", False),
        ("", False),
    ],
)
async def test_the_same_goal_in_other_words_rests_too(log: EventLog, goal: str, same: bool) -> None:
    await put(log)

    assert await rests(log, AT, goal) == same


async def test_goals_without_a_word_that_says_something_are_the_same_if_they_are_equal(log: EventLog) -> None:
    await put(log, "Do IT")

    assert await rests(log, AT, "do it")
    assert not await rests(log, AT, "do that")


async def test_of_two_rests_the_longer_one_counts_in_either_order(log: EventLog) -> None:
    await put(log, span=REFUSED_RESTS)
    await put(log, span=ABANDONED_RESTS)
    await put(log, "Water the plants", ABANDONED_RESTS)
    await put(log, "Water the plants", REFUSED_RESTS)

    for goal in (GOAL, "Water the plants"):
        assert await rests(log, AT + timedelta(days=29), goal)
        assert not await rests(log, AT + timedelta(days=30), goal)


async def test_a_clock_that_is_set_back_lets_nothing_rest_longer_than_its_span_from_then(log: EventLog) -> None:
    await put(log)
    back = AT - timedelta(days=365)

    assert await rests(log, back)
    assert await rests(log, back + timedelta(hours=23))
    assert not await rests(log, back + timedelta(hours=24))


async def test_no_record_rests_longer_than_thirty_days_or_stops_another_one(log: EventLog) -> None:
    endless = Rest(goal=GOAL, at=AT, until=AT + timedelta(days=9999), why=WHY)
    async with log.transaction() as tx:
        await tx.put(REST_KIND, "endless", codec.dumps(endless))
        await tx.put(REST_KIND, "damaged", b'{"goal": ')
        await tx.put(REST_KIND, "no times", b"{}")
    await put(log, "Water the plants", timedelta(days=9999))

    for goal in (GOAL, "Water the plants"):
        assert await rests(log, AT + timedelta(days=29), goal)
        assert not await rests(log, AT + timedelta(days=30), goal)


async def test_rests_that_are_over_go_and_there_are_never_more_than_five_hundred(log: EventLog) -> None:
    async with log.transaction() as tx:
        await tx.put(REST_KIND, "damaged", b"\x00")
        for number in range(500):
            until = AT + timedelta(hours=1, seconds=number)
            each = Rest(goal=f"{number}", at=AT, until=until, why=WHY)
            await tx.put(REST_KIND, f"{number:03}", codec.dumps(each))
    await put(log)
    many = dict(await log.scan(REST_KIND))
    await put(log, "Later", now=AT + timedelta(hours=2))
    few = await log.scan(REST_KIND)

    assert len(many) == 500
    assert many.keys().isdisjoint({"damaged", "000"})
    assert await rests(log, AT)
    assert len(few) == 2


async def test_what_is_kept_is_bounded_and_holds_no_secret(log: EventLog) -> None:
    async with log.transaction() as tx:
        why = N_("refused: {reason}", reason="x" * 10_000)
        await rest(tx, "use password=hunter2hunter2 " + "y" * 10_000, AT + ABANDONED_RESTS, why, now=AT)
    ((_, raw),) = await log.scan(REST_KIND)

    assert len(raw) < 3_000
    assert b"hunter2" not in raw


SPANS = st.sampled_from([ABANDONED_RESTS, REFUSED_RESTS, timedelta(minutes=1)])
FORWARD = st.lists(st.integers(0, 40 * 24 * 60), max_size=6)
ANYWHERE = st.lists(st.integers(-400 * 24 * 60, 40 * 24 * 60), max_size=6)


@settings(max_examples=25, deadline=None)
@given(SPANS, FORWARD)
async def test_it_rests_before_the_end_always_and_after_the_end_never(span: timedelta, minutes: list[int]) -> None:
    with TemporaryDirectory() as folder:
        async with opened(Path(folder)) as log:
            await put(log, span=span)
            now = AT
            for step in minutes:
                now += timedelta(minutes=step)
                assert await rests(log, now) == (now < AT + span)


@settings(max_examples=25, deadline=None)
@given(SPANS, ANYWHERE)
async def test_wherever_the_clock_is_set_a_rest_has_ended_a_span_later(span: timedelta, minutes: list[int]) -> None:
    with TemporaryDirectory() as folder:
        async with opened(Path(folder)) as log:
            await put(log, span=span)
            now = AT
            for step in minutes:
                now += timedelta(minutes=step)
                found = await resting(log, BOOK, GOAL, now)
                assert found is None or now < found.until <= now + span
            assert not await rests(log, now + span)
