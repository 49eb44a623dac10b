"""The book over a real store: what is kept, in which order, and by how many processes."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
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

from myclaw_core.runtime.types import ActionStep
from myclaw_core.testing import FakeClock
from myclaw_core.trust.book import TrustBook
from myclaw_core.trust.decayed_mean import SEED_WEIGHTS, DecayedMean
from myclaw_core.trust.thresholds import Thresholds
from myclaw_core.trust.types import TraceSignals

PARENT = ("fs_write", "fs_write:*")
PHOTOS = ("fs_write", "fs_write:~/ws/photos/*")
FEW = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


async def apply(make: SimpleNamespace, book: TrustBook, clock: FakeClock, *signals: TraceSignals) -> UUID:
    """Close a trace now that says `signals`; return its id."""
    await book.refresh()
    trace = make.trace(clock.new_id(), clock.now())
    await book.bulk_update_from_trace(trace, signals, book.applied_seq + 1)
    return trace.id  # type: ignore[no-any-return]


async def practised(make: SimpleNamespace, book: TrustBook, clock: FakeClock, days: int) -> list[UUID]:
    """Close a good trace a day; return their ids."""
    traces = []
    for _ in range(days):
        clock.advance(days=1)
        traces.append(await apply(make, book, clock, make.ideal()))
    return traces


async def blobs(book: TrustBook) -> dict[Any, bytes]:
    return dict(await book._backend.scores())


async def test_an_unknown_subject_has_no_score(open_book: Any, clock: FakeClock) -> None:
    book = await open_book()
    assert await book.get(("neuron:ghost", "invoke")) is None
    assert book.view(("neuron:ghost", "invoke"), clock.now()) is None


async def test_before_it_was_opened_a_book_is_not_sound(tmp_path: Path, make: SimpleNamespace) -> None:
    book = TrustBook(TrustStoreDb(tmp_path / "t.db"), make.KEY, FakeClock(), anchor=tmp_path / "t.head")
    assert not book.sound


async def test_a_trace_counts_for_each_subject_and_its_parent(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    book = await open_book()
    await apply(make, book, clock, make.ideal(), make.ideal(PHOTOS), make.ideal(("neuron:tidy", "invoke")))
    scores = await book.snapshot()
    assert {subject: score.n_samples for subject, score in scores.items()} == {
        make.NOTES: 1,
        PHOTOS: 1,
        PARENT: 2,
        ("neuron:tidy", "invoke"): 1,
    }


async def test_what_a_reader_gets_is_faded_to_now(open_book: Any, clock: FakeClock, make: SimpleNamespace) -> None:
    book = await open_book()
    await practised(make, book, clock, 12)
    fresh = await book.get(make.NOTES)
    clock.advance(days=30)
    faded = await book.get(make.NOTES)
    assert faded.score == pytest.approx(fresh.score / 2)
    assert (faded.n_samples, faded.tool_success, faded.last_decay_at) == (12, fresh.tool_success, clock.now())


async def test_what_was_learned_is_there_after_opening_again(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    book = await open_book()
    await practised(make, book, clock, 5)
    await book.close()
    again = await open_book()
    assert await again.snapshot() == await book.snapshot()
    assert (again.sound, again.applied_seq) == (True, 5)
    assert (await again.verify()).ok


async def test_applying_a_trace_again_changes_nothing(open_book: Any, clock: FakeClock, make: SimpleNamespace) -> None:
    book = await open_book()
    trace = make.trace(clock.new_id(), clock.now())
    await book.bulk_update_from_trace(trace, [make.ideal()], 1)
    before = await blobs(book)
    clock.advance(days=1)
    await book.bulk_update_from_trace(trace, [make.ideal()], 1)
    await book.bulk_update_from_trace(trace, [make.denied()], 2)
    assert await blobs(book) == before
    assert len(await book._backend.rows()) == 1
    assert book.applied_seq == 2


async def test_a_trace_that_says_nothing_still_moves_on(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    book = await open_book()
    await book.bulk_update_from_trace(make.trace(clock.new_id(), clock.now()), [], 7)
    assert (book.applied_seq, await book.snapshot()) == (7, {})


async def test_an_open_trace_does_not_count(open_book: Any, clock: FakeClock, make: SimpleNamespace) -> None:
    book = await open_book()
    with pytest.raises(ValueError, match="not closed"):
        await book.bulk_update_from_trace(make.trace(clock.new_id(), clock.now(), closed_at=None), [], 1)


async def test_events_only_grow(open_book: Any, clock: FakeClock, make: SimpleNamespace) -> None:
    book = await open_book()
    counts = []
    for _ in range(5):
        (trace,) = await practised(make, book, clock, 1)
        counts.append(len(await book._backend.rows()))
        await book.record_undo(trace, at=clock.now(), undone_by=clock.new_id(), in_time=True)
        counts.append(len(await book._backend.rows()))
    assert counts == list(range(1, 11))


async def test_a_sample_keeps_the_version_and_model_behind_it(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    book = await open_book()
    effect = make.effect(make.NOTES)
    step = ActionStep(
        index=0,
        tool_name="fs_write",
        args={},
        args_digest="d",
        actor="fs_write",
        actor_version="1.2",
        model="m-1",
        state="done",
        kind="fs_write",
        effect_class=effect.effect_class,
        effects=(effect,),
        started_at=clock.now(),
    )
    await book.bulk_update_from_trace(make.trace(clock.new_id(), clock.now(), steps=[step]), [make.ideal()], 1)
    (event,) = await book.events(make.NOTES)
    assert event.earned_by == {"actor_version": "1.2", "model": "m-1"}


async def test_an_undo_in_time_lowers_the_score(open_book: Any, clock: FakeClock, make: SimpleNamespace) -> None:
    book = await open_book()
    traces = await practised(make, book, clock, 5)
    clock.advance(minutes=10)
    before, parent = await book.get(make.NOTES), await book.get(PARENT)
    await book.record_undo(traces[-1], [make.NOTES], at=clock.now(), undone_by=clock.new_id(), in_time=True)
    after = await book.get(make.NOTES)
    assert after.score < before.score
    assert (await book.get(PARENT)).score < parent.score
    assert (after.n_samples, after.undo_rate > 0) == (5, True)
    assert book.view(make.NOTES, clock.now()).state.grants == ()
    assert (await book.verify()).ok


async def test_an_undo_gives_what_the_same_sample_would_have_given_in_time(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    """The undone sample is superseded where it stood, bit for bit, for the subject's parent too."""
    book = await open_book()
    first, *_ = await practised(make, book, clock, 4)
    closed_at = clock.now() - timedelta(days=3)
    await book.record_undo(first, at=closed_at + timedelta(minutes=9), undone_by=clock.new_id(), in_time=True)
    expected = DecayedMean().initial(PARENT)
    for day in range(4):
        signals = make.ideal(undo_flag=float(day == 0))
        expected = DecayedMean().update(expected, signals, closed_at + timedelta(days=day))
    assert book.view(PARENT, clock.now()).state == expected


