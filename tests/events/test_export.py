"""The audit files: whole after any crash, true to the log, and what was changed in them is told and not mended."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from myclaw_sqlite.event_store import SqliteEventStore

from myclaw_core.events import export as export_module
from myclaw_core.events.audit_files import AuditFolder
from myclaw_core.events.export import AuditExport
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import PluginFault
from myclaw_core.testing import FakeClock

KEY = bytes(range(32))
Write = Callable[..., Awaitable[None]]


@pytest.fixture
def clock() -> FakeClock:
    """The clock of the log and of the export."""
    return FakeClock()


@pytest.fixture
async def log(db: Path, anchor: Path, clock: FakeClock):
    """Return an open, empty log whose time the test moves."""
    log = EventLog(SqliteEventStore(db), KEY, clock, anchor=anchor)
    await log.open()
    yield log
    await log.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return where the audit files lie."""
    return tmp_path / ".audit"


@pytest.fixture
def new_export(log: EventLog, folder: Path, clock: FakeClock) -> Callable[..., AuditExport]:
    """Return a maker of exports, as a restart or another process would have one."""
    return lambda key=KEY: AuditExport(log, folder, key, clock)


@pytest.fixture
def write(log: EventLog) -> Write:
    """Append events of their own."""

    async def write(count: int = 1, detail: str = "it happened") -> None:
        async with log.transaction() as tx:
            for number in range(count):
                await tx.append(PluginFault(plugin="demo", hook="load", detail=f"{detail} {number}"))

    return write


def lines_of(folder: Path) -> list[dict[str, Any]]:
    """Return every line of every file, in the order of the days."""
    return [json.loads(line) for file in sorted(folder.glob("*.jsonl")) for line in file.read_bytes().splitlines()]


def seqs_of(folder: Path) -> list[int]:
    return [line["seq"] for line in lines_of(folder) if "seq" in line]


def block(folder: Path) -> None:
    folder.write_text("a file in the way")


def unblock(folder: Path) -> None:
    folder.unlink()


async def test_a_line_is_the_head_in_hex_and_the_body(log, folder: Path, new_export, write: Write) -> None:
    await write(2, "the password is hunter2hunter2")
    assert await new_export().start() == []
    ((head, body), _) = await log.stored(0)
    first, _ = lines_of(folder)
    assert first == {
        "schema_version": "1.0",
        "seq": 1,
        "at": head.at,
        "type": "plugin_fault",
        "trace_id": "",
        "body_sha256": head.body_sha256.hex(),
        "mac": head.mac.hex(),
        "body": json.loads(body),
    }
    assert "hunter2" not in (folder / "2026-01-05.jsonl").read_text()
    assert (folder / "2026-01-05.jsonl").stat().st_mode & 0o777 == 0o600


async def test_each_utc_day_has_its_file_also_where_the_clock_goes_back(folder, new_export, write, clock) -> None:
    await write()
    clock.advance(days=1)
    await write(2)
    clock.advance(days=-1)
    await write()
    await new_export().start()
    clock.advance(days=1)
    await write()
    assert await new_export().start() == []
    by_day = {file.stem: len(file.read_bytes().splitlines()) for file in folder.iterdir()}
    assert by_day == {"2026-01-05": 2, "2026-01-06": 3}
    assert sorted(seqs_of(folder)) == [1, 2, 3, 4, 5]
    assert (await new_export().compare()).ok


async def test_a_second_start_writes_nothing(folder: Path, new_export, write: Write) -> None:
    await write(3)
    await new_export().start()
    before = (folder / "2026-01-05.jsonl").read_bytes()
    assert await new_export().start() == []
    assert (folder / "2026-01-05.jsonl").read_bytes() == before


async def test_what_is_not_exported_yet_is_pending_and_no_fault(new_export, write: Write) -> None:
    await write(2)
    await new_export().start()
    await write(3)
    report = await new_export().compare()
    assert (report.ok, report.checked, report.pending) == (True, 2, 3)


async def test_a_torn_last_line_is_told_and_written_again_wherever_it_was_cut(folder, new_export, write) -> None:
    await write(3)
    await new_export().start()
    file = folder / "2026-01-05.jsonl"
    whole = file.read_bytes()
    second_ends = whole.index(b"\n", whole.index(b"\n") + 1) + 1
    for cut in [second_ends + 1, second_ends + 10, second_ends + 60, len(whole) - 2, len(whole) - 1]:
        file.write_bytes(whole[:cut])
        assert (await new_export().compare()).ok
        told = await new_export().start()
        assert list(map(str, told)) == ["the last line of 2026-01-05.jsonl was torn and is written again"]
        assert file.read_bytes() == whole


