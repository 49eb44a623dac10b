"""Orders about trust go through the event log, so that they outlive the trust store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from myclaw_sqlite.event_store import SqliteEventStore
from practice import apply, practised

from myclaw_core.errors import UsageError
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import TrustChanged
from myclaw_core.testing import FakeClock
from myclaw_core.trust.follower import TrustFollower
from myclaw_core.trust.orders import TrustOrders

PARENT = ("fs_write", "fs_write:*")
PHOTOS = ("fs_write", "fs_write:~/ws/photos/*")
TIDY = ("neuron:tidy", "invoke")


@pytest.fixture
async def log(tmp_path: Path, clock: FakeClock) -> AsyncIterator[EventLog]:
    """Return an open, empty log."""
    log = EventLog(SqliteEventStore(tmp_path / "events.db"), bytes(32), clock)
    await log.open()
    yield log
    await log.close()


@pytest.fixture
async def orders(log: EventLog, open_book: Any, clock: FakeClock) -> TrustOrders:
    """Return orders over that log."""
    book = await open_book()
    return TrustOrders(log, book, TrustFollower(log, book), clock)


async def test_an_order_is_recorded_and_followed_at_once(
    orders: TrustOrders, log: EventLog, clock: FakeClock, make: SimpleNamespace
) -> None:
    book = orders._book
    await practised(make, book, clock, 5)
    await practised(make, book, clock, 5, PHOTOS)
    assert await orders.revoke("fs_write:~/ws/notes", sender="cli:me") == (make.NOTES,)
    assert book.state(make.NOTES).revoked
    assert await orders.restore("fs_write", sender="cli:me") == (PARENT, make.NOTES, PHOTOS)
    assert not book.state(make.NOTES).revoked
    await orders.keep_asking([PHOTOS], sender="telegram:42")
    assert book.state(PHOTOS).held
    await orders.rollback("fs_write fs_write:~/ws/photos/*", clock.now() - timedelta(days=1), sender="cli:me")
    assert book.state(PHOTOS).n_samples == 3
    await orders.birth("tidy", 0.72, body="b", sender="cli:me")
    assert (await book.get(TIDY)).score == pytest.approx(0.72)
    told = [event for _, event in await log.since(0) if isinstance(event, TrustChanged)]
    assert [(event.change, event.sender) for event in told] == [
        ("revoke", "cli:me"),
        ("restore", "cli:me"),
        ("hold", "telegram:42"),
        ("rollback", "cli:me"),
        ("birth", "cli:me"),
    ]


async def test_orders_survive_the_loss_of_the_trust_store(
    orders: TrustOrders, log: EventLog, tmp_path: Path, open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    """Made again from the log, the store says the same."""
    await orders.birth("tidy", 0.72, body="b", sender="cli:me")
    clock.advance(days=1)
    await orders.keep_asking([TIDY, make.NOTES], sender="cli:me")
    await orders.revoke("neuron:tidy", sender="cli:me")
    clock.advance(hours=1)
    await orders.rollback("neuron:tidy invoke", clock.now() - timedelta(minutes=30), sender="cli:me")
    before = {one: orders._book.state(one) for one in orders._book.subjects()}
    await orders._book.close()
    for name in ("trust.db", "trust.head"):
        (tmp_path / name).unlink()
    book = await open_book()
    await TrustFollower(log, book).catch_up()
    assert {one: book.state(one) for one in book.subjects()} == before
    assert book.state(TIDY).held
    assert book.state(TIDY).revoked


@pytest.mark.parametrize(
    ("which", "meant"),
    [
        ("fs_write fs_write:~/ws/notes/*", {"notes"}),
        ("  fs_write   fs_write:~/ws/notes/*  ", {"notes"}),
        ("fs_write", {"notes", "photos", "parent"}),
        ("fs_write fs_write:*", {"notes", "photos", "parent"}),
        ("fs_write:~/ws/p", {"photos"}),
        ("fs_write fs_write:~/ws", {"notes", "photos"}),
        ("neuron:t", {"tidy"}),
        ("invoke", {"tidy"}),
        ("runtime", set()),
        ("", set()),
        ("unicorn", set()),
    ],
)
async def test_a_subject_is_named_in_full_or_cut_short(
    orders: TrustOrders, clock: FakeClock, make: SimpleNamespace, which: str, meant: set[str]
) -> None:
    names = {"notes": make.NOTES, "photos": PHOTOS, "parent": PARENT, "tidy": TIDY}
    everything = [make.NOTES, PHOTOS, TIDY, ("runtime", "success"), ("fs_write_all", "fs_delete:~/x/*")]
    await apply(make, orders._book, clock, *map(make.ideal, everything))
    if meant:
        assert set(orders.meant(which)) == {names[one] for one in meant}
    else:
        with pytest.raises(UsageError, match="has any history; see 'myclaw trust list'"):
            orders.meant(which)


async def test_a_rollback_needs_a_moment_that_was(orders: TrustOrders, clock: FakeClock, make: SimpleNamespace) -> None:
    await practised(make, orders._book, clock, 2)
    with pytest.raises(UsageError, match="lies in the future"):
        await orders.rollback("fs_write", clock.now() + timedelta(seconds=1), sender="cli:me")
    with pytest.raises(UsageError, match="needs its time zone"):
        await orders.rollback("fs_write", datetime(2026, 1, 1), sender="cli:me")  # noqa: DTZ001


async def test_a_birth_out_of_range_is_not_recorded(orders: TrustOrders, log: EventLog) -> None:
    with pytest.raises(ValueError, match="not in"):
        await orders.birth("tidy", 1.2, body="", sender="cli:me")
    assert await log.since(0) == []