async def test_a_later_undo_changes_no_sample_but_forgets_the_destination(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    book = await open_book()
    traces = await practised(make, book, clock, 5)
    clock.advance(minutes=10, seconds=1)
    before = await book.get(make.NOTES)
    await book.record_undo(traces[-1], [make.NOTES], at=clock.now(), undone_by=clock.new_id(), in_time=False)
    assert await book.get(make.NOTES) == before
    assert book.view(make.NOTES, clock.now()).state.grants == ()
    assert not any(book.view(make.NOTES, clock.now()).state.recent)


async def test_an_undo_of_some_subjects_leaves_the_others(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    book = await open_book()
    runtime = ("runtime", "success")
    trace = await apply(make, book, clock, make.ideal(), make.ideal(PHOTOS), make.ideal(runtime))
    await book.record_undo(trace, [PHOTOS], at=clock.now(), undone_by=clock.new_id(), in_time=True)
    rates = {subject: score.undo_rate > 0 for subject, score in (await book.snapshot()).items()}
    assert rates == {make.NOTES: False, PHOTOS: True, PARENT: True, runtime: True}


async def test_an_undo_applied_again_changes_nothing(open_book: Any, clock: FakeClock, make: SimpleNamespace) -> None:
    book = await open_book()
    (trace,) = await practised(make, book, clock, 1)
    undone_by = clock.new_id()
    await book.record_undo(trace, at=clock.now(), undone_by=undone_by, in_time=True, applied_seq=2)
    before, rows = await blobs(book), len(await book._backend.rows())
    await book.record_undo(trace, at=clock.now(), undone_by=undone_by, in_time=True, applied_seq=2)
    assert (await blobs(book), len(await book._backend.rows())) == (before, rows)


happenings = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.sampled_from(["good", "failed", "denied", "silent", "undo soon", "undo late"]),
        st.sampled_from(["notes", "photos", "both"]),
    ),
    min_size=2,
    max_size=7,
)


