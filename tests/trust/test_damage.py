"""A trust store that decayed on disk: no damaged score is ever used, and a message says what happened."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from attrs import frozen
from myclaw_sqlite.trust_store import TrustStoreDb

from myclaw_core.errors import StoreError, TrustCorruptionError
from myclaw_core.testing import FakeClock
from myclaw_core.trust.book import TrustBook

FLIPS = int(os.environ.get("MYCLAW_FLIPS", "200"))
TRUNCATIONS = 50
START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
NOW = START + timedelta(days=20)
PHOTOS = ("fs_write", "fs_write:~/ws/photos/*")


@frozen
class Whole:
    """A sound store, and how its subjects stand in it and after one more undo."""

    folder: Path
    states: Mapping[Any, Any]
    undone: Mapping[Any, Any]

    def copy(self, name: str) -> Path:
        """Return a copy that may be damaged."""
        return Path(shutil.copytree(self.folder, self.folder.with_name(name)))


def book_in(folder: Path, make: SimpleNamespace) -> TrustBook:
    return TrustBook(TrustStoreDb(folder / "trust.db"), make.KEY, FakeClock(NOW), anchor=folder / "trust.head")


def states_of(book: TrustBook) -> dict[Any, Any]:
    return {subject: book.state(subject) for subject in book.subjects()}


async def undo_one(book: TrustBook) -> None:
    """Take back an early action: subject and parent are made again from their rows."""
    await book.record_undo(UUID(int=2), [PHOTOS], at=NOW, undone_by=UUID(int=99), in_time=True)


@pytest.fixture(scope="module")
def whole(make: SimpleNamespace) -> Iterator[Whole]:
    """A store in which some things went well and some did not."""
    memory = Path("/dev/shm")
    with TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as name:
        folder = Path(name) / "whole"
        folder.mkdir()
        yield asyncio.run(grown(folder, make))


async def grown(folder: Path, make: SimpleNamespace) -> Whole:
    book = book_in(folder, make)
    await book.open()
    for number in range(12):
        trace = make.trace(UUID(int=number), START + timedelta(days=number))
        signals = make.denied() if number == 4 else make.ideal()
        await book.bulk_update_from_trace(trace, [signals, make.ideal(PHOTOS, tool_success=float(number % 5 > 0))])
    await book.hold([PHOTOS], at=NOW)
    states = states_of(book)
    await book.close()
    shutil.copytree(folder, folder.with_name("undone"))
    beside = book_in(folder.with_name("undone"), make)
    await beside.open()
    await undo_one(beside)
    undone = states_of(beside)
    await beside.close()
    return Whole(folder, states, undone)


def told(caplog: pytest.LogCaptureFixture) -> bool:
    """Return whether somebody was told loudly."""
    return any(record.levelno == logging.CRITICAL for record in caplog.records)


async def assert_nothing_damaged_is_used(
    folder: Path, make: SimpleNamespace, whole: Whole, caplog: pytest.LogCaptureFixture
) -> str:
    """Open a damaged store and go on with it; return what became of it."""
    caplog.clear()
    book, refusal = book_in(folder, make), None
    try:
        await book.open()
        if book.problem is not None:
            assert str(book.problem)
            assert told(caplog)
            return "the record does not check out"
        assert_sound_or_empty(book, whole.states, caplog)
        await undo_one(book)
        if book.problem is None:
            assert_sound_or_empty(book, whole.undone, caplog)
    except StoreError as error:
        refusal = error
    finally:
        await book.close()
    if refusal is not None:
        place = "trust row" if isinstance(refusal, TrustCorruptionError) else str(folder / "trust.db")
        assert place in str(refusal)
        assert "SELECT" not in str(refusal)
        return "the file cannot be used"
    return "it reads as empty" if told(caplog) else "nothing was hurt"


def assert_sound_or_empty(book: TrustBook, states: Mapping[Any, Any], caplog: pytest.LogCaptureFixture) -> None:
    for subject, state in states.items():
        view = book.view(subject, NOW)
        if view is None or view.state != state:
            assert view is None or (view.score, view.state.n_samples) == (0.0, 0), subject
            assert told(caplog), f"{subject} reads as empty and nobody was told"


async def test_a_single_flipped_bit_is_never_trusted(
    whole: Whole, make: SimpleNamespace, caplog: pytest.LogCaptureFixture
) -> None:
    chance, found = random.Random(11), set()
    sound = (whole.folder / "trust.db").read_bytes()
    for number in range(FLIPS):
        place = chance.randrange(len(sound) * 8)
        damaged = bytearray(sound)
        damaged[place // 8] ^= 1 << place % 8
        folder = whole.copy(f"flip {number}")
        (folder / "trust.db").write_bytes(damaged)
        found.add(await assert_nothing_damaged_is_used(folder, make, whole, caplog))
    assert found >= {"the record does not check out", "it reads as empty", "nothing was hurt"}


async def test_a_flipped_bit_in_a_score_or_an_event_is_noticed_wherever_it_is(
    whole: Whole, make: SimpleNamespace, caplog: pytest.LogCaptureFixture
) -> None:
    """Those that hit what is stored, unlike the free pages of a small file."""
    chance = random.Random(12)
    sound = (whole.folder / "trust.db").read_bytes()
    for mark in (b'"checksum":"', b'"schema_version":"1.0","signals"', b'"components":{', b"fs_write:~/ws/notes"):
        assert mark in sound
        starts = [place for place in range(len(sound)) if sound.startswith(mark, place)]
        for start in chance.sample(starts, min(4, len(starts))):
            place = start + chance.randrange(len(mark))
            folder = whole.copy(f"hit {place}")
            damaged = bytearray(sound)
            damaged[place] ^= 1 << chance.randrange(8)
            (folder / "trust.db").write_bytes(damaged)
            assert await assert_nothing_damaged_is_used(folder, make, whole, caplog) != "nothing was hurt"


async def test_a_truncated_file_is_never_trusted(
    whole: Whole, make: SimpleNamespace, caplog: pytest.LogCaptureFixture
) -> None:
    sound = (whole.folder / "trust.db").read_bytes()
    for number in range(TRUNCATIONS):
        folder = whole.copy(f"cut {number}")
        (folder / "trust.db").write_bytes(sound[: len(sound) * number // TRUNCATIONS])
        assert await assert_nothing_damaged_is_used(folder, make, whole, caplog) != "nothing was hurt", number


async def test_an_empty_file_is_told_by_its_head(
    whole: Whole, make: SimpleNamespace, caplog: pytest.LogCaptureFixture
) -> None:
    folder = whole.copy("empty")
    (folder / "trust.db").write_bytes(b"")
    book = book_in(folder, make)
    await book.open()
    assert str(book.problem) == "25 of its newest rows are missing"
    assert book.subjects() == []
    await book.close()


async def test_a_schema_of_another_version_is_left_alone_and_named(whole: Whole, make: SimpleNamespace) -> None:
    folder = whole.copy("newer")
    with closing(sqlite3.connect(folder / "trust.db")) as database:
        database.execute("UPDATE meta SET schema_version = 7")
        database.commit()
    before = (folder / "trust.db").read_bytes()
    with pytest.raises(StoreError, match="has schema 7 and this version of myclaw reads schema 1; install the myclaw"):
        await book_in(folder, make).open()
    assert (folder / "trust.db").read_bytes() == before


async def test_a_damaged_score_is_made_again_from_its_events_by_a_repair(
    whole: Whole, make: SimpleNamespace, caplog: pytest.LogCaptureFixture
) -> None:
    folder = whole.copy("repaired")
    with closing(sqlite3.connect(folder / "trust.db")) as database:
        database.execute("UPDATE scores SET component_blob = x'00' WHERE effect_class LIKE '%notes%'")
        database.commit()
    book = book_in(folder, make)
    await book.open()
    assert book.state(make.NOTES) != whole.states[make.NOTES]
    assert await book.repair() == (make.NOTES,)
    assert states_of(book) == whole.states
    assert (await book.verify()).ok
    assert await book.repair() == ()
    await book.close()
