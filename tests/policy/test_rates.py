"""Rate limits: counted, shared, and unmoved by a clock that goes backwards."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from myclaw_sqlite.event_store import SqliteEventStore
from spoken import untranslatable

from myclaw_core.errors import StoreError
from myclaw_core.events.log import EventLog
from myclaw_core.policy import rates
from myclaw_core.policy.rates import RATE_KIND, RateBook, RateLimits, RateRefusedError
from myclaw_core.testing import FakeClock

LIMITS = RateLimits(class_per_minute=3, class_per_day=5, sender_per_minute=4, sender_per_day=50)


class Records(dict[str, bytes]):
    """The shared records, without a database."""

    async def get(self, kind: str, key: str) -> bytes | None:  # type: ignore[override]
        return dict.get(self, key)

    async def put(self, kind: str, key: str, value: bytes) -> None:
        self[key] = value

    async def delete(self, kind: str, key: str) -> None:
        dict.pop(self, key, None)


class Sender:
    """One sender, whose actions are counted in a book of its own process."""

    def __init__(self, clock: FakeClock, records: Records | None = None) -> None:
        self.clock = clock
        self.records = Records() if records is None else records
        self.book = RateBook(LIMITS)

    def acts(self, *effect_classes: str) -> None:
        """Count one action."""
        asyncio.run(self.book.count(self.records, "me", effect_classes, self.clock.now()))

    def refusal(self, effect_class: str = "a", sender: str = "me") -> str:
        """Return why one more action would be too many, or nothing."""
        refusal = self.book.check(sender, effect_class, self.clock.now())
        assert refusal is None or untranslatable(refusal) == []
        return str(refusal or "")


def test_the_minute_of_a_class_fills_up_and_ends() -> None:
    clock = FakeClock()
    me = Sender(clock)
    for _ in range(3):
        assert not me.refusal()
        me.acts("a")
    assert me.refusal() == "a reached its limit of 3 a minute; try again at 2026-01-05T09:01:01Z"
    clock.advance(seconds=61)
    assert not me.refusal()


def test_the_day_of_a_class_fills_up_too() -> None:
    clock = FakeClock()
    me = Sender(clock)
    for _ in range(5):
        me.acts("a")
        clock.advance(minutes=2)
    assert "a day" in me.refusal()
    clock.advance(days=1)
    assert not me.refusal()


def test_a_sender_is_limited_over_all_classes_and_others_are_not() -> None:
    me = Sender(FakeClock())
    for effect_class in ("a", "b", "c", "d"):
        me.acts(effect_class)
    assert "me" in me.refusal("e")
    assert not me.refusal("e", sender="you")


def test_an_action_without_side_effects_counts_for_its_sender_and_twice_the_same_class_counts_once() -> None:
    me = Sender(FakeClock())
    me.acts()
    assert list(me.records) == ["sender/me"]
    me.acts("a", "a")
    me.acts("a")
    me.acts("a")
    assert "a reached" in me.refusal("a")


def test_limits_survive_a_restart() -> None:
    clock = FakeClock()
    me = Sender(clock)
    for _ in range(3):
        me.acts("a")
    again = Sender(clock)
    again.book.load(me.records.items())
    assert again.refusal()


def test_what_another_process_counted_counts_here_before_it_was_ever_read() -> None:
    clock, records = FakeClock(), Records()
    one, two = Sender(clock, records), Sender(clock, records)
    one.acts("a")
    two.acts("a")
    one.acts("a")
    assert not two.refusal(), "what it has seen is one action old"
    with pytest.raises(RateRefusedError, match="a reached its limit of 3 a minute"):
        two.acts("a")
    assert two.refusal(), "now it has seen it"


async def test_two_processes_at_once_have_one_limit(tmp_path: Path) -> None:
    """Each has its own connection and its own memory; the record is read and raised under the write lock."""
    clock = FakeClock()
    logs = [EventLog(SqliteEventStore(tmp_path / "events.db"), bytes(32), clock) for _ in range(2)]
    books = [RateBook(LIMITS) for _ in logs]
    for log in logs:
        await log.open()

    async def act(number: int) -> bool:
        try:
            async with logs[number % 2].transaction() as tx:
                await books[number % 2].count(tx, "me", ["a"], clock.now())
        except RateRefusedError:
            return False
        return True

    done = await asyncio.gather(*(act(number) for number in range(10)))
    kept = await logs[0].scan(RATE_KIND)
    for log in logs:
        await log.close()
    assert sum(done) == LIMITS.class_per_minute
    again = RateBook(LIMITS)
    again.load(kept)
    assert again.check("me", "a", clock.now()) is not None
    assert again.check("me", "b", clock.now()) is None, "what was refused was not counted for the sender"


def test_a_damaged_record_is_an_error_with_its_name() -> None:
    for value in (b"", b"{}", b'{"minute": [1], "day": [1, 2]}', b"[]"):
        with pytest.raises(StoreError, match="class/a"):
            RateBook().load([("class/a", value)])
        with pytest.raises(StoreError, match="class/a"):
            Sender(FakeClock(), Records({"class/a": value})).acts("a")


def test_a_record_of_a_newer_major_is_refused_with_its_version() -> None:
    me = Sender(FakeClock())
    me.acts()
    newer = me.records["sender/me"].replace(b'"1.0"', b'"2.0"')
    with pytest.raises(StoreError, match=r"rate record 'sender/me': schema version 2\.0 is newer") as refused:
        RateBook().load([("sender/me", newer)])
    assert untranslatable(refused.value.text) == []


def test_what_a_later_version_keeps_in_a_record_stays_in_it() -> None:
    me = Sender(FakeClock())
    me.acts()
    me.records["sender/me"] = me.records["sender/me"].replace(b'"1.0",', b'"1.7","burst":4,')
    me.acts()
    assert b'"burst":4' in me.records["sender/me"]
    assert b'"schema_version":"1.7"' in me.records["sender/me"]


def test_a_limit_of_zero_allows_nothing() -> None:
    book = RateBook(RateLimits(class_per_minute=0))
    assert book.check("me", "a", FakeClock().now()) is not None
    with pytest.raises(RateRefusedError, match="a is limited to 0 actions") as refused:
        asyncio.run(book.count(Records(), "me", ["a"], FakeClock().now()))
    assert untranslatable(refused.value.text) == []


def test_counters_in_which_nothing_counts_any_more_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is one for each class that ever came up; what another process counted meanwhile stays."""
    monkeypatch.setattr(rates, "_KEPT", 4)
    clock, records = FakeClock(), Records()
    one, two = Sender(clock, records), Sender(clock, records)
    for effect_class in ("a", "b", "c"):
        one.acts(effect_class)
    clock.advance(days=2)
    two.acts("a")
    for number in range(50):
        assert not one.refusal(f"only judged {number}")
    one.acts("d")
    assert sorted(records) == ["class/a", "class/d", "sender/me"]
    for _ in range(2):
        one.acts("a")
    assert one.refusal("a")


@given(back_s=st.integers(0, 10**9))
def test_a_clock_set_back_neither_unlocks_nor_locks_for_good(back_s: int) -> None:
    clock = FakeClock()
    me = Sender(clock)
    for _ in range(3):
        me.acts("a")
    clock.set(clock.now() - timedelta(seconds=back_s))
    assert me.refusal()
    clock.advance(seconds=62)
    assert not me.refusal()
    me.acts("a")


def test_a_clock_set_back_and_right_again_lets_through_what_was_judged_to_fit() -> None:
    """Judging and counting see one window: what the policy allows is not refused at its intent."""
    clock = FakeClock()
    me = Sender(clock)
    for _ in range(3):
        me.acts("a")
    clock.advance(seconds=-40)
    assert me.refusal()
    clock.advance(seconds=65)
    assert not me.refusal()
    me.acts("a")
