"""What undo kept is swept by processes that die or that work at once, and nothing is lost that is needed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path

from attrs import evolve
from undo_store import Store

from myclaw_core.undo.journal import UndoJournal
from myclaw_core.undo.keep import blob_files
from myclaw_core.undo.needs import needed_bytes

KILLED = Path(__file__).with_name("sweep_until_killed.py")


def sweep_until(store: Store, fatal: int) -> int:
    """Sweep in a process that dies at a point; return how it ended."""
    command = [sys.executable, str(KILLED), str(store.folder), store.clock.now().isoformat(), str(fatal)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode in {0, -signal.SIGKILL}, ended.stderr
    return ended.returncode


@contextmanager
def sweeping(store: Store) -> Iterator[None]:
    """Let another process sweep without end meanwhile."""
    ready, write = os.pipe()
    command = [sys.executable, str(KILLED), str(store.folder), store.clock.now().isoformat(), "-1"]
    other = subprocess.Popen(command, pass_fds=(write,), env={**os.environ, "FD": str(write)})
    os.close(write)
    try:
        assert os.read(ready, 1)
        yield
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()
        os.close(ready)


async def test_a_kill_at_any_point_of_a_sweep_loses_nothing_that_is_needed(tmp_path: Path) -> None:
    """And the next sweep does the rest."""
    fatal, last = 0, False
    while not last:
        fatal += 1
        store = Store(tmp_path / str(fatal))
        store.folder.mkdir()
        for text in ("a", "b"):
            await store.commit(store.make(text, whole=True))
        await store.pass_days(31)
        living = store.make("c", whole=True)
        await store.commit(living)
        await store.pass_days(0.1)
        last = sweep_until(store, fatal) == 0
        assert needed_bytes(living, store.blobs) <= store.files()
        await store.sweep()
        assert store.files() == needed_bytes(living, store.blobs)
        assert UndoJournal(store.blobs, store.clock).revert(living).reverted
    assert fatal > 5


async def test_two_processes_that_sweep_and_put_at_once_lose_nothing(tmp_path: Path) -> None:
    """One puts and commits the same few contents over and over; the other sweeps all the time."""
    store = Store(tmp_path)
    await store.happen()
    store.clock.advance(days=2)
    await store.happen()
    store.clock.advance(days=2)
    old = (store.clock.now() - timedelta(days=3)).timestamp()
    with sweeping(store):
        for number in range(40):
            for file in blob_files(store.undo):
                with suppress(FileNotFoundError):
                    os.utime(file, (old, old))
            record = store.make("abcd"[number % 4])
            await store.commit(record)
            assert needed_bytes(record, store.blobs) <= store.files()
            await store.commit(evolve(record, reverted_at=store.clock.now()))
