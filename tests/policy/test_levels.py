"""A level that the person set for a time: it holds from its start to its end, and no hour of it twice."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from myclaw_sqlite.event_store import SqliteEventStore
from spoken import untranslatable

from myclaw_core.events.log import EventLog
from myclaw_core.events.types import LevelChanged
from myclaw_core.policy.levels import Levels
from myclaw_core.testing import FakeClock
from myclaw_core.types.effect import AUTONOMY_LEVELS, Autonomy, autonomy_le

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
DAY = timedelta(hours=24)
NewLevels = Callable[..., Levels]


@pytest.fixture
async def log(tmp_path: Path, clock: FakeClock) -> AsyncIterator[EventLog]:
    """Return an open log."""
    log = EventLog(SqliteEventStore(tmp_path / "events.db"), bytes(32), clock)
    await log.open()
    yield log
    await log.close()


@pytest.fixture
def new_levels(log: EventLog, clock: FakeClock) -> NewLevels:
    """Return a maker of what a process knows of levels."""
    return lambda configured="supervised": Levels(log, clock, configured)


@pytest.fixture
def levels(new_levels: NewLevels) -> Levels:
    """Return the levels of an installation that is configured as usual."""
    return new_levels()


async def events(log: EventLog) -> list[object]:
    """Return everything that was recorded."""
    return [event for _, event in await log.since(0)]


async def test_without_anything_set_the_configured_level_stands(levels: Levels) -> None:
    """Nothing is written to find that out."""
    assert (await levels.now(), await levels.begin_turn(), await levels.term()) == ("supervised", "supervised", None)
    assert str(await levels.words()) == "level: supervised"


async def test_a_level_holds_from_its_start_up_to_its_end(levels: Levels, clock: FakeClock) -> None:
    """The end itself is not part of it."""
    await levels.begin("cli:me", "full", DAY)
    assert await levels.now() == "full"
    clock.set(START + DAY - timedelta(microseconds=1))
    assert await levels.now() == "full"
    clock.set(START + DAY)
    assert await levels.now() == "supervised"
    assert await levels.term() is None


async def test_every_process_sees_it_and_a_restart_keeps_it(levels: Levels, new_levels: NewLevels) -> None:
    """Whatever each of them is configured to."""
    await levels.begin("cli:me", "full", DAY)
    assert [await new_levels(configured).now() for configured in AUTONOMY_LEVELS] == ["full"] * 3


async def test_who_set_which_level_until_when_is_recorded(levels: Levels, log: EventLog) -> None:
    """With the cost that was stated; its end by hand is recorded too."""
    await levels.begin("cli:me", "full", DAY, estimate_eur=3.5)
    assert await levels.end("cli:me")
    assert await events(log) == [
        LevelChanged(sender="cli:me", level="full", until=START + DAY, estimate_eur=3.5),
        LevelChanged(sender="cli:me", level="supervised"),
    ]


async def test_ended_by_hand_it_is_over_for_everybody(levels: Levels, new_levels: NewLevels) -> None:
    """A second time changes nothing."""
    await levels.begin("cli:me", "full", DAY)
    assert await new_levels().end("cli:me")
    assert await levels.now() == "supervised"
    assert not await levels.end("cli:me")


async def test_one_that_is_over_cannot_be_ended(levels: Levels, log: EventLog, clock: FakeClock) -> None:
    """Nothing is recorded of it."""
    await levels.begin("cli:me", "full", DAY)
    clock.advance(hours=25)
    assert not await levels.end("cli:me")
    assert len(await events(log)) == 1


async def test_the_newest_takes_the_place_of_the_one_before(levels: Levels, clock: FakeClock) -> None:
    """Also where it is shorter."""
    await levels.begin("cli:me", "full", DAY)
    await levels.begin("cli:me", "read_only", timedelta(hours=1))
    assert await levels.now() == "read_only"
    clock.advance(hours=1)
    assert await levels.now() == "supervised"


async def test_a_clock_before_its_start_voids_it(levels: Levels, clock: FakeClock) -> None:
    """Until the clock is right again."""
    await levels.begin("cli:me", "full", DAY)
    clock.set(START - timedelta(seconds=1))
    assert await levels.now() == "supervised"
    clock.set(START + timedelta(hours=1))
    assert await levels.now() == "full"


async def test_a_clock_that_is_set_back_within_it_does_not_extend_it(levels: Levels, clock: FakeClock) -> None:
    """What was lived through by a turn is not lived through again."""
    await levels.begin("cli:me", "full", DAY)
    clock.set(START + timedelta(hours=23))
    assert await levels.begin_turn() == "full"
    clock.set(START + timedelta(hours=2))
    assert (await levels.now(), await levels.begin_turn()) == ("supervised", "supervised")
    clock.set(START + timedelta(hours=23, minutes=30))
    assert await levels.begin_turn() == "full"


async def test_a_clock_that_is_set_back_lifts_no_lower_level(new_levels: NewLevels, clock: FakeClock) -> None:
    """A person who set read_only for a day is not back at full because the clock was corrected by a second."""
    levels = new_levels("full")
    await levels.begin("cli:me", "read_only", DAY)
    clock.set(START - timedelta(seconds=1))
    assert (await levels.now(), str(await levels.words())) == ("read_only", "level: read_only")
    clock.set(START + timedelta(hours=2))
    assert await levels.begin_turn() == "read_only"
    clock.set(START + timedelta(hours=1))
    assert (await levels.now(), await levels.begin_turn()) == ("read_only", "read_only")
    clock.set(START + DAY)
    assert await levels.now() == "full"


@pytest.mark.parametrize(
    ("configured", "present", "level", "needs"),
    [
        ("supervised", None, "full", True),
        ("supervised", None, "supervised", False),
        ("supervised", None, "read_only", False),
        ("supervised", "full", "full", True),  # it may last longer
        ("supervised", "full", "supervised", False),
        ("supervised", "read_only", "supervised", True),
        ("read_only", None, "supervised", True),
        ("full", None, "full", False),
        ("full", "read_only", "full", True),
        ("full", "read_only", "read_only", False),
    ],
)
async def test_more_than_now_or_than_configured_needs_consent(
    new_levels: NewLevels, configured: Autonomy, present: Autonomy | None, level: Autonomy, needs: bool
) -> None:
    """Less never does."""
    levels = new_levels(configured)
    if present:
        await levels.begin("cli:me", present, DAY)
    assert await levels.needs_consent(level) is needs


@pytest.mark.parametrize("raw", [b"", b"\xff", b"{}", b'{"schema_version": "2.0"}'])
@pytest.mark.parametrize(
    ("configured", "level"), [("read_only", "read_only"), ("supervised", "supervised"), ("full", "supervised")]
)
async def test_where_it_cannot_be_read_every_side_effect_asks(
    new_levels: NewLevels, log: EventLog, raw: bytes, configured: Autonomy, level: Autonomy
) -> None:
    """It may have been a level below the configured one. Ending it mends that."""
    async with log.transaction() as tx:
        await tx.put("level", "standing", raw)
    levels = new_levels(configured)
    assert (await levels.now(), await levels.begin_turn()) == (level, level)
    words = await levels.words()
    assert str(words).startswith(f"level: {level}, as the one that was set cannot be read: the record of the level: ")
    assert untranslatable(words) == []
    assert await levels.end("cli:me")
    assert await levels.now() == configured


MOVES = st.lists(st.tuples(st.integers(-30 * 60, 30 * 60), st.booleans(), st.integers(0, 1)), max_size=20)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moves=MOVES, hours=st.integers(1, 24))
async def test_whatever_the_clock_does_turns_run_through_its_time_once(
    new_levels: NewLevels, clock: FakeClock, moves: list[tuple[int, bool, int]], hours: int
) -> None:
    """Over two processes, between its start and its end, and never backwards."""
    clock.set(START)
    both = [new_levels(), new_levels()]
    await both[0].begin("cli:me", "full", timedelta(hours=hours))
    ran = [START]
    for minutes, begins, which in moves:
        clock.set(clock.now() + timedelta(minutes=minutes))
        level = await (both[which].begin_turn() if begins else both[which].now())
        assert autonomy_le("supervised", level)
        if level == "full":
            assert ran[-1] <= clock.now() < START + timedelta(hours=hours)
            ran += [clock.now()] if begins else []
    assert ran == sorted(ran)
