"""What the daemon writes of itself, and what others make of it."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from waiting_clock import WaitingClock

from myclaw_core.cli import main
from myclaw_core.clock import SystemClock
from myclaw_core.doctor.checks import serve as check_serve
from myclaw_core.doctor.diagnosis import Diagnosis
from myclaw_core.doctor.patient import admitted
from myclaw_core.messages import N_
from myclaw_core.paths import Home
from myclaw_core.runtime.messenger import Health
from myclaw_core.serve.health import Board, look
from myclaw_core.serve.lock import sole_instance
from myclaw_core.testing import FakeClock
from myclaw_core.types.text import Text

CONFLICT = Health(state="trouble", detail=N_("another program reads these messages; stop it"))
OK = Health(state="ok")


async def checked(home: Home, clock: FakeClock) -> list[Diagnosis]:
    async with admitted(home, clock) as patient:
        return list(check_serve.check(patient))


def test_a_messenger_that_is_deaf_for_long_is_red_and_one_that_comes_back_is_not(home: Home, clock: FakeClock) -> None:
    """A service that refuses for ever, as another program that reads the same messages makes it do."""
    with sole_instance(home, clock) as owner:
        board = Board(home, owner, clock)
        telegram, other = board.watch("telegram"), board.watch("other")
        other.told(OK)
        telegram.told(CONFLICT)
        assert look(home, clock.now()).troubles == ()
        for _ in range(10):
            clock.advance(minutes=1)
            board.write()
        (trouble,) = look(home, clock.now()).troubles
        assert str(trouble.what) == (
            "telegram reaches nobody since 2026-01-05 09:00 UTC: another program reads these messages; stop it"
        )

        telegram.told(OK)
        assert look(home, clock.now()).troubles == ()


def test_what_only_a_person_can_mend_is_red_at_once(home: Home, clock: FakeClock) -> None:
    with sole_instance(home, clock) as owner:
        Board(home, owner, clock).watch("telegram").told(Health(state="down", detail=N_("the token is not valid")))
        (trouble,) = look(home, clock.now()).troubles

    assert "the token is not valid" in str(trouble.what)


def test_one_that_never_begins_is_red_after_a_while(home: Home, clock: FakeClock) -> None:
    with sole_instance(home, clock) as owner:
        board = Board(home, owner, clock)
        board.watch("telegram")
        clock.advance(minutes=10)
        board.write()
        (trouble,) = look(home, clock.now()).troubles

    assert "it has not begun yet" in str(trouble.what)


def test_a_daemon_that_gives_no_sign_is_red(home: Home, clock: FakeClock) -> None:
    with sole_instance(home, clock) as owner:
        Board(home, owner, clock).write()
        clock.advance(minutes=6)
        (trouble,) = look(home, clock.now()).troubles

    assert str(trouble.what) == "it gave no sign since 2026-01-05 09:00 UTC"


async def test_it_gives_a_sign_every_minute(home: Home) -> None:
    clock = WaitingClock()
    with sole_instance(home, clock) as owner:
        board = Board(home, owner, clock)
        task = asyncio.create_task(board.beat())
        await clock.pass_time(hours=1)
        found = look(home, clock.now())
        task.cancel()

    assert found.state is not None
    assert found.state.beat_at == clock.now()


def test_a_night_that_failed_is_red_until_one_is_done(home: Home, clock: FakeClock) -> None:
    with sole_instance(home, clock) as owner:
        board = Board(home, owner, clock)
        board.night("2026-01-04")
        board.night("2026-01-05", N_("the log is full"))
        (trouble,) = look(home, clock.now()).troubles
        assert str(trouble.what) == "the work of the night is not done: the log is full"
        state = look(home, clock.now()).state
        assert state is not None
        assert state.last_night == "2026-01-04"

        board.night("2026-01-05")
        assert look(home, clock.now()).troubles == ()


@pytest.mark.parametrize("left", ["", "{", "[]", '{"schema_version": "1.0"}', '{"schema_version": "9.0"}'])
def test_a_file_that_cannot_be_read_is_a_trouble_only_while_one_runs(home: Home, clock: FakeClock, left: str) -> None:
    home.create()
    (home.state / "serve.json").write_text(left)
    assert look(home, clock.now()).troubles == ()

    with sole_instance(home, clock):
        (trouble,) = look(home, clock.now()).troubles
        assert "cannot be read" in str(trouble.what)


def test_what_an_earlier_one_left_says_nothing_of_this_one(home: Home, clock: FakeClock) -> None:
    with sole_instance(home, clock) as owner:
        Board(home, owner, clock).watch("telegram").told(Health(state="down"))
    clock.advance(hours=1)

    with sole_instance(home, clock) as owner:
        found = look(home, clock.now())
        assert (found.owner, found.state, found.troubles) == (owner, None, ())


def test_a_disk_that_is_full_stops_nothing(home: Home, clock: FakeClock, caplog: pytest.LogCaptureFixture) -> None:
    """It is told once, and again after it could be written in between."""
    with sole_instance(home, clock) as owner:
        board = Board(home, owner, clock)
        (home.state / "serve.json").mkdir()
        board.write()
        board.write()
        assert len(caplog.records) == 1


async def test_doctor_tells_each_trouble_with_what_to_do(home: Home, clock: FakeClock) -> None:
    (none,) = await checked(home, clock)
    assert (none.state, str(none.what)) == ("ok", "not running; 'myclaw serve' starts it")
    with sole_instance(home, clock) as owner:
        board = Board(home, owner, clock)
        board.watch("telegram").told(OK)
        (well,) = await checked(home, clock)
        assert (well.state, str(well.what)) == ("ok", f"process {owner.pid} runs with telegram")
        board.watch("other").told(Health(state="down"))
        (ill,) = await checked(home, clock)

    assert ill.state == "fail"
    assert "'myclaw serve --status'" in str(ill.todo)


def test_a_chat_and_ask_begin_with_what_is_wrong_with_the_daemon(
    home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever writes here may wait for a messenger that reaches nobody."""
    home.root.mkdir(parents=True)
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"text": "Hello."}]))
    home.config_file.write_text(f'[agent]\nprovider = "scripted"\n[scripted]\nfile = {json.dumps(str(script))}\n')
    monkeypatch.setenv("MYCLAW_HOME", str(home.root))
    real = SystemClock()
    with sole_instance(home, real) as owner:
        Board(home, owner, real).watch("telegram").told(Health(state="down", detail=N_("the token is not valid")))
        code = main(["ask", "Hi"])

    assert code == 0
    assert "myclaw serve: telegram reaches nobody since" in capsys.readouterr().err


@pytest.mark.parametrize("made", [os.mkfifo, os.mkdir])
def test_what_is_no_file_in_its_place_keeps_nobody_waiting(
    home: Home, clock: FakeClock, made: Callable[[Path], None]
) -> None:
    with sole_instance(home, clock):
        made(home.state / "serve.json")
        (trouble,) = look(home, clock.now()).troubles

    assert "serve.json cannot be read: " in str(trouble.what)


def test_what_stands_in_the_file_steers_no_screen(
    home: Home, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MYCLAW_HOME", str(home.root))
    real = SystemClock()
    with sole_instance(home, real) as owner:
        board = Board(home, owner, real)
        board.missing([Text("\x1b[2J")])
        board.night("\x1b[2J\u202e")
        main(["serve", "--status"])

    assert {"\x1b", "\u202e"}.isdisjoint(capsys.readouterr().out)
