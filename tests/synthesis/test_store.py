"""How designs are kept: what is written comes back, what is damaged hurts no other, and old ends go."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from attrs import evolve
from designs import GOAL, NAME
from myclaw_sqlite.event_store import SqliteEventStore

from myclaw_core.errors import CodecError, UnavailableError, UsageError
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import SynthesisAdvanced, SynthesisEnded, SynthesisRequested
from myclaw_core.messages import N_
from myclaw_core.synthesis import store
from myclaw_core.synthesis.lock import designing
from myclaw_core.synthesis.moves import abandoned, onward
from myclaw_core.synthesis.types import InternalProposal, NeuronSpec, Synthesis, SynthesisRequest
from myclaw_core.testing import FakeClock
from myclaw_core.types.text import Text

ME = "test:me"
SPEC = NeuronSpec(
    proposed_name=NAME,
    purpose="Count words. \N{LATIN SMALL LETTER E WITH GRAVE}",
    input_schema={"type": "object", "properties": {"n": {"maximum": 1.5}}},
    output_schema={},
    capabilities_requested=("fs-read:~/notes/*",),
    rationale="None did.",
    may_call=("fs_list",),
    estimated_cpu_s=0.5,
)


def wanted(goal: str = GOAL) -> SynthesisRequest:
    return SynthesisRequest(goal=goal, trace_id=UUID(int=7), mode="external", capability_hint=["llm"], budget_cents=9.5)


async def opened(folder: Path, clock: FakeClock) -> EventLog:
    log = EventLog(SqliteEventStore(folder / "events.db"), bytes(32), clock)
    await log.open()
    return log


@pytest.fixture
async def log(tmp_path: Path, clock: FakeClock) -> AsyncIterator[EventLog]:
    """An event log in real SQLite."""
    made = await opened(tmp_path, clock)
    yield made
    await made.close()


async def begun(log: EventLog, clock: FakeClock, goal: str = GOAL) -> Synthesis:
    return await store.request(log, clock, wanted(goal), ME)


async def advanced(log: EventLog, to: Synthesis, note: str = "on") -> None:
    async with log.transaction() as tx:
        await store.advance(tx, to, Text(note))


async def ended(log: EventLog, synthesis: Synthesis, clock: FakeClock) -> Synthesis:
    move = abandoned(synthesis, N_("no"), clock.now())
    await advanced(log, move.to)
    return move.to


async def test_what_is_recorded_comes_back_whole_in_another_process(
    log: EventLog, clock: FakeClock, tmp_path: Path
) -> None:
    """With an event for each step."""
    proposal = InternalProposal(
        pattern="p", goal=GOAL, trace_ids=(UUID(int=3),), capability_hint=("llm",), proposed_at=clock.now()
    )
    first = await store.request(log, clock, wanted(), ME, proposal=proposal, stage="direction")
    moved = onward(first, "tests", N_("on"), clock.now(), spec=SPEC, files={"body.py": "x\n"}, models=("a", "b"))
    await advanced(log, evolve(moved.to, cost_eur=0.25, feedback=(N_("{n} is wrong", n=3),)))
    stands = await store.find(log, first.id)

    other = await opened(tmp_path, clock)
    assert stands == await store.find(other, first.id) == (await store.standing(other))[0]
    assert stands is not None
    assert (stands.spec, stands.proposal, stands.files, stands.cost_eur) == (SPEC, proposal, {"body.py": "x\n"}, 0.25)
    kinds = [type(event) for _, event in await other.since(0)]
    assert kinds == [SynthesisRequested, SynthesisAdvanced]
    await other.close()


async def test_the_end_is_told_once_beside_the_step_that_leads_there(log: EventLog, clock: FakeClock) -> None:
    await ended(log, await begun(log, clock), clock)
    events = [event for _, event in await log.since(0)]
    assert [type(event) for event in events[1:]] == [SynthesisAdvanced, SynthesisEnded]
    assert events[-1].result.outcome == "abandoned"


async def test_a_goal_is_kept_on_one_line_and_bounded(log: EventLog, clock: FakeClock) -> None:
    kept = (await begun(log, clock, "a\n\tb  c" + "d" * 9_000)).request.goal
    assert kept.startswith("a b cdd")
    assert len(kept) == 2_000


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"id": 1}', b"\xff\xfe", b"null"])
async def test_a_damaged_record_is_told_and_left_alone(
    log: EventLog, clock: FakeClock, caplog: pytest.LogCaptureFixture, damage: bytes
) -> None:
    """The others stand; a new request does not let go of what cannot be read."""
    broken, sound = await begun(log, clock), await begun(log, clock, "another")
    async with log.transaction() as tx:
        await tx.put(store.SYNTHESIS_KIND, str(broken.id), damage)
    with caplog.at_level(logging.WARNING):
        assert [each.id for each in await store.standing(log)] == [sound.id]
    assert str(broken.id) in caplog.text
    with pytest.raises(CodecError, match="synthesis"):
        await store.find(log, broken.id)
    with pytest.raises(UsageError, match="there is no proposal"):
        await store.matching(log, str(broken.id))

    await begun(log, clock, "a third")
    assert await log.get(store.SYNTHESIS_KIND, str(broken.id)) == damage


async def test_what_ended_long_ago_goes_with_the_next_request_and_what_waits_stays(
    log: EventLog, clock: FakeClock
) -> None:
    """The event log still tells of it."""
    over, waits = await begun(log, clock), await begun(log, clock, "another")
    await ended(log, over, clock)
    clock.advance(days=30)
    await begun(log, clock, "a third")
    assert await store.find(log, over.id) is not None
    clock.advance(days=1)
    newest = await begun(log, clock, "a fourth")

    assert await store.find(log, over.id) is None
    assert {waits.id, newest.id} <= {each.id for each in await store.standing(log)}
    told = [event.result.request_id for _, event in await log.since(0) if isinstance(event, SynthesisEnded)]
    assert told == [over.id]


async def test_of_too_many_ends_the_oldest_go(log: EventLog, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_MOST_ENDED", 3)
    made = []
    for number in range(5):
        made.append(await ended(log, await begun(log, clock, f"goal {number}"), clock))
        clock.advance(minutes=1)
    await begun(log, clock, "the last")
    kept = [each.id for each in await store.standing(log) if each.stage == "ended"]
    assert kept == [each.id for each in reversed(made[2:])]


async def test_one_is_meant_by_the_beginning_or_the_end_of_its_id_or_by_its_name(
    log: EventLog, clock: FakeClock
) -> None:
    first, second = await begun(log, clock), await begun(log, clock, "another")
    clock.advance(minutes=1)
    newer = onward(second, "approval", N_("on"), clock.now(), spec=SPEC).to
    await advanced(log, newer)
    await advanced(log, evolve(first, spec=SPEC))

    for named in (str(first.id), str(first.id).upper(), f" {str(first.id)[-12:]} ", str(first.id)[-1:]):
        assert (await store.matching(log, named)).id == first.id
    assert (await store.matching(log, NAME)).id == second.id
    with pytest.raises(UsageError, match="several proposals; type more of it"):
        await store.matching(log, str(first.id)[:8])
    for named in ("", "  ", "nobody", "*", "%", "\x1b[31m" + "x" * 500):
        with pytest.raises(UsageError, match="there is no proposal") as error:
            await store.matching(log, named)
        assert len(str(error.value)) < 300


async def test_two_processes_record_beside_each_other_and_lose_nothing(
    log: EventLog, clock: FakeClock, tmp_path: Path
) -> None:
    other = await opened(tmp_path, clock)
    sides: tuple[EventLog, ...] = (log, other)
    made = await asyncio.gather(*(begun(sides[number % 2], clock, f"goal {number}") for number in range(8)))
    await asyncio.gather(*(ended(sides[(number + 1) % 2], each, clock) for number, each in enumerate(made)))
    for side in sides:
        assert {(each.id, each.stage) for each in await store.standing(side)} == {(each.id, "ended") for each in made}
    assert (await log.verify()).ok
    await other.close()


def test_one_at_a_time_goes_on_and_the_lock_is_free_afterwards(tmp_path: Path) -> None:
    with designing(tmp_path):
        with pytest.raises(UnavailableError, match="another process designs a neuron now"), designing(tmp_path):
            raise AssertionError
        assert (tmp_path / "synthesis.lock").stat().st_mode & 0o777 == 0o600
    with designing(tmp_path):
        pass


@pytest.mark.parametrize("kind", ["link", "folder", "missing"])
def test_a_lock_that_cannot_be_made_is_told_in_one_line(tmp_path: Path, kind: Any) -> None:
    state = tmp_path / ("none" if kind == "missing" else "")
    if kind == "link":
        (tmp_path / "synthesis.lock").symlink_to(tmp_path / "elsewhere")
    elif kind == "folder":
        (tmp_path / "synthesis.lock").mkdir()
    with pytest.raises(UnavailableError, match="cannot be opened"), designing(state):
        raise AssertionError
    assert not (tmp_path / "elsewhere").exists()
