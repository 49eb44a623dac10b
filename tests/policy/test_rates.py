"""Rate limits: counted, stored, and unmoved by a clock that goes backwards."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from myclaw_core.errors import StoreError
from myclaw_core.policy.rates import RateBook, RateLimits
from myclaw_core.testing import FakeClock

LIMITS = RateLimits(class_per_minute=3, class_per_day=5, sender_per_minute=4, sender_per_day=50)


def test_the_minute_of_a_class_fills_up_and_ends() -> None:
    clock, book = FakeClock(), RateBook(LIMITS)
    for _ in range(3):
        assert book.check("me", "a", clock.now()) is None
        book.count("me", ["a"], clock.now())
    assert (
        str(book.check("me", "a", clock.now()))
        == "a reached its limit of 3 a minute; try again at 2026-01-05T09:01:01Z"
    )
    clock.advance(seconds=61)
    assert book.check("me", "a", clock.now()) is None


def test_the_day_of_a_class_fills_up_too() -> None:
    clock, book = FakeClock(), RateBook(LIMITS)
    for _ in range(5):
        book.count("me", ["a"], clock.now())
        clock.advance(minutes=2)
    assert "a day" in str(book.check("me", "a", clock.now()))
    clock.advance(days=1)
    assert book.check("me", "a", clock.now()) is None


def test_a_sender_is_limited_over_all_classes_and_others_are_not() -> None:
    clock, book = FakeClock(), RateBook(LIMITS)
    for effect_class in ("a", "b", "c", "d"):
        book.count("me", [effect_class], clock.now())
    assert "me" in str(book.check("me", "e", clock.now()))
    assert book.check("you", "e", clock.now()) is None


def test_an_action_without_side_effects_counts_for_its_sender_and_twice_the_same_class_counts_once() -> None:
    clock, book = FakeClock(), RateBook(LIMITS)
    assert [key for key, _ in book.count("me", [], clock.now())] == ["sender/me"]
    assert [key for key, _ in book.count("me", ["a", "a"], clock.now())] == ["class/a", "sender/me"]


def test_limits_survive_a_restart() -> None:
    clock, book = FakeClock(), RateBook(LIMITS)
    records: dict[str, bytes] = {}
    for _ in range(3):
        records.update(book.count("me", ["a"], clock.now()))
    again = RateBook(LIMITS)
    again.load(records.items())
    assert again.check("me", "a", clock.now()) is not None


def test_a_damaged_record_is_an_error_with_its_name() -> None:
    for value in (b"", b"{}", b'{"minute": [1], "day": [1, 2]}', b"[]"):
        with pytest.raises(StoreError, match="class/a"):
            RateBook().load([("class/a", value)])


def test_a_limit_of_zero_allows_nothing() -> None:
    assert RateBook(RateLimits(class_per_minute=0)).check("me", "a", FakeClock().now()) is not None


@given(back_s=st.integers(0, 10**9))
def test_a_clock_set_back_neither_unlocks_nor_locks_for_good(back_s: int) -> None:
    clock, book = FakeClock(), RateBook(LIMITS)
    for _ in range(3):
        book.count("me", ["a"], clock.now())
    clock.set(clock.now() - timedelta(seconds=back_s))
    assert book.check("me", "a", clock.now()) is not None
    clock.advance(seconds=62)
    assert book.check("me", "a", clock.now()) is None
