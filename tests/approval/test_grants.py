"""Grants over restarts, clocks that are set back, two processes and damage."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from myclaw_core import codec
from myclaw_core.approval.grants import GRANT_KIND, GrantEndedError, told
from myclaw_core.approval.records import RECORD_KIND, open_records
from myclaw_core.approval.steady import SteadyTime
from myclaw_core.events.types import GrantEnded
from myclaw_core.testing import FakeClock
from myclaw_core.types.action import Caller, PlannedAction


async def grant(desk: Any, channel: Any, turn: Any, kit: Any, reach: str, **action: Any) -> None:
    """Answer one question about an action."""
    task, ids = await desk.put(channel, turn, kit.asking(kit.planned(turn, **action)))
    desk.clock.advance(seconds=4)
    assert await desk.press(ids[0], reach=reach) is None
    await task


@pytest.mark.parametrize("reach", ["10_min", "30_min", "3_times", "always"])
async def test_a_grant_survives_a_restart(
    tmp_path: Path, clock: FakeClock, channel: Any, turn: Any, kit: Any, reach: str
) -> None:
    """With what is left of it."""
    async with kit.opened(tmp_path / "events.db", clock) as desk:
        await grant(desk, channel, turn, kit, reach)
        assert await desk.act(kit.planned(turn))
    async with kit.opened(tmp_path / "events.db", clock) as desk:
        assert await desk.act(kit.planned(turn)) is (True)
        assert await desk.act(kit.planned(turn)) is (reach != "3_times")


@pytest.mark.parametrize("moment", ["before a restart", "after a restart", "after a reboot"])
async def test_a_clock_that_is_set_back_does_not_extend_a_grant(
    tmp_path: Path, clock: FakeClock, channel: Any, turn: Any, kit: Any, moment: str
) -> None:
    """The machine's monotonic clock counts on; after a reboot the newest event says how late it was."""
    async with kit.opened(tmp_path / "events.db", clock) as desk:
        await grant(desk, channel, turn, kit, "10_min")
        clock.advance(minutes=6)
        assert await desk.act(kit.planned(turn))
        if moment == "before a restart":
            clock.set(clock.now() - timedelta(days=3))
        if moment == "after a reboot":
            (given,) = await desk.gateway.standing()
            async with desk.log.transaction() as tx:
                await tx.put(GRANT_KIND, str(given.id), codec.dumps(evolve(given, boot="another")))
    if moment != "before a restart":
        clock.set(clock.now() - timedelta(days=3))
    async with kit.opened(tmp_path / "events.db", clock) as desk:
        assert await desk.act(kit.planned(turn))
        clock.advance(minutes=4)
        assert not await desk.act(kit.planned(turn))
        await desk.gateway.recover()
        assert [event.ending for event in await desk.events(GrantEnded)] == ["over"]


def test_steady_time_never_goes_back_and_never_stands_still(clock: FakeClock) -> None:
    """Whatever is done to the wall clock."""
    time = SteadyTime(clock)
    start = time.now()
    for hours in (-5, 2, -1, 0):
        clock.set(clock.now() + timedelta(hours=hours))
        clock.advance(seconds=1)
        assert time.now() >= start + timedelta(seconds=1)
        start = time.now()


OUTER, COPY = Caller(actor="neuron:outer", version="a"), Caller(actor="neuron:copy", version="b")


@pytest.mark.parametrize("reach", ["30_min", "3_times", "always"])
@pytest.mark.parametrize(
    "others",
    [
        (OUTER, evolve(COPY, version="c")),
        (evolve(OUTER, version="c"), COPY),
        (OUTER, evolve(COPY, actor="neuron:other")),
        (evolve(OUTER, actor="neuron:other"), COPY),
        (COPY, OUTER),
        (COPY,),
        (),
    ],
)
async def test_a_grant_covers_the_neurons_it_was_given_for_and_these_versions_of_them(
    desk: Any, channel: Any, turn: Any, kit: Any, reach: str, others: tuple[Caller, ...]
) -> None:
    """A new body of any on the way is asked about anew, and so is another neuron with the same body."""
    task, ids = await desk.put(channel, turn, kit.asking(through(kit.planned(turn), OUTER, COPY)))
    desk.clock.advance(seconds=4)
    assert await desk.press(ids[0], reach=reach) is None
    await task

    assert not await desk.act(through(kit.planned(turn), *others))
    assert await desk.act(through(kit.planned(turn), OUTER, COPY))