async def test_an_end_that_is_no_line_of_ours_stays_and_is_told(folder: Path, new_export, write: Write) -> None:
    await write(2)
    await new_export().start()
    with (folder / "2026-01-05.jsonl").open("ab") as file:
        file.write(b"a remark")
    await write()
    told = list(map(str, await new_export().start()))
    assert "2026-01-05.jsonl ends with something that is no line of the record; it was left there" in told
    assert "the audit files differ from the log: 2026-01-05.jsonl:3 is no line of the record" in told
    kept = (folder / "2026-01-05.jsonl").read_bytes().splitlines()
    assert kept[2] == b"a remark"
    assert json.loads(kept[3])["seq"] == 3


@pytest.mark.parametrize(
    "change",
    [
        lambda line: line.replace(b"it happened", b"it happenes"),
        lambda line: line.replace(b'"trace_id":""', b'"trace_id":"x"'),
        lambda line: line.replace(b"2026-01-05T", b"2026-01-05t"),
        lambda line: line.replace(b'"body":{', b'"body":{"more":1,'),
        lambda line: line.replace(b'"mac":"', b'"mac":"0'),
    ],
)
async def test_a_changed_line_is_told_and_left_as_it_is(change, folder: Path, new_export, write: Write) -> None:
    await write(3)
    await new_export().start()
    file = folder / "2026-01-05.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    lines[1] = change(lines[1])
    file.write_bytes(b"".join(lines))
    for _ in range(2):
        told = "the audit files differ from the log: 2026-01-05.jsonl:2 is not what the log holds as event 2"
        assert list(map(str, await new_export().start())) == [told]
    assert file.read_bytes() == b"".join(lines)
    report = await new_export().compare()
    assert (report.ok, report.checked, report.first_bad_seq) == (False, 2, 2)


async def test_missing_lines_are_written_again_with_a_signed_note(folder, new_export, write, clock) -> None:
    await write(5)
    clock.advance(days=1)
    await write(2)
    await new_export().start()
    file = folder / "2026-01-05.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join((lines[0], lines[3], lines[4])))
    (folder / "2026-01-06.jsonl").rename(folder / "2026-01-07.jsonl")
    assert not (await new_export().compare()).ok
    (folder / "2026-01-07.jsonl").unlink()
    (told,) = map(str, await new_export().start())
    assert told == (
        "the audit files differ from the log: 2 lines were missing in the audit files and were written again: 2, 3"
    )
    assert sorted(seqs_of(folder)) == [1, 2, 3, 4, 5, 6, 7]
    (note,) = [line for line in lines_of(folder) if "note" in line]
    assert (note["note"], note["seqs"], note["through"]) == ("restored", [2, 3], 5)
    await write()
    assert await new_export().start() == []
    assert sorted(seqs_of(folder)) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert (await new_export().compare()).ok


async def test_a_folder_that_was_emptied_is_filled_again(folder: Path, new_export, write: Write) -> None:
    await write(4)
    await new_export().start()
    (folder / "2026-01-05.jsonl").unlink()
    await new_export().start()
    assert seqs_of(folder) == [1, 2, 3, 4]


async def test_a_line_twice_and_a_line_of_another_day_are_told(folder: Path, new_export, write: Write) -> None:
    await write(2)
    await new_export().start()
    file = folder / "2026-01-05.jsonl"
    first = file.read_bytes().splitlines(keepends=True)[0]
    file.write_bytes(first + file.read_bytes())
    (folder / "2026-01-04.jsonl").write_bytes(first)
    report = await new_export().compare()
    assert set(map(str, report.problems)) == {
        "2026-01-05.jsonl:2 holds an event a second time",
        "2026-01-04.jsonl:1 holds an event that the log does not have there",
    }


async def test_files_of_another_log_are_kept_aside(folder: Path, new_export, write: Write, log, clock) -> None:
    """The log was lost; the files still tell of it."""
    await write(3)
    await new_export().start()
    old = (folder / "2026-01-05.jsonl").read_bytes()
    fresh = EventLog(SqliteEventStore(folder.parent / "fresh.db"), KEY, clock)
    await fresh.open()
    async with fresh.transaction() as tx:
        await tx.append(PluginFault(plugin="new", hook="load", detail="a new log"))
    (told,) = map(str, await AuditExport(fresh, folder, KEY, clock).start())
    assert told.startswith("the audit files go to event 3 and the log to 1; they were kept as ")
    assert (folder / "kept-1" / "2026-01-05.jsonl").read_bytes() == old
    assert [line["body"]["plugin"] for line in lines_of(folder)] == ["new"]
    await fresh.close()


