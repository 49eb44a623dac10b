"""Trust as people read it, in their language; programs read it in English."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from myclaw_core.testing import FakeClock
from myclaw_core.trust.book import TrustBook
from myclaw_core.trust.report import happening_json, record_line, score_json, subject_report, trust_table

ACTOR = "fs_write fs_write:~/ws/notes/*"


@pytest.fixture
async def used(make: SimpleNamespace, open_book: Any, clock: FakeClock) -> TrustBook:
    """A book in which one thing was done on two days, the second time not well."""
    book: TrustBook = await open_book()
    for signals in (make.ideal(), make.ideal(tool_success=0.0)):
        clock.advance(days=1)
        await book.refresh()
        await book.bulk_update_from_trace(make.trace(clock.new_id(), clock.now()), [signals], book.applied_seq + 1)
    return book


async def report_of(book: TrustBook, subject: Any, clock: FakeClock) -> list[str]:
    """Return the lines on one subject."""
    score, view = await book.get(subject), book.view(subject, clock.now())
    assert score is not None
    assert view is not None
    return subject_report(score, view, await book.events(subject), clock.now()).splitlines()


async def test_a_table_has_one_row_a_subject(used: TrustBook) -> None:
    """Numbers stand under their headings; a legend says what they mean."""
    head, first, second, blank, legend = trust_table(await used.snapshot()).splitlines()

    assert head == "score  samples  last used   actor and class"
    assert (first[7:14], first[16:26]) == ("      2", "2026-01-07")
    assert {first[28:], second[28:]} == {ACTOR, "fs_write fs_write:*"}
    assert (blank, legend.partition(":")[0]) == ("", "score")


def test_an_empty_table_says_so() -> None:
    """Also where only the beginning was wrong."""
    assert trust_table({}) == "No action has earned anything yet."
    assert trust_table({}, prefix="fs") == "Nothing that starts with fs has a score."


async def test_one_subject_in_full(used: TrustBook, make: SimpleNamespace, clock: FakeClock) -> None:
    """Components, what counts towards promotion, history."""
    clock.advance(days=3)

    name, score, heading, *components, grants, asked, history = await report_of(used, make.NOTES, clock)

    assert name == ACTOR
    assert score.startswith("score 0.")
    assert " now; 2 samples on 2 days, that count as " in score
    assert heading == "  each from 0 (never) to 1 (always):"
    assert [line[:25].rstrip() for line in components] == [
        "    succeeded",
        "    answered with yes",
        "    within its usual cost",
        "    broke no law",
        "    was not undone",
    ]
    assert all(0 <= float(line[27:]) <= 1 for line in components)
    assert grants == "  times you said yes to exactly this that still count: 2"
    assert asked == "  last asked 3 days ago"
    assert history == "history, oldest first (high is good, u: undone, r: trust taken away): █▁"


async def test_what_went_wrong_lately_is_told(used: TrustBook, make: SimpleNamespace, clock: FakeClock) -> None:
    """It asks, whatever the score."""
    await used.refresh()
    trace = make.trace(clock.new_id(), clock.now() + timedelta(hours=1))
    await used.bulk_update_from_trace(trace, [make.denied()], used.applied_seq + 1)

    assert "  one of the last 3 times was denied, undone or broke a law: it asks" in await report_of(
        used, make.NOTES, clock
    )


@pytest.mark.parametrize(("days", "asked"), [(0, "today"), (1, "1 day ago"), (2, "2 days ago")])
async def test_a_record_is_one_line(
    used: TrustBook, make: SimpleNamespace, clock: FakeClock, days: int, asked: str
) -> None:
    """For an approval card."""
    clock.advance(days=days)
    line = record_line(make.NOTES, used.view(make.NOTES, clock.now()), clock.now())

    assert line.startswith(f"{ACTOR}: score 0.")
    assert line.endswith(f", went well 1 of 2 times, last asked {asked}")


def test_a_subject_without_history_was_never_done_before(make: SimpleNamespace, clock: FakeClock) -> None:
    """The first question about it."""
    assert record_line(make.NOTES, None, clock.now()) == f"{ACTOR}: never done before"


async def test_a_birth_is_nothing_that_was_done(used: TrustBook, clock: FakeClock) -> None:
    """A neuron begins with a score, but the first question about it says that it never ran."""
    await used.record_birth("tidy", 0.75, at=clock.now())
    newborn = ("neuron:tidy", "invoke")

    line = record_line(newborn, used.view(newborn, clock.now()), clock.now())

    assert line == "neuron:tidy invoke: never done before; its birth score is 0.75"


async def test_people_read_their_language_and_programs_english(
    in_quotes: None, used: TrustBook, make: SimpleNamespace, clock: FakeClock
) -> None:
    """Every line for people is a message."""
    name, *lines = await report_of(used, make.NOTES, clock)
    score = await used.get(make.NOTES)
    assert score is not None

    assert name == ACTOR
    assert [line for line in lines if not line.strip().startswith("‹")] == []
    assert trust_table(await used.snapshot()).startswith("‹score›  ‹samples›  ‹last used›  ‹actor and class›\n")
    assert "‹last asked today›" in record_line(make.NOTES, used.view(make.NOTES, clock.now()), clock.now())
    assert "‹" not in str(score_json(score))
    assert "‹" not in str([happening_json(happening) for happening in await used.events(make.NOTES)])