def through(action: PlannedAction, *callers: Caller) -> PlannedAction:
    """Return the action as the call of the last of these neurons, each called by the one before."""
    if not callers:
        return action
    return evolve(action, actor=callers[-1].actor, actor_version=callers[-1].version, callers=callers)


async def test_grants_are_numbered_listed_and_ended(desk: Any, channel: Any, turn: Any, kit: Any) -> None:
    """One that is open keeps its number."""
    for name, reach in (("notes", "10_min"), ("other", "always"), ("third", "3_times")):
        await grant(desk, channel, turn, kit, reach, folder=f"/home/me/{name}")
    listed = await desk.gateway.standing()
    assert [each.number for each in listed] == [1, 2, 3]
    assert "exactly this, from now on" in str(told(listed[1]))
    assert "still to come: 2" in str(told(listed[2]))
    assert [each.number for each in await desk.gateway.end_grants(2)] == [2]
    assert await desk.gateway.end_grants(2) == []
    await grant(desk, channel, turn, kit, "always", folder="/home/me/fourth")
    assert [each.number for each in await desk.gateway.standing()] == [1, 3, 4]
    assert not await desk.act(kit.planned(turn, folder="/home/me/other"))
    assert len(await desk.gateway.end_grants()) == 3
    assert await desk.gateway.standing() == []
    assert not await desk.act(kit.planned(turn))
    assert [event.ending for event in await desk.events(GrantEnded)] == ["revoked", "paused", "paused", "paused"]


async def test_what_another_process_ended_or_used_up_covers_nothing_here(
    desk: Any, channel: Any, turn: Any, kit: Any, tmp_path: Path
) -> None:
    """Memory may be behind, the intent is not."""
    await grant(desk, channel, turn, kit, "3_times")
    action = kit.planned(turn)
    async with kit.opened(tmp_path / "events.db", desk.clock) as other:
        assert await other.act(action)
        assert await other.act(action)
        answer = desk.grants(action, action.effects[0], "/home/me/notes")
        assert answer is not None
        with pytest.raises(GrantEndedError, match="has ended"):
            async with desk.log.transaction() as tx:
                await desk.grants.use(tx, [answer.grant_id])
    assert desk.grants(action, action.effects[0], "/home/me/notes") is None


async def test_the_narrowest_grant_is_used_and_one_that_is_counted_down_last(
    desk: Any, channel: Any, turn: Any, kit: Any
) -> None:
    """Nothing is used up that need not be."""
    action = kit.planned(turn)
    for reach in ("3_times", "10_min", "always"):
        # A grant would answer the later ones; they are asked all the same here.
        await grant(desk, channel, turn, kit, reach)
    for expected in (3, 2, 1):
        answer = desk.grants(action, action.effects[0], "/home/me/notes")
        listed = {each.id: each.number for each in await desk.gateway.standing()}
        assert listed[answer.grant_id] == expected
        await desk.gateway.end_grants(expected)


async def test_a_grant_that_cannot_be_read_grants_nothing_and_goes_with_all(
    desk: Any, channel: Any, turn: Any, kit: Any
) -> None:
    """The others still count."""
    await grant(desk, channel, turn, kit, "always")
    async with desk.log.transaction() as tx:
        await tx.put(GRANT_KIND, "damaged", b"{")
    await desk.gateway.refresh()
    assert await desk.act(kit.planned(turn))
    await desk.gateway.end_grants()
    assert await desk.log.scan(GRANT_KIND) == []


async def test_the_requests_of_a_process_that_died_end_at_the_next_start(
    tmp_path: Path, clock: FakeClock, turn: Any, kit: Any
) -> None:
    """Also those that belong to no turn."""
    async with kit.opened(tmp_path / "events.db", clock) as desk:
        channel = kit.channel(clock)
        task, ids = await desk.put(channel, turn, kit.asking(kit.planned(turn)))
        await desk.gateway.recover()
        assert len(await desk.gateway.pending()) == 1
        (record,) = await open_records(desk.log)
        async with desk.log.transaction() as tx:
            await tx.put(RECORD_KIND, str(ids[0]), codec.dumps(evolve(record, owner="boot:1:1")))
        await desk.gateway.recover()
        assert await desk.gateway.pending() == []
        task.cancel()
        clock.advance(seconds=4)
        assert "started anew" in await desk.press(ids[0])
