"""The journal of a neuron: how each run ended; a damaged, foreign or hostile one is moved away and begun anew."""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from adopted_neurons import AdoptedNeurons, opened_neurons, run_of
from attrs import evolve
from myclaw_sqlite import journal_store

from myclaw_core.errors import StoreError
from myclaw_core.messages import N_
from myclaw_core.neurons.journals import Journals
from myclaw_core.paths import Home
from myclaw_core.testing import FakeClock

NAME = "word_count"
AT = datetime(2026, 1, 5, 9, tzinfo=UTC)


@pytest.fixture
async def neurons(home: Home, clock: FakeClock) -> AsyncIterator[AdoptedNeurons]:
    """A home with one adopted neuron on the shelf."""
    async with opened_neurons(home, clock) as opened:
        await opened.adopt()
        await opened.book.refresh()
        yield opened


@pytest.fixture
def journal(home: Home) -> Path:
    """The file of its journal."""
    return home.neurons / NAME / "journal.sqlite"


async def test_runs_are_kept_in_their_order_with_all_that_is_known(neurons: AdoptedNeurons, journal: Path) -> None:
    """Only the owner can read it, and nothing of it lies about afterwards."""
    run = evolve(run_of("ok"), caller="neuron:other", cost_eur=0.25, gap_pre=1.0, gap_post=0.0)
    await neurons.book.ran(neurons.neuron(), run)
    for number in range(12):
        await neurons.journals.append(NAME, evolve(run_of("failed"), at=AT + timedelta(minutes=number)))

    newest = await neurons.journals.newest(NAME, 100)
    assert [each.at for each in newest[:2]] == [AT + timedelta(minutes=11), AT + timedelta(minutes=10)]
    assert (len(newest), newest[-1]) == (13, run)
    assert len(await neurons.journals.newest(NAME, 3)) == 3
    assert modes(journal.parent) == {"journal.sqlite": 0o600}
    assert await neurons.refreshed() == [NAME]


async def test_a_neuron_that_never_ran_has_no_journal_and_none_is_made_by_looking(
    neurons: AdoptedNeurons, journal: Path
) -> None:
    assert list(await neurons.journals.newest(NAME, 5)) == []
    assert modes(journal.parent) == {}


def modes(folder: Path) -> dict[str, int]:
    """Return who can read the files of a journal."""
    return {path.name: path.stat().st_mode & 0o777 for path in folder.glob("journal*")}


def _noise(journal: Path) -> None:
    journal.write_bytes(os.urandom(8192))


def _torn(journal: Path) -> None:
    """Overwrite the middle of a page."""
    with journal.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 4096)


def _cut(journal: Path) -> None:
    with journal.open("r+b") as file:
        file.truncate(5000)


def _foreign(journal: Path) -> None:
    _sql(journal, "CREATE TABLE mine (x)")


def _trigger(journal: Path) -> None:
    _sql(journal, "CREATE TRIGGER t AFTER INSERT ON invocations BEGIN DELETE FROM invocations; END")


def _view(journal: Path) -> None:
    _sql(journal, "DROP TABLE invocations", "CREATE VIEW invocations AS SELECT 1 AS id")


def _link(journal: Path) -> None:
    target = journal.parent.parent.parent / "precious.db"
    _sql(target, "CREATE TABLE precious (x)")
    journal.unlink()
    journal.symlink_to(target)


def _hard_link(journal: Path) -> None:
    os.link(journal, journal.parent.parent.parent / "twin.db")


def _folder(journal: Path) -> None:
    journal.unlink()
    journal.mkdir()


def _pipe(journal: Path) -> None:
    journal.unlink()
    os.mkfifo(journal)


def _linked_wal(journal: Path) -> None:
    journal.with_name("journal.sqlite-wal").symlink_to("/etc/hostname")


def _names_another_file(journal: Path) -> None:
    """A rollback journal that ends with the name of another file, which SQLite would delete after playing it back."""
    victim = journal.parent.parent.parent / "victim"
    victim.write_text("keep me")
    name = str(victim).encode()
    tail = name + len(name).to_bytes(4, "big") + sum(name).to_bytes(4, "big") + bytes.fromhex("d9d505f920a163d7")
    header = bytes.fromhex("d9d505f920a163d7") + bytes(4) + bytes(4) + (2).to_bytes(4, "big") + bytes([0, 0, 2, 0])
    page = (512).to_bytes(4, "big")
    body = (header + page).ljust(512, b"\0") + (4096).to_bytes(4, "big") + tail
    journal.with_name("journal.sqlite-journal").write_bytes(body)


UNFIT = (
    _noise,
    _torn,
    _cut,
    _foreign,
    _trigger,
    _view,
    _link,
    _hard_link,
    _folder,
    _pipe,
    _linked_wal,
    _names_another_file,
)


