"""Processes that are killed, and processes that write at once."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
from pathlib import Path

from myclaw_sqlite.event_store import SqliteEventStore

from myclaw_core.events.keys import load_or_create_key
from myclaw_core.events.log import EventLog
from myclaw_core.events.verify import VerifyReport
from myclaw_core.testing import FakeClock

KILLS = 15


def writer(folder: Path, count: int, name: str) -> subprocess.Popen[str]:
    script = Path(__file__).with_name("append.py")
    return subprocess.Popen([sys.executable, script, folder, str(count), name], stdout=subprocess.PIPE, text=True)


def killed(folder: Path, rng: random.Random, name: str) -> list[int]:
    """Kill a writer somewhere in its work; return what it acknowledged."""
    process = writer(folder, 1_000_000, name)
    assert process.stdout is not None
    acked = [int(process.stdout.readline()) for _ in range(rng.randrange(1, 12))]
    for _ in range(rng.randrange(100_000)):
        pass  # moves the kill to another point of the next commit
    process.kill()
    rest, _ = process.communicate()
    # The last line may be torn: the kill came while it was written.
    return acked + [int(line) for line in rest.split("\n")[:-1]]


async def inspected(folder: Path) -> tuple[VerifyReport, VerifyReport, list[str], int]:
    """Return both verifications, the writer of each event, and the record that was committed with the last one."""
    key = load_or_create_key(folder / "log.key")
    log = EventLog(SqliteEventStore(folder / "events.db"), key, FakeClock(), anchor=folder / "events.anchor")
    await log.open()
    tail, whole = await log.verify_tail(), await log.verify()
    plugins = [event.plugin for _, event in await log.since(0, 100_000)]  # type: ignore[union-attr]
    last = int(await log.get("test", "last") or b"0")
    await log.close()
    return tail, whole, plugins, last


def test_a_kill_at_any_point_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    rng = random.Random(2026)
    count = 0
    for kill in range(KILLS):
        acked = killed(tmp_path, rng, f"writer-{kill}")
        tail, whole, plugins, last = asyncio.run(inspected(tmp_path))
        assert tail.ok
        assert whole.ok, whole.problem
        assert whole.checked == len(plugins)
        assert acked == list(range(count + 1, acked[-1] + 1, 2))
        assert acked[-1] <= last
        assert len(plugins) == last + 1
        assert len(plugins) % 2 == 0
        count = len(plugins)


def test_two_processes_append_at_once_to_one_sound_chain(tmp_path: Path) -> None:
    writers = [writer(tmp_path, 100, name) for name in ("one", "two")]
    acked = [process.communicate()[0].split() for process in writers]
    assert [process.returncode for process in writers] == [0, 0]
    tail, whole, plugins, last = asyncio.run(inspected(tmp_path))
    assert (tail.ok, whole.ok, whole.checked) == (True, True, 400)
    assert (plugins.count("one"), plugins.count("two")) == (200, 200)
    assert sorted(int(seq) for seqs in acked for seq in seqs) == list(range(1, 401, 2))
    assert last == 399