@FEW
@given(happenings, st.randoms(use_true_random=False))
def test_the_same_events_in_any_order_give_the_same_bytes(
    make: SimpleNamespace, history: list[tuple[int, str, str]], random: Any
) -> None:
    """Samples may share a moment; an undo may be told before a later sample, or long after."""
    clock = FakeClock()
    deeds: list[Any] = []
    for hours, what, where in history:
        clock.advance(hours=hours)
        changes: dict[str, Any] = {"tool_success": 0.0} if what == "failed" else {}
        if what == "silent":
            changes = {"asked": False, "human_approval_delta": 0.5}
        subjects = {"notes": [make.NOTES], "photos": [PHOTOS], "both": [make.NOTES, PHOTOS]}[where]
        signals = [make.denied(one) if what == "denied" else make.ideal(one, **changes) for one in subjects]
        trace = make.trace(clock.new_id(), clock.now())
        undo = None
        if what.startswith("undo"):
            soon = what == "undo soon"
            undo = (clock.now() + timedelta(minutes=5 if soon else 50), clock.new_id(), soon)
        deeds.append((trace, signals, undo))

    async def told(order: Sequence[int]) -> dict[Any, bytes]:
        with TemporaryDirectory() as folder:
            path = Path(folder)
            book = TrustBook(TrustStoreDb(path / "t.db"), make.KEY, clock, anchor=path / "t.head")
            await book.open()
            for number in order:
                trace, signals, undo = deeds[number]
                await book.bulk_update_from_trace(trace, signals, 1)
                if undo is not None:
                    await book.record_undo(trace.id, at=undo[0], undone_by=undo[1], in_time=undo[2])
            found = await blobs(book)
            assert (await book.verify()).ok
            await book.close()
            return found

    straight = list(range(len(deeds)))
    shuffled = straight.copy()
    random.shuffle(shuffled)
    assert asyncio.run(told(straight)) == asyncio.run(told(shuffled))


async def test_two_books_over_one_store_lose_nothing(open_book: Any, clock: FakeClock, make: SimpleNamespace) -> None:
    one, two = await open_book(), await open_book()
    for _ in range(5):
        await practised(make, one, clock, 1)
        await practised(make, two, clock, 1)
    await one.refresh()
    assert await one.snapshot() == await two.snapshot()
    assert (await one.get(make.NOTES)).n_samples == 10
    assert one.applied_seq == two.applied_seq == 10
    assert (await one.verify()).ok


async def test_books_that_write_at_once_lose_nothing(open_book: Any, clock: FakeClock, make: SimpleNamespace) -> None:
    books = [await open_book() for _ in range(3)]
    traces = [make.trace(clock.new_id(), clock.now()) for _ in range(30)]
    await asyncio.gather(
        *(
            books[number % 3].bulk_update_from_trace(trace, [make.ideal()], number + 1)
            for number, trace in enumerate(traces)
        )
    )
    fresh = await open_book()
    assert (await fresh.get(make.NOTES)).n_samples == 30
    assert (await fresh.verify()).ok


async def test_refreshing_without_news_changes_nothing(open_book: Any, clock: FakeClock, make: SimpleNamespace) -> None:
    book = await open_book()
    await practised(make, book, clock, 2)
    before = await book.snapshot()
    await book.refresh()
    assert await book.snapshot() == before