async def test_erasing_rewrites_the_day_with_a_signed_note(folder, new_export, write, log, clock) -> None:
    await write(2, "remember the oranges")
    clock.advance(days=1)
    await write(1, "remember the lemons")
    export = new_export()
    await export.start()
    await export.erase([2, 3])
    assert not any(b"oranges 1" in file.read_bytes() or b"lemons" in file.read_bytes() for file in folder.iterdir())
    first, second, note, third, other_note = lines_of(folder)
    assert (first["body"]["detail"], second["body"], third["body"]) == ("remember the oranges 0", None, None)
    assert (note["note"], note["seqs"], note["through"]) == ("erased", [2], 2)
    assert (other_note["seqs"], other_note["through"]) == ([3], 3)
    assert (await log.verify()).ok
    assert [body is None for _, body in await log.stored(0)] == [False, True, True]
    assert await new_export().start() == []
    assert (await new_export().compare()).ok


async def test_a_note_that_somebody_else_wrote_proves_nothing(folder: Path, new_export, write: Write, log) -> None:
    await write(2)
    await new_export().start()
    await new_export().erase([2])
    file = folder / "2026-01-05.jsonl"
    file.write_bytes(file.read_bytes().replace(b'"seqs":[2]', b'"seqs":[1]'))
    assert any("a note that was not signed" in str(text) for text in await new_export().start())
    await write()
    await new_export().start()
    assert seqs_of(folder) == [1, 2, 3]


async def test_a_body_that_is_gone_from_a_file_and_not_from_the_log_is_told(folder, new_export, write, log) -> None:
    await write(2)
    await new_export().start()
    file = folder / "2026-01-05.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    lines[0] = lines[0].partition(b'"body":')[0] + b'"body":null}\n'
    file.write_bytes(b"".join(lines))
    (told,) = map(str, await new_export().start())
    assert told.endswith("a line says that event 1 was erased, and it was not")
    assert (await log.stored(0))[0][1] is not None


async def test_an_erasing_that_was_interrupted_is_ended_by_the_next_start(
    folder: Path, new_export, write: Write, log, monkeypatch
) -> None:
    """The signed note says that it was asked for."""
    await write(2)
    export = new_export()
    await export.start()
    with monkeypatch.context() as patch:
        patch.setattr(log, "erase", lambda seq: (_ for _ in ()).throw(RuntimeError("killed here")))
        with pytest.raises(RuntimeError):
            await export.erase([1])
    assert str((await new_export().compare()).problems[0]) == "erasing event 1 was interrupted; the next start ends it"
    assert await new_export().start() == []
    assert (await log.stored(0))[0][1] is None
    assert (await new_export().compare()).ok


async def test_a_body_that_was_erased_in_the_log_alone_is_found_by_verify(new_export, write: Write, log) -> None:
    await write(2)
    await new_export().start()
    await log.erase(1)
    (problem,) = (await new_export().compare()).problems
    assert str(problem) == "event 1 was erased and its text still stands in a file"


async def test_a_body_that_was_erased_before_it_was_exported_has_no_text(folder, new_export, write, log) -> None:
    await write(2)
    await log.erase(1)
    await new_export().start()
    assert [line["body"] is None for line in lines_of(folder)] == [True, False]
    assert (await new_export().compare()).ok


async def test_a_full_disk_is_told_once_and_tried_again(folder, new_export, write, monkeypatch, caplog) -> None:
    await write()
    export = new_export()
    await export.start()
    real, room = os.write, [40]

    def limited(handle: int, data: Any) -> int:
        if room[0] <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = real(handle, bytes(data)[: room[0]])
        room[0] -= written
        return written

    with monkeypatch.context() as patch:
        patch.setattr("myclaw_core.events.audit_files.os.write", limited)
        for _ in range(3):
            await write()
            await export.catch_up()
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 1
    assert "No space left on device; free some space; this is tried again" in told[0]
    assert seqs_of(folder) == [1]
    await export.catch_up()
    assert export.problem is None
    assert seqs_of(folder) == [1, 2, 3, 4]


async def test_a_folder_that_cannot_be_used_stops_nothing(folder: Path, new_export, write: Write, caplog) -> None:
    await write()
    block(folder)
    export = new_export()
    assert await export.start() == []
    await export.stop()
    assert len(caplog.records) == 1
    unblock(folder)
    await export.catch_up()
    assert seqs_of(folder) == [1]


async def test_another_process_that_keeps_the_folder_is_waited_for_and_given_up(folder, new_export, write) -> None:
    await write()
    handle = AuditFolder(folder, KEY).lock()
    assert handle is not None
    export = new_export()
    await export.catch_up()
    assert "another process is writing there" in str(export.problem)
    os.close(handle)
    await export.catch_up()
    assert (export.problem, seqs_of(folder)) == (None, [1])


