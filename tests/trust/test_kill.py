"""kill -9 during writes: nothing that was acknowledged is lost, the chain verifies, scores equal the replay.

The plain run tries a third of the points; `MYCLAW_KILLS=200` tries more random moments.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from attrs import frozen
from myclaw_sqlite.trust_store import TrustStoreDb
from sampling import sampled

from myclaw_core.testing import FakeClock
from myclaw_core.trust.book import TrustBook

KILLS = int(os.environ.get("MYCLAW_KILLS", "20"))
START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
PHOTOS = ("fs_write", "fs_write:~/ws/photos/*")
OPS = 14
STEP = sampled(3, 1)


@frozen
class Stand:
    """How the store stood after an operation."""

    rows: int
    states: Mapping[Any, Any]


def book_in(folder: Path, make: SimpleNamespace) -> TrustBook:
    """Return a book that states a checkpoint every few rows."""
    store, anchor = TrustStoreDb(folder / "trust.db"), folder / "trust.head"
    return TrustBook(store, make.KEY, FakeClock(START), anchor=anchor, checkpoint_rows=5)


async def operate(book: TrustBook, make: SimpleNamespace, number: int) -> None:
    """Do one of a fixed row of operations; a second time it changes nothing."""
    at, own = START + timedelta(hours=7 * number), UUID(int=1000 + number)
    first = UUID(int=1000)
    match number:
        case 4:
            await book.record_undo(UUID(int=1003), [make.NOTES], at=at, undone_by=own, applied_seq=number)
        case 6:
            await book.revoke([make.NOTES], at=at, order_id=own, applied_seq=number)
        case 8:
            answer = make.approval(FakeClock(at), first, granted=False, request_id=own)
            await book.record_approval_outcome(first, answer, [PHOTOS], applied_seq=number)
        case 9:
            await book.restore([make.NOTES], at=at, order_id=own, applied_seq=number)
        case 10:
            to = START + timedelta(hours=7 * 2)
            await book.rollback(PHOTOS, to, at=at, order_id=own, applied_seq=number)
        case 11:
            await book.record_birth("tidy", 0.7, body="b", at=at, order_id=own, applied_seq=number)
        case 12:
            await book.hold([PHOTOS], at=at, order_id=own, applied_seq=number)
        case _:
            trace = make.trace(own, at)
            await book.bulk_update_from_trace(trace, [make.ideal(), make.ideal(PHOTOS)], number)


async def stand_of(book: TrustBook) -> Stand:
    return Stand(len(await book._backend.rows()), {one: book.state(one) for one in book.subjects()})


async def undisturbed(folder: Path, make: SimpleNamespace) -> list[Stand]:
    """Return how the store stands before the first operation and after each."""
    book = book_in(folder, make)
    await book.open()
    stands = [await stand_of(book)]
    for number in range(OPS):
        await operate(book, make, number)
        stands.append(await stand_of(book))
    await book.close()
    return stands


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """Where files are flushed fastest: a killed process leaves them whole in memory too."""
    memory = Path("/dev/shm")
    with TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as name:
        yield Path(name)


@pytest.fixture(scope="module")
def stands(folder: Path, make: SimpleNamespace) -> list[Stand]:
    """How the store stands where nothing disturbs it."""
    return asyncio.run(undisturbed(fresh(folder, "whole"), make))


def fresh(folder: Path, name: str) -> Path:
    (folder / name).mkdir()
    return folder / name


class Points:
    """Counts the points of a run and dies at one of them."""

    def __init__(self, fatal: int = 0) -> None:
        self.fatal = fatal
        self.passed = 0

    def reach(self) -> None:
        self.passed += 1
        if self.passed == self.fatal:
            os.kill(os.getpid(), signal.SIGKILL)


def instrument(book: TrustBook, points: Points) -> None:
    """Put points around every statement, every commit and every write of the head."""
    store, anchor = book._backend, book._keeper._anchor
    plain_transaction, plain_write = store.transaction, anchor.write

    @asynccontextmanager
    async def transaction() -> AsyncIterator[Any]:
        async with plain_transaction() as tx:
            for name in ("append", "put_score", "put_meta", "put_threshold"):
                setattr(tx, name, between(points, getattr(tx, name)))
            yield tx
            points.reach()
        points.reach()

    def write(head: Any) -> None:
        points.reach()
        plain_write(head)
        points.reach()

    store.transaction = transaction  # type: ignore[method-assign]
    anchor.write = write  # type: ignore[method-assign]


def between(points: Points, plain: Callable[..., Any]) -> Callable[..., Any]:
    async def watched(*args: Any) -> Any:
        done = await plain(*args)
        points.reach()
        return done

    return watched


async def operate_all(folder: Path, make: SimpleNamespace, points: Points, acknowledge: Callable[[int], None]) -> None:
    book = book_in(folder, make)
    await book.open()
    instrument(book, points)
    for number in range(OPS):
        await operate(book, make, number)
        acknowledge(number + 1)
    await book.close()


def in_a_process(folder: Path, make: SimpleNamespace, points: Points) -> tuple[int, int]:
    """Start all operations in a process of their own; return its id and the end of the pipe it acknowledges through."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    status = 1
    try:
        asyncio.run(operate_all(folder, make, points, lambda done: os.write(writing, bytes([done]))))
        status = 0
    finally:
        os._exit(status)


def read_on(reading: int, acknowledged: bytes = b"") -> bytes:
    """Return everything acknowledged until the process ended."""
    while more := os.read(reading, 64):
        acknowledged += more
    os.close(reading)
    return acknowledged


async def check(folder: Path, make: SimpleNamespace, stands: Sequence[Stand], acknowledged: bytes, where: str) -> None:
    """The store stands as after what was acknowledged, or one further; told everything again, it ends as it should."""
    done = acknowledged[-1] if acknowledged else 0
    book = book_in(folder, make)
    await book.open()
    assert book.problem is None, where
    assert await stand_of(book) in stands[done : done + 2], where
    assert (await book.verify()).ok, where
    for number in range(done, OPS):
        await operate(book, make, number)
    assert await stand_of(book) == stands[-1], where
    assert (await book.verify()).ok, where
    await book.close()


@pytest.mark.sampled
def test_a_kill_at_every_write_point_loses_nothing(folder: Path, make: SimpleNamespace, stands: list[Stand]) -> None:
    """Points are counted by a run that is not killed; each that is tried has a folder of its own."""
    whole = Points()
    asyncio.run(operate_all(fresh(folder, "counted"), make, whole, lambda _done: None))
    assert whole.passed > OPS * 6
    for fatal in range(1, whole.passed + 1, STEP):
        home = fresh(folder, f"point {fatal}")
        child, reading = in_a_process(home, make, Points(fatal))
        acknowledged = read_on(reading)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        asyncio.run(check(home, make, stands, acknowledged, f"point {fatal} of {whole.passed}"))


def test_a_kill_at_a_random_moment_loses_nothing(folder: Path, make: SimpleNamespace, stands: list[Stand]) -> None:
    """The process is killed from outside, some steps of the interpreter after a random acknowledgement."""
    chance = random.Random(5)
    for number in range(KILLS):
        home = fresh(folder, f"kill {number}")
        child, reading = in_a_process(home, make, Points())
        acknowledged = b"".join(os.read(reading, 1) for _ in range(chance.randrange(OPS)))
        for _ in range(chance.randrange(100_000)):
            pass
        os.kill(child, signal.SIGKILL)
        acknowledged = read_on(reading, acknowledged)
        os.waitpid(child, 0)
        asyncio.run(check(home, make, stands, acknowledged, f"kill {number} after {len(acknowledged)}"))
