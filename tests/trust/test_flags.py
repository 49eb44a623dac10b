"""What is worth a second look: moved scores, yeses without results, and other actors of a name."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from myclaw_core.testing import FakeClock
from myclaw_core.trust.decayed_mean import DecayedMean
from myclaw_core.trust.flags import changed_actors, drifts, top_drift, wishful, wishful_text
from myclaw_core.trust.happenings import Sample

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
DAY = timedelta(days=1)
PHOTOS = ("fs_write", "fs_write:~/photos/*")
MEAN = DecayedMean()


def history(make: SimpleNamespace, subject: Any, *samples: tuple[int, dict[str, float]]) -> list[Sample]:
    """Return samples, each so many days after the start."""
    return [
        make.sample(make.ideal(subject, **changes), START + days * DAY, f"{subject} {number}")
        for number, (days, changes) in enumerate(samples)
    ]


def test_the_largest_move_of_the_week_comes_first(make: SimpleNamespace) -> None:
    failed = {"tool_success": 0.0}
    told = {
        make.NOTES: history(make, make.NOTES, (0, {}), (1, {}), (12, {})),
        PHOTOS: history(make, PHOTOS, (0, {}), (1, {}), (12, failed), (13, failed)),
    }

    photos, notes = drifts(told, MEAN, START + 14 * DAY)

    assert (photos.subject, notes.subject) == (PHOTOS, make.NOTES)
    assert photos.change < 0 < notes.change
    assert abs(photos.change) > abs(notes.change)
    assert str(photos.text).startswith("trust in fs_write fs_write:~/photos/* moved from 0.7")


def test_a_subject_is_compared_with_what_was_read_a_week_ago(make: SimpleNamespace) -> None:
    """One that is new came from nothing."""
    (drift,) = drifts({make.NOTES: history(make, make.NOTES, (13, {}))}, MEAN, START + 14 * DAY)

    assert drift.before == 0.0
    assert drift.after == pytest.approx(0.76, abs=0.02)


def test_what_did_not_move_is_left_out(make: SimpleNamespace) -> None:
    assert drifts({make.NOTES: []}, MEAN, START) == []


async def test_only_what_was_used_this_week_drifts(open_book: Any, clock: FakeClock, make: SimpleNamespace) -> None:
    """Fading alone is no news, and a parent says nothing that its children do not."""
    book = await open_book()
    for days, subject in ((0, make.NOTES), (20, PHOTOS)):
        clock.advance(days=days)
        trace = make.trace(clock.new_id(), clock.now())
        signals = [make.ideal(subject), make.ideal(("runtime", "success"))]
        await book.bulk_update_from_trace(trace, signals, book.applied_seq + 1)

    assert [drift.subject for drift in await top_drift(book, clock.now())] == [PHOTOS]


async def scores_of(book: Any, make: SimpleNamespace, clock: FakeClock, *samples: dict[str, Any]) -> Any:
    for changes in samples:
        clock.advance(hours=1)
        await book.update(make.NOTES, make.ideal(**changes), clock.now())
    return (await book.snapshot()).values()


async def test_what_is_approved_often_and_succeeds_seldom_is_told(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    """The sycophancy pattern of seed 000: it asks well and works badly."""
    scores = await scores_of(await open_book(), make, clock, *[{"tool_success": 0.0}] * 4)

    found = wishful(scores)

    assert [score.subject for score in found] == [("fs_write", "fs_write:*"), make.NOTES]
    assert str(wishful_text(found[1])) == (
        "fs_write fs_write:~/ws/notes/* is approved often (0.90) and succeeds seldom (0.00)"
    )


@pytest.mark.parametrize(
    "samples",
    [
        [{}] * 5,
        [{"tool_success": 0.0}] * 2,
        [{"tool_success": 0.0, "human_approval_delta": 0.0}] * 5,
        [{"tool_success": 0.0, "asked": False, "human_approval_delta": 0.5}] * 5,
    ],
)
async def test_success_a_few_samples_or_no_approvals_are_no_reason(
    open_book: Any, clock: FakeClock, make: SimpleNamespace, samples: list[dict[str, Any]]
) -> None:
    assert wishful(await scores_of(await open_book(), make, clock, *samples)) == []


async def test_another_version_model_or_body_is_told_once_an_actor(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    book, before = await open_book(), clock.now()
    tidy = ("neuron:tidy", "fs_write:~/notes/*")
    versions = [("1.0", "claude-sonnet-5", "a"), ("1.1", "claude-sonnet-5", "b"), ("1.1", "gpt-5", "b")]
    told = []
    for version, model, body in versions:
        clock.advance(days=1)
        since = clock.now()
        steps = [make.step(one, since, version, model=model) for one in (make.NOTES, PHOTOS)]
        steps.append(make.step(tidy, since, body, index=2, model="claude-sonnet-5"))
        trace = make.trace(clock.new_id(), since, steps=steps)
        await book.bulk_update_from_trace(trace, [make.ideal(one) for one in (make.NOTES, PHOTOS, tidy)])
        told.append(list(map(str, changed_actors(book, since - timedelta(minutes=1)))))

    assert told == [
        [],
        [
            "fs_write has another version, 1.1 after 1.0: half of what it earned counts",
            "neuron:tidy has another body: what it earns begins anew",
        ],
        ["fs_write works with another model, gpt after claude-sonnet: half of what it earned counts"],
    ]
    assert changed_actors(book, clock.now()) == []
    assert len(changed_actors(book, before)) == 2
