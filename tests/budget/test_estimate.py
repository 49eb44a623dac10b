"""What a raise will probably cost, from what the last days cost."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spoken import untranslatable

from myclaw_core.budget.account import Account
from myclaw_core.budget.book import DayBook, Entry
from myclaw_core.budget.estimate import SAMPLE_DAYS, estimated
from myclaw_core.budget.ledger import Ledger
from myclaw_core.events.log import EventLog
from myclaw_core.testing import FakeClock

TODAY = date(2026, 1, 20)
A_DAY = timedelta(days=1)


def book(back: int, **cents: int) -> DayBook:
    """Return the book of a day, with what was spent at each level."""
    entries = tuple(Entry(account=Account(level=level), calls=1, spent=cent * 10_000) for level, cent in cents.items())
    day = (TODAY - timedelta(days=back)).isoformat()
    return DayBook(day=day, spent=sum(entry.spent for entry in entries), entries=entries)


def test_the_mean_of_the_days_at_that_level_is_taken() -> None:
    """Of what was spent at that level on them, whatever else was."""
    books = [book(0), book(1, full=300, supervised=99), book(2, full=400), book(3, supervised=900), book(4, full=350)]
    found = estimated(books, "full", A_DAY, 5.0)
    assert found.eur == 3.5
    assert str(found.text) == (
        "estimate: 3.50 €, from your last 14 days (3 of them used at level full); the hard cap is 5.00 € a day"
    )
    assert untranslatable(found.text) == []


def test_where_there_are_too_few_days_at_that_level_all_are_taken_and_that_is_said() -> None:
    """A few days at a level say nothing about it."""
    books = [book(0), book(1, full=300), book(2, supervised=100), book(3, supervised=101)]
    found = estimated(books, "full", A_DAY, 5.0)
    assert found.eur == 1.67
    assert str(found.text).startswith(
        "estimate: 1.67 €, from your last 14 days (3 of them used, too few at level full); "
    )
    assert untranslatable(found.text) == []


def test_where_there_are_too_few_days_at_all_that_is_said() -> None:
    """It is better than nothing."""
    found = estimated([book(0), book(1, supervised=40)], "full", A_DAY, 5.0)
    assert found.eur == 0.4
    assert "(a rough one, only 1 of them used)" in str(found.text)
    assert untranslatable(found.text) == []


def test_where_there_was_no_use_nothing_is_made_up() -> None:
    """The hard cap is what is known."""
    found = estimated([book(back) for back in range(15)], "full", A_DAY, 5.0)
    assert found.eur is None
    assert str(found.text) == ("estimate: none, there was no use in your last 14 days; the hard cap is 5.00 € a day")
    assert untranslatable(found.text) == []


def test_today_counts_only_where_there_is_no_other_day() -> None:
    """It is not over."""
    assert estimated([book(0, full=10), *(book(back, full=200) for back in (1, 2, 3))], "full", A_DAY, 5.0).eur == 2.0
    assert estimated([book(0, full=10), book(1)], "full", A_DAY, 5.0).eur == 0.1


def test_days_on_which_everything_was_free_count_as_days() -> None:
    """A model on this machine costs nothing at any level."""
    assert estimated([book(0), *(book(back, full=0) for back in (1, 2, 3))], "full", A_DAY, 5.0).eur == 0.0


def test_days_that_an_earlier_version_booked_count_without_a_level() -> None:
    """Their sum is known."""
    old = [DayBook(day=f"2026-01-1{n}", spent=1_000_000) for n in range(3)]
    found = estimated([book(0), *old], "full", A_DAY, 5.0)
    assert found.eur == 1.0
    assert "too few at level full" in str(found.text)


@pytest.mark.parametrize(
    ("lasts", "told"),
    [
        (None, "2.01 € a day"),
        (timedelta(hours=24), "2.01 €"),
        (timedelta(hours=12), "1.01 €"),
        (timedelta(minutes=1), "0.01 €"),
        (timedelta(days=30), "60.20 €"),
    ],
)
def test_it_is_for_the_time_that_is_asked_for_and_never_rounded_down(lasts: timedelta | None, told: str) -> None:
    """A day where no time is."""
    books = [book(0), *(book(back, full=cents) for back, cents in ((1, 200), (2, 201), (3, 201)))]
    assert f"estimate: {told}, from" in str(estimated(books, "full", lasts, 5.0).text)


AMOUNTS = st.lists(st.one_of(st.none(), st.integers(0, 500)), min_size=SAMPLE_DAYS, max_size=SAMPLE_DAYS)


@given(amounts=AMOUNTS, hours=st.integers(1, 24 * 30))
def test_it_is_the_exact_mean_rounded_up_to_a_cent(amounts: Sequence[int | None], hours: int) -> None:
    """Compared with plain fractions."""
    books = [book(0), *(book(n, **({} if a is None else {"full": a})) for n, a in enumerate(amounts, 1))]
    used = [amount for amount in amounts if amount is not None]
    found = estimated(books, "full", timedelta(hours=hours), 5.0).eur
    if not used:
        assert found is None
        return
    exact = Fraction(sum(used) * hours, len(used) * 24 * 100)
    assert found is not None
    assert exact <= Fraction(str(found)) < exact + Fraction(1, 100)


async def test_the_ledger_looks_at_the_days_it_says(ledger: Ledger, clock: FakeClock, till: Any) -> None:
    """What lies further back is out of view."""
    for cents in (400, 30, 20, 10):
        await till.settle(ledger, await till.reserve(ledger, cents, level="full"), cents)
        clock.advance(days=1)
    clock.advance(days=10)
    assert (await ledger.estimate("full")).eur == 1.15
    clock.advance(days=1)
    assert (await ledger.estimate("full", A_DAY)).eur == 0.2


async def test_days_that_cannot_be_read_are_told_and_the_hard_cap_with_them(ledger: Ledger, log: EventLog) -> None:
    """What a raise may cost at most is known all the same."""
    async with log.transaction() as tx:
        await tx.put("budget", "day:2026-01-02", b"\xff")
    found = await ledger.estimate("full", A_DAY)
    assert found.eur is None
    assert str(found.text).startswith("estimate: none, the ledger cannot be read: budget record day:2026-01-02: ")
    assert str(found.text).endswith("; the hard cap is 5.00 € a day")
    assert untranslatable(found.text) == []
