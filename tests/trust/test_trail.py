"""What comes a little late takes its place without a replay, and gives what a replay gives."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from myclaw_sqlite.trust_store import TrustStoreDb

from myclaw_core.testing import FakeClock
from myclaw_core.trust.book import TrustBook
from myclaw_core.trust.decayed_mean import DecayedMean
from myclaw_core.trust.happenings import Birth, Happening, Order, Undo
from myclaw_core.trust.replay import fold
from myclaw_core.trust.trail import Trail, Trails

PARENT = ("fs_write", "fs_write:*")
PHOTOS = ("fs_write", "fs_write:~/ws/photos/*")
START = FakeClock().now()
KINDS = ("good", "bad", "child", "revoke", "hold", "birth", "late undo", "undo", "restore")


def happening(make: SimpleNamespace, kind: str, hours: int, number: int, told: Sequence[Happening]) -> Happening:
    """Return one of a trace of its own, about the notes or about another child of their parent."""
    at, trace_id = START + timedelta(hours=hours), f"{number:04d}"
    if kind in ("revoke", "hold", "restore"):
        return Order(kind=kind, at=at, trace_id=trace_id, subject=make.NOTES)  # type: ignore[arg-type]
    if kind == "birth":
        return Birth(at=at, trace_id=trace_id, subject=make.NOTES, reward=0.7)
    if kind in ("undo", "late undo") and told:
        undone = told[-len(told) // 3]
        at = max(at, undone.at + timedelta(microseconds=1))
        return Undo(
            at=at, trace_id=trace_id, subject=make.NOTES, undone_trace_id=undone.trace_id, in_time=kind == "undo"
        )
    signals = make.ideal(PHOTOS if kind == "child" else make.NOTES, tool_success=float(kind != "bad"))
    return make.sample(signals, at, trace_id, actor_version=str(number % 7 // 6))  # type: ignore[no-any-return]


@pytest.mark.parametrize("about", ["the subject", "the parent"])
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    deeds=st.lists(
        st.tuples(st.sampled_from(KINDS[:7] * 4 + KINDS[7:]), st.integers(-6, 3), st.integers(1, 3)), max_size=60
    )
)
def test_a_trail_gives_what_a_replay_gives_bit_for_bit(make: SimpleNamespace, about: str, deeds: Any) -> None:
    """Whatever comes in whatever batches, some of it hours late; a replay follows where the trail cannot tell."""
    subject = make.NOTES if about == "the subject" else PARENT
    estimator = DecayedMean()
    told: list[Happening] = []
    trail = Trail(estimator.initial(subject))
    batch: list[Happening] = []
    for number, (kind, late, size) in enumerate(deeds):
        batch.append(happening(make, kind, max(number + late, 0), number, told))
        if len(batch) >= size:
            told += batch
            replayed = fold(estimator.initial(subject), told, estimator)
            trail = trail.after(batch, estimator) or Trail(replayed)
            assert trail.state == replayed
            batch = []


async def test_traces_that_close_in_another_order_than_they_are_recorded_read_no_history(
    open_book: Any, clock: FakeClock, make: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    book: TrustBook = await open_book()
    traces = [make.trace(clock.new_id(), clock.now() + timedelta(hours=hours)) for hours in range(20)]
    order = [0, 1, 2, 5, 4, 3, 6, 9, 9, 7, 8, 13, 12, 11, 10, 14, 15, 19, 17, 18, 16]
    read: list[Any] = []
    plain = TrustStoreDb.rows_of

    async def watched(self: TrustStoreDb, subject_hashes: Any) -> Any:
        read.append(subject_hashes)
        return await plain(self, subject_hashes)

    monkeypatch.setattr(TrustStoreDb, "rows_of", watched)
    for place in order:
        good = float(place % 4 > 0)
        await book.bulk_update_from_trace(traces[place], [make.ideal(tool_success=good), make.ideal(PHOTOS)])
    assert read == []
    assert book.state(make.NOTES).n_samples == 20  # type: ignore[union-attr]
    assert (await book.verify()).ok


async def test_what_comes_very_late_is_replayed(open_book: Any, clock: FakeClock, make: SimpleNamespace) -> None:
    book: TrustBook = await open_book()
    early = make.trace(clock.new_id(), clock.now())
    for _ in range(40):
        clock.advance(hours=1)
        await book.bulk_update_from_trace(make.trace(clock.new_id(), clock.now()), [make.ideal()])
    await book.bulk_update_from_trace(early, [make.denied()])
    assert (await book.verify()).ok


def test_a_trail_is_forgotten_with_the_state_it_led_to(make: SimpleNamespace) -> None:
    """A state that was replayed or emptied is another object."""
    estimator, trails = DecayedMean(), Trails()
    trail = Trail(estimator.initial(make.NOTES)).after([make.sample(make.ideal(), START, "a")], estimator)
    assert trail is not None
    trails.put({make.NOTES: trail})
    assert trails.of(trail.state) is trail
    assert trails.of(estimator.initial(make.NOTES)).steps == ()


def test_few_trails_of_few_steps_are_kept(make: SimpleNamespace) -> None:
    estimator, trails = DecayedMean(), Trails()
    samples = [make.sample(make.ideal(), START + timedelta(hours=hour), "a") for hour in range(50)]
    trail = Trail(estimator.initial(make.NOTES)).after(samples, estimator)
    assert trail is not None
    assert len(trail.steps) == 16
    subjects = [("fs_write", f"fs_write:~/{number}/*") for number in range(400)]
    for subject in subjects:
        trails.put({subject: Trail(estimator.initial(subject), trail.steps)})
    assert len(trails._kept) == 256