async def test_two_processes_write_each_line_once(folder: Path, new_export, write: Write) -> None:
    one, two = new_export(), new_export()
    for export in (one, two, two, one, two):
        await write()
        await export.catch_up()
    assert seqs_of(folder) == [1, 2, 3, 4, 5]


async def test_a_long_log_is_compared_in_the_background(folder, new_export, write, monkeypatch, caplog) -> None:
    monkeypatch.setattr(export_module, "SMALL_LOG_EVENTS", 2)
    await write(3)
    await new_export().start()
    file = folder / "2026-01-05.jsonl"
    file.write_bytes(file.read_bytes().replace(b"it happened 1", b"it happened 7"))
    export = new_export()
    assert await export.start() == []
    assert export._task is not None
    await export._task
    await export.stop()
    assert "2026-01-05.jsonl:2 is not what the log holds" in caplog.text


async def test_an_event_whose_head_names_no_day_stays_inside_the_folder(folder, new_export, write, tamper) -> None:
    await write()
    tamper("UPDATE heads SET at = '../../../etc'")
    await new_export().start()
    assert [file.name for file in folder.iterdir()] == ["0000-00-00.jsonl"]


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
async def test_whatever_becomes_of_a_file_a_start_never_fails_and_never_hides_it(data, tmp_path_factory) -> None:
    """Any byte of a file is changed, or its end is cut: afterwards every event stands there once, or it was told."""
    root = tmp_path_factory.mktemp("any")
    clock = FakeClock()
    log = EventLog(SqliteEventStore(root / "events.db"), KEY, clock)
    await log.open()
    async with log.transaction() as tx:
        for number in range(4):
            await tx.append(PluginFault(plugin="demo", hook="load", detail=f"n {number}", trace_id=UUID(int=number)))
    await AuditExport(log, root / "a", KEY, clock).start()
    file = root / "a" / "2026-01-05.jsonl"
    whole = file.read_bytes()
    at = data.draw(st.integers(0, len(whole) - 1))
    if data.draw(st.booleans()):
        byte = data.draw(st.integers(0, 255).filter(lambda byte: byte != whole[at]))
        file.write_bytes(whole[:at] + bytes([byte]) + whole[at + 1 :])
    else:
        file.write_bytes(whole[:at])
    told = await AuditExport(log, root / "a", KEY, clock).start()
    assert told or file.read_bytes() == whole
    if file.exists() and not any("differ" in str(text) for text in told):
        assert file.read_bytes() == whole
    await log.close()


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from myclaw_sqlite.event_store import SqliteEventStore
from myclaw_core.events import audit_files
from myclaw_core.events.export import AuditExport
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import PluginFault
from myclaw_core.testing import FakeClock

root, left = Path(sys.argv[1]), int(sys.argv[2])
real = os.write

def write(handle, data):
    global left
    data = bytes(data)
    if left < len(data):
        real(handle, data[:left])
        os.kill(os.getpid(), signal.SIGKILL)
    left -= len(data)
    return real(handle, data)

async def main():
    clock = FakeClock()
    log = EventLog(SqliteEventStore(root / "events.db"), bytes(range(32)), clock)
    await log.open()
    export = AuditExport(log, root / ".audit", bytes(range(32)), clock)
    await export.start()
    audit_files.os = type("os", (), {**vars(os), "write": staticmethod(write)})
    for number in range(4):
        async with log.transaction() as tx:
            await tx.append(PluginFault(plugin="demo", hook="load", detail=f"number {number}"))
            await tx.append(PluginFault(plugin="demo", hook="load", detail="second"))
        clock.advance(hours=10)
        await export.catch_up()

asyncio.run(main())
"""


@pytest.mark.parametrize("after_bytes", [0, 1, 200, 700, 1100, 1900])
def test_a_kill_between_or_within_the_writes_loses_no_line(tmp_path: Path, after_bytes: int) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, tmp_path, str(after_bytes)], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr

    async def restart() -> tuple[int, bool]:
        clock = FakeClock()
        log = EventLog(SqliteEventStore(tmp_path / "events.db"), KEY, clock)
        await log.open()
        await AuditExport(log, tmp_path / ".audit", KEY, clock).start()
        report = await AuditExport(log, tmp_path / ".audit", KEY, clock).compare()
        newest = await log.last()
        await log.close()
        assert newest is not None
        return newest.seq, report.ok

    newest, sound = asyncio.run(restart())
    assert sound
    assert seqs_of(tmp_path / ".audit") == list(range(1, newest + 1))