@pytest.mark.parametrize("spoil", UNFIT)
async def test_an_unfit_journal_is_moved_away_told_and_begun_anew(
    neurons: AdoptedNeurons,
    journal: Path,
    home: Home,
    spoil: Callable[[Path], None],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Nothing of it is executed or followed, nothing deleted, and the neuron runs on."""
    for _ in range(40):
        await neurons.journals.append(NAME, run_of("ok"))
    spoil(journal)
    before = {path: path.read_bytes() for path in home.workspace.glob("*") if path.is_file()}
    caplog.clear()

    with caplog.at_level(logging.WARNING, "myclaw.neurons"):
        await neurons.book.ran(neurons.neuron(), run_of("timeout"))

    assert [each.outcome for each in await neurons.journals.newest(NAME, 5)] == ["timeout"]
    assert "is begun anew" in caplog.text
    (aside,) = home.neuron_archive.iterdir()
    assert (aside / "journal.sqlite").is_symlink() or any(aside.iterdir())
    assert {path: path.read_bytes() for path in home.workspace.glob("*") if path.is_file()} == before
    assert await neurons.refreshed() == [NAME]
    assert (await neurons.record()).strikes == 1


@pytest.mark.parametrize("spoil", UNFIT)
async def test_a_restart_with_an_unfit_journal_still_loads_the_neuron(
    home: Home, clock: FakeClock, journal: Path, spoil: Callable[[Path], None]
) -> None:
    """The journal is no part of what was signed."""
    async with opened_neurons(home, clock) as neurons:
        await neurons.adopt()
        for _ in range(40):
            await neurons.journals.append(NAME, run_of("ok"))
    spoil(journal)

    async with opened_neurons(home, clock) as neurons:
        assert await neurons.refreshed() == [NAME]


async def test_a_folder_that_is_a_link_gets_no_journal(neurons: AdoptedNeurons, home: Home) -> None:
    """Where it leads nothing is written."""
    elsewhere = home.root / "elsewhere"
    shutil.move(home.neurons / NAME, elsewhere)
    (home.neurons / NAME).symlink_to(elsewhere)

    await neurons.journals.append(NAME, run_of("ok"))

    assert not (elsewhere / "journal.sqlite").exists()


async def test_a_journal_that_has_grown_too_big_is_begun_anew(
    neurons: AdoptedNeurons, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    await neurons.journals.append(NAME, run_of("ok"))
    monkeypatch.setattr(journal_store, "MAX_BYTES", 100)

    await neurons.journals.append(NAME, run_of("failed"))

    assert len(list(home.neuron_archive.iterdir())) == 1


async def test_rows_that_say_nothing_are_left_out(neurons: AdoptedNeurons, journal: Path) -> None:
    """Somebody wrote into it by hand."""
    await neurons.journals.append(NAME, run_of("ok"))
    _sql(journal, "INSERT INTO invocations VALUES (NULL, 'no id', 'then', 'x', 'fine', -1, 0.0, NULL, NULL)")

    assert [each.outcome for each in await neurons.journals.newest(NAME, 5)] == ["ok"]


async def test_without_a_plugin_that_keeps_journals_runs_go_on(
    neurons: AdoptedNeurons, home: Home, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    none = Journals(N_("no plugin keeps it"), home, clock)

    await none.append(NAME, run_of("ok"))

    assert "no plugin keeps it" in caplog.text
    with pytest.raises(StoreError, match="no plugin keeps it"):
        await none.newest(NAME, 1)


def writers(file: Path, n: int) -> list[subprocess.Popen[bytes]]:
    """Start processes that write 50 failures each."""
    program = (
        "import asyncio, sys; from pathlib import Path; from myclaw_sqlite.journal_store import SqliteJournals;"
        f"sys.path.insert(0, {str(Path(__file__).parents[1] / 'support')!r});"
        "from adopted_neurons import run_of\n"
        "async def main():\n"
        "    for _ in range(50):\n"
        "        await SqliteJournals().append(Path(sys.argv[1]), run_of('failed'))\n"
        "asyncio.run(main())"
    )
    return [subprocess.Popen([sys.executable, "-c", program, str(file)]) for _ in range(n)]


async def test_processes_that_write_at_the_same_time_lose_no_run(neurons: AdoptedNeurons, journal: Path) -> None:
    """Each waits for the others."""
    others = writers(journal, 2)
    for _ in range(50):
        await neurons.journals.append(NAME, run_of("ok"))
    assert [other.wait(timeout=120) for other in others] == [0, 0]

    outcomes = [each.outcome for each in await neurons.journals.newest(NAME, 1000)]
    assert (outcomes.count("ok"), outcomes.count("failed")) == (50, 100)


async def test_a_process_that_is_killed_while_it_writes_leaves_a_journal_that_works(
    neurons: AdoptedNeurons, journal: Path, home: Home
) -> None:
    """A half-written row is none; what was committed stays."""
    for round_ in range(5):
        (other,) = writers(journal, 1)
        while not await neurons.journals.newest(NAME, 1 + round_) and other.poll() is None:
            pass
        other.kill()
        other.wait()
        await neurons.journals.append(NAME, run_of("ok"))

    outcomes = [each.outcome for each in await neurons.journals.newest(NAME, 1000)]
    assert outcomes.count("ok") == 5
    assert not home.neuron_archive.exists()


def _sql(file: Path, *statements: str) -> None:
    with closing(sqlite3.connect(file)) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()