WRITER = """
import asyncio, sys
from pathlib import Path
from uuid import UUID
from myclaw_core.runtime.types import ExecutionTrace
from myclaw_core.testing import FakeClock
from myclaw_core.trust.book import TrustBook
from myclaw_core.trust.types import TraceSignals
from myclaw_sqlite.trust_store import TrustStoreDb

async def main(folder, number, count):
    clock = FakeClock()
    book = TrustBook(TrustStoreDb(folder / "trust.db"), b"k" * 32, clock, anchor=folder / "trust.head")
    await book.open()
    for turn in range(count):
        clock.advance(hours=1)
        trace = ExecutionTrace(id=UUID(int=number * 1000 + turn), session_id="s", channel="c", sender="x",
            autonomy="full", started_at=clock.now(), closed_at=clock.now(), outcome="success")
        signals = TraceSignals(subject=("fs_write", "fs_write:~/ws/notes/*"), tool_success=1.0, cost_efficiency=1.0,
            constitution_clean=1.0, human_approval_delta=1.0, undo_flag=0.0, asked=True)
        await book.bulk_update_from_trace(trace, [signals], turn + 1)
        print(turn, flush=True)
    await book.close()

asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
"""


def writer(folder: Path, number: int, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(folder), str(number), str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


async def test_two_processes_from_the_first_start_on_lose_no_update(
    tmp_path: Path, open_book: Any, make: SimpleNamespace
) -> None:
    writers = [writer(tmp_path, number, 25) for number in (1, 2)]
    for process in writers:
        _, errors = process.communicate()
        assert (process.returncode, errors) == (0, "")
    book = await open_book()
    assert (await book.get(make.NOTES)).n_samples == 50
    assert (await book.verify()).ok


async def test_a_killed_process_loses_no_committed_update(
    tmp_path: Path, open_book: Any, make: SimpleNamespace
) -> None:
    process = writer(tmp_path, 1, 10_000)
    assert process.stdout is not None
    confirmed = [process.stdout.readline() for _ in range(10)]
    process.kill()
    confirmed += process.stdout.readlines()
    process.communicate()
    book = await open_book()
    assert book.sound
    assert (await book.get(make.NOTES)).n_samples >= len([line for line in confirmed if line.endswith("\n")])
    assert (await book.verify()).ok


async def test_thresholds_that_were_asked_for_are_kept_in_their_table(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    thresholds = Thresholds(lambda *_: make.threshold(0.65, 5, risk_band="medium"), "~/ws")
    book = await open_book(thresholds=thresholds)
    thresholds.for_effect(make.NOTES[1], "reversible")
    thresholds.for_effect(PHOTOS[1], "irreversible")
    await practised(make, book, clock, 2)
    rows = await book._backend._database.read("SELECT * FROM thresholds")
    assert rows == [(make.NOTES[1], "medium", 0.65, 5, "full")]


async def test_other_weights_replay_every_event(open_book: Any, clock: FakeClock, make: SimpleNamespace) -> None:
    book = await open_book()
    await practised(make, book, clock, 4)
    await book.close()
    weights = {**SEED_WEIGHTS, "tool_success": 0.5, "cost_efficiency": 0.0}
    other = await open_book(estimator=DecayedMean(weights))
    assert (await other.get(make.NOTES)).n_samples == 4
    assert (await other.get(make.NOTES)).score != (await book.get(make.NOTES)).score
    assert (await other.verify()).ok


async def test_a_head_that_cannot_be_anchored_is_logged_and_the_update_kept(
    tmp_path: Path, open_book: Any, clock: FakeClock, make: SimpleNamespace, caplog: pytest.LogCaptureFixture
) -> None:
    book = await open_book()
    await practised(make, book, clock, 1)
    (tmp_path / "trust.head").unlink()
    (tmp_path / "trust.head").mkdir()
    with caplog.at_level(logging.ERROR, logger="myclaw.trust"):
        await practised(make, book, clock, 1)
    assert "could not be anchored" in caplog.text
    assert (await book.get(make.NOTES)).n_samples == 2
