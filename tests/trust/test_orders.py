"""What a person orders about trust: taken away, held, given back, rolled back; and what a neuron is born with."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from myclaw_sqlite.trust_store import TrustStoreDb
from practice import apply, happen, practised

from myclaw_core.testing import FakeClock
from myclaw_core.trust.book import TrustBook
from myclaw_core.trust.contract import TrustStore
from myclaw_core.trust.decayed_mean import DecayedMean
from myclaw_core.trust.promotion import Promotion, judge

PARENT = ("fs_write", "fs_write:*")
PHOTOS = ("fs_write", "fs_write:~/ws/photos/*")
TIDY = ("neuron:tidy", "invoke")
FEW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def judged(make: SimpleNamespace, book: TrustBook, clock: FakeClock, subject: Any = None, **changes: Any) -> Promotion:
    subject = subject or make.NOTES
    effect = make.effect(subject)
    action = make.action(effect, clock.now(), subject[0], **changes)
    return judge(effect, action, book, make.threshold(), clock.now())


async def blobs(book: TrustBook) -> dict[Any, bytes]:
    return dict(await book._backend.scores())


def test_the_book_is_the_trust_store_of_the_seed() -> None:
    def takes(store: TrustStore) -> None: ...

    assert takes.__annotations__["store"] == "TrustStore"
    wanted = {name for name in vars(TrustStore) if not name.startswith("_")}
    assert wanted == {
        "get", "update", "bulk_update_from_trace", "record_approval_outcome", "record_undo", "snapshot", "rollback",
        "get_for_neuron", "revoke", "restore", "events", "verify",
    }  # fmt: skip
    assert all(callable(getattr(TrustBook, name)) for name in wanted)


def typed(book: TrustBook) -> TrustStore:
    """Only has to type-check."""
    return book


# revoke and restore


async def test_revoking_resets_score_samples_and_known_destinations_together(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    book = await open_book()
    await practised(make, book, clock, 10)
    assert judged(make, book, clock).promoted
    await book.revoke([make.NOTES])
    state = book.state(make.NOTES)
    assert (state.n_samples, state.grants, state.revoked, state.last_good) == (0, (), True, None)
    assert (await book.get(make.NOTES)).score == 0.0
    assert str(judged(make, book, clock).reason) == "you took the trust in this away, 0 of 3 new samples"
    assert (await book.verify()).ok


async def test_naming_the_target_does_not_lift_a_revocation(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    """The parent still has its record: it alone must not let the subject pass."""
    book = await open_book()
    await practised(make, book, clock, 10)
    await book.revoke([make.NOTES])
    answer = judged(make, book, clock, named=True)
    assert (answer.promoted, answer.evidence.revoked, answer.evidence.parent_revoked) == (False, True, False)
    assert judged(make, book, clock, PHOTOS, named=True).promoted


async def test_as_many_new_samples_as_the_threshold_demands_end_a_revocation(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    book = await open_book()
    await practised(make, book, clock, 10)
    await book.revoke([make.NOTES])
    for samples in range(4):
        assert judged(make, book, clock).promoted == (samples == 3)
        await practised(make, book, clock, 1)


async def test_restoring_gives_back_what_was_earned_before_and_since(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    book = await open_book()
    await practised(make, book, clock, 10)
    await book.revoke([make.NOTES])
    await practised(make, book, clock, 1)
    await book.restore([make.NOTES])
    assert (book.state(make.NOTES).n_samples, book.state(make.NOTES).revoked) == (11, False)
    assert judged(make, book, clock).promoted
    assert (await book.verify()).ok


async def test_a_restored_record_is_the_one_that_was_never_revoked(
    open_book: Any, clock: FakeClock, make: SimpleNamespace, tmp_path: Path
) -> None:
    book = await open_book()
    await practised(make, book, clock, 5)
    before = book.state(make.NOTES)
    clock.advance(hours=1)
    await book.revoke([make.NOTES])
    clock.advance(hours=1)
    await book.restore([make.NOTES])
    after = book.state(make.NOTES)
    assert after.as_of == clock.now()
    assert [getattr(after, name) for name in ("tool_success", "n_samples", "grants", "last_good")] == [
        getattr(before, name) for name in ("tool_success", "n_samples", "grants", "last_good")
    ]


async def test_revoking_a_parent_revokes_all_that_it_sums_up_and_every_new_destination(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    book = await open_book()
    await practised(make, book, clock, 10)
    await practised(make, book, clock, 10, PHOTOS)
    await book.revoke([PARENT])
    assert [book.state(one).revoked for one in (PARENT, make.NOTES, PHOTOS)] == [True] * 3
    elsewhere = ("fs_write", "fs_write:~/ws/music/*")
    told = str(judged(make, book, clock, elsewhere, named=True).reason)
    assert told == "you took the trust in fs_write away, 0 of 3 new samples"
    await practised(make, book, clock, 3, PHOTOS)
    assert judged(make, book, clock, PHOTOS).promoted
    assert not judged(make, book, clock).promoted


async def test_what_is_revoked_stays_so_in_the_next_run_and_in_another_process(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    book, beside = await open_book(), await open_book()
    await practised(make, book, clock, 10)
    await book.revoke([make.NOTES])
    await beside.refresh()
    assert not judged(make, beside, clock).promoted
    await book.close()
    assert not judged(make, await open_book(), clock).promoted


async def test_a_revocation_with_the_clock_set_back_takes_away_what_is_dated_later(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    book = await open_book()
    await practised(make, book, clock, 10)
    clock.set(clock.now() - timedelta(days=365))
    await book.revoke([make.NOTES])
    assert (book.state(make.NOTES).n_samples, book.state(make.NOTES).revoked) == (0, True)
    await book.restore([make.NOTES])
    assert book.state(make.NOTES).n_samples == 10
    assert (await book.verify()).ok


async def test_a_revocation_and_a_sample_of_the_same_moment_are_one_after_the_other(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    book = await open_book()
    await practised(make, book, clock, 3)
    await book.revoke([make.NOTES], order_id=UUID(int=0))
    assert book.state(make.NOTES).n_samples == 0


async def test_an_order_counts_once_however_often_it_is_told(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    book = await open_book()
    await practised(make, book, clock, 5)
    order, at = clock.new_id(), clock.now()
    await book.revoke([make.NOTES], at=at, order_id=order)
    await practised(make, book, clock, 2)
    before, rows = await blobs(book), len(await book._backend.rows())
    await book.revoke([make.NOTES], at=at, order_id=order)
    assert (await blobs(book), len(await book._backend.rows())) == (before, rows)


# keep asking


async def test_a_subject_that_is_held_asks_with_all_that_it_has_earned_until_it_is_restored(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    book = await open_book()
    await practised(make, book, clock, 10)
    await book.hold([make.NOTES])
    await practised(make, book, clock, 40)
    answer = judged(make, book, clock, named=True)
    assert (str(answer.reason), answer.evidence.held) == ("you chose to be asked about this", True)
    assert answer.evidence.n_samples == 50
    await book.restore([make.NOTES])
    assert judged(make, book, clock).promoted
    assert (await book.verify()).ok


async def test_a_subject_without_history_can_be_held(open_book: Any, clock: FakeClock, make: SimpleNamespace) -> None:
    book = await open_book()
    await practised(make, book, clock, 10)
    assert judged(make, book, clock, PHOTOS, named=True).promoted
    await book.hold([PHOTOS])
    assert not judged(make, book, clock, PHOTOS, named=True).promoted
    assert (await book.get(PHOTOS)).n_samples == 0
    assert (await book.verify()).ok


async def test_a_held_kind_asks_everywhere(open_book: Any, clock: FakeClock, make: SimpleNamespace) -> None:
    book = await open_book()
    await practised(make, book, clock, 10)
    await book.hold([PARENT])
    told = str(judged(make, book, clock, PHOTOS, named=True).reason)
    assert told == "you chose to be asked about fs_write anywhere"


# rollback


async def test_a_rollback_is_replayable(open_book: Any, clock: FakeClock, make: SimpleNamespace) -> None:
    """100 updates, back to T−50, the last 50 again: the same bytes, for the parent too (seed 000)."""
    book = await open_book()
    traces = []
    for number in range(100):
        clock.advance(hours=7)
        trace = make.trace(clock.new_id(), clock.now())
        signals = make.ideal(cost_efficiency=number / 100, tool_success=float(number % 7 > 0))
        await book.bulk_update_from_trace(trace, [signals], number + 1)
        traces.append((trace, signals))
    expected = await blobs(book)
    at_fifty = traces[50][0].closed_at

    await book.rollback(make.NOTES, at_fifty)
    assert book.state(make.NOTES).n_samples == 50
    assert book.state(PARENT).n_samples == 50
    assert (await book.verify()).ok
    for trace, signals in traces[50:]:
        await book.bulk_update_from_trace(trace, [signals], 1)

    assert await blobs(book) == expected
    assert len(await book._backend.rows()) == 151
    assert (await book.verify()).ok


async def test_what_is_written_after_a_rollback_counts_whatever_its_date(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    book = await open_book()
    await practised(make, book, clock, 5)
    await book.rollback(make.NOTES, clock.now() - timedelta(days=2))
    late = make.trace(clock.new_id(), clock.now() - timedelta(days=1))
    await book.bulk_update_from_trace(late, [make.ideal()], book.applied_seq + 1)
    assert book.state(make.NOTES).n_samples == 3
    await practised(make, book, clock, 1)
    assert book.state(make.NOTES).n_samples == 4
    assert (await book.verify()).ok


async def test_a_rollback_withdraws_from_the_parent_and_leaves_the_other_children(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    book = await open_book()
    start = clock.now()
    await practised(make, book, clock, 4)
    await practised(make, book, clock, 3, PHOTOS)
    await book.rollback(make.NOTES, start)
    assert await book.get(make.NOTES) is None
    assert (book.state(PARENT).n_samples, book.state(PHOTOS).n_samples) == (3, 3)
    assert (await book.verify()).ok


async def test_a_rollback_of_a_parent_is_one_of_everything_that_it_sums_up(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    book = await open_book()
    await practised(make, book, clock, 4)
    to = clock.now()
    await practised(make, book, clock, 3, PHOTOS)
    await book.rollback(PARENT, to)
    assert {subject: score.n_samples for subject, score in (await book.snapshot()).items()} == {
        make.NOTES: 3,
        PARENT: 3,
    }


async def test_a_rollback_takes_denials_undos_and_revocations_back_and_leaves_a_wish_to_be_asked(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    book = await open_book()
    traces = await practised(make, book, clock, 10)
    before, to = book.state(make.NOTES), clock.now() + timedelta(seconds=1)
    clock.advance(minutes=5)
    await book.record_undo(traces[-1], [make.NOTES])
    await apply(make, book, clock, make.denied())
    await book.revoke([make.NOTES])
    assert not judged(make, book, clock).promoted
    await book.rollback(make.NOTES, to)
    assert book.state(make.NOTES) == before
    await book.hold([make.NOTES])
    await book.rollback(make.NOTES, to)
    assert book.state(make.NOTES).held
    assert (await book.verify()).ok


async def test_a_second_rollback_brings_nothing_back_that_the_first_one_took(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    book = await open_book()
    await practised(make, book, clock, 10)
    await book.rollback(make.NOTES, clock.now() - timedelta(days=6))
    clock.advance(days=1)
    await book.rollback(make.NOTES, clock.now() - timedelta(days=2))
    assert book.state(make.NOTES).n_samples == 3
    await book.rollback(make.NOTES, clock.now() - timedelta(days=9))
    assert book.state(make.NOTES).n_samples == 1


async def test_a_log_that_is_applied_again_does_not_undo_a_rollback(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    """Where the mark is lost, the rollback itself says how far the log had been applied."""
    book = await open_book()
    await practised(make, book, clock, 10)
    await book.rollback(make.NOTES, clock.now() - timedelta(days=5), applied_seq=11)
    async with book._backend.transaction() as tx:
        await tx.put_meta("applied_seq", b"lost")
    await book.close()
    again = await open_book()
    assert again.applied_seq == 11
    assert again.state(make.NOTES).n_samples == 4


async def test_two_processes_agree_about_a_rollback(open_book: Any, clock: FakeClock, make: SimpleNamespace) -> None:
    one, two = await open_book(), await open_book()
    traces = [make.trace(clock.new_id(), clock.now() + timedelta(days=day)) for day in range(6)]
    for trace in traces:
        await one.bulk_update_from_trace(trace, [make.ideal()], 1)
    await two.rollback(make.NOTES, traces[3].closed_at)
    await one.bulk_update_from_trace(traces[3], [make.ideal()], 1)
    await two.refresh()
    assert one.state(make.NOTES) == two.state(make.NOTES)
    assert one.state(make.NOTES).n_samples == 4
    assert (await two.verify()).ok


deeds = st.lists(
    st.tuples(
        st.integers(0, 40),
        st.sampled_from(
            ["good", "failed", "denied", "undo", "late undo", "revoke", "hold", "restore", "rollback", "yes", "no"]
        ),
        st.sampled_from(["notes", "photos"]),
    ),
    min_size=3,
    max_size=14,
)


@FEW
@given(deeds)
def test_whatever_is_ordered_the_stored_scores_are_what_a_replay_gives(
    make: SimpleNamespace, history: Sequence[tuple[int, str, str]]
) -> None:
    """Incremental states, states after a restart and states of a process beside are the same."""

    async def lives(folder: Path) -> None:
        clock = FakeClock()

        def new() -> TrustBook:
            return TrustBook(TrustStoreDb(folder / "t.db"), make.KEY, clock, anchor=folder / "t.head")

        book, beside = new(), new()
        await book.open()
        await beside.open()
        traces: list[tuple[UUID, Any]] = []
        for number, (hours, what, where) in enumerate(history):
            clock.advance(hours=hours)
            subject = make.NOTES if where == "notes" else PHOTOS
            await happen(make, book if number % 3 else beside, clock, what, subject, traces)
        await book.refresh()
        await beside.refresh()
        assert {one: book.state(one) for one in book.subjects()} == {
            one: beside.state(one) for one in beside.subjects()
        }
        assert (await book.verify()).ok
        await book.close()
        await beside.close()
        again = new()
        await again.open()
        assert {one: again.state(one) for one in again.subjects()} == {one: book.state(one) for one in book.subjects()}
        await again.close()

    with TemporaryDirectory() as folder:
        asyncio.run(lives(Path(folder)))


# birth


async def test_a_neuron_born_with_a_reward_scores_just_that(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    """R = 0.72 gives a score of 0.72, one sample and an approval rate of 1 (seed 000)."""
    book = await open_book()
    await book.record_birth("tidy", 0.72)
    score = await book.get(TIDY)
    assert score.score == pytest.approx(0.72, abs=0.005)
    assert (score.n_samples, score.human_approval_rate, score.undo_rate) == (1, 1.0, 0.0)
    assert (await book.verify()).ok


async def test_a_birth_counts_in_the_score_and_towards_no_minimum(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    book = await open_book()
    await book.record_birth("tidy", 0.9)
    for samples in range(4):
        assert judged(make, book, clock, TIDY).promoted == (samples == 3)
        await practised(make, book, clock, 1, TIDY)


async def test_a_birth_with_another_body_begins_again(open_book: Any, clock: FakeClock, make: SimpleNamespace) -> None:
    book = await open_book()
    await book.record_birth("tidy", 0.7, body="first")
    await practised(make, book, clock, 10, TIDY)
    await book.record_birth("tidy", 0.8, body="second")
    state = book.state(TIDY)
    assert (state.n_samples, state.version, state.grants) == (1, "second", ())
    assert (state.handover.what, state.handover.before, state.handover.after) == ("body", "first", "second")
    assert (await book.get(TIDY)).score == pytest.approx(0.8)


async def test_a_reward_out_of_range_is_refused(open_book: Any) -> None:
    book = await open_book()
    for reward in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="not in"):
            await book.record_birth("tidy", reward)
    assert await book.get(TIDY) is None


async def test_a_neuron_is_found_with_all_its_subjects(open_book: Any, clock: FakeClock, make: SimpleNamespace) -> None:
    book = await open_book()
    await book.record_birth("tidy", 0.7)
    mine = ("neuron:tidy", "fs_write:~/ws/notes/*")
    await apply(make, book, clock, make.ideal(mine), make.ideal(("neuron:tidyx", "invoke")), make.ideal())
    found = await book.get_for_neuron("tidy")
    assert set(found) == {TIDY, mine, ("neuron:tidy", "fs_write:*")}
    assert found[TIDY].score == pytest.approx(0.7)
    assert await book.get_for_neuron("ghost") == {}


# one sample outside of a trace


async def test_one_sample_can_be_taken_in_without_a_trace(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    book = await open_book()
    for _ in range(3):
        await book.update(make.NOTES, make.ideal(), clock.now())
    assert (await book.get(make.NOTES)).n_samples == 3
    with pytest.raises(ValueError, match="signals of"):
        await book.update(PHOTOS, make.ideal(), clock.now())


async def test_events_can_be_asked_for_from_a_moment_on(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    book = await open_book()
    await practised(make, book, clock, 5)
    since = clock.now() - timedelta(days=1)
    assert [event.at for event in await book.events(make.NOTES, since)] == [since, clock.now()]
    await book.rollback(make.NOTES, since)
    assert await book.events(make.NOTES, since) == []


def test_a_state_that_was_rolled_back_to_nothing_is_the_first_one(make: SimpleNamespace) -> None:
    record = make.Record()
    assert record.get(make.NOTES) is None
    assert DecayedMean().initial(make.NOTES).as_of is None
