"""One daemon a home, whoever was killed before."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from myclaw_core.clock import SystemClock
from myclaw_core.errors import UnavailableError
from myclaw_core.paths import Home
from myclaw_core.serve.lock import running, sole_instance

HOLD = """
import sys
from pathlib import Path
from myclaw_core.clock import SystemClock
from myclaw_core.paths import Home
from myclaw_core.serve.lock import sole_instance
with sole_instance(Home.at(Path(sys.argv[1])), SystemClock()):
    print("held", flush=True)
    sys.stdin.read()
"""


def holder(home: Home) -> subprocess.Popen[str]:
    """Start a process that holds the lock until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(home.root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def take(home: Home) -> int:
    with sole_instance(home, SystemClock()) as owner:
        assert running(home) == owner
        return owner.pid


def test_a_second_one_is_told_the_process_of_the_first(home: Home) -> None:
    with holder(home) as first:
        with pytest.raises(UnavailableError, match=rf"process {first.pid} serves this home already") as caught:
            take(home)
        found = running(home)
        first.communicate("")

    assert caught.value.exit_code == 3
    assert found is not None
    assert found.pid == first.pid
    assert running(home) is None
    assert take(home) == os.getpid()


def test_what_a_killed_one_left_is_no_obstacle_and_no_sign_of_life(home: Home) -> None:
    with holder(home) as first:
        first.send_signal(signal.SIGKILL)
        first.wait()

    assert json.loads((home.state / "serve.lock").read_text())["pid"] == first.pid
    assert running(home) is None
    assert take(home) == os.getpid()


@pytest.mark.parametrize("left", ["", "{", "null", '{"schema_version": "1.0", "pid": "x"}', "\0" * 5000])
def test_whatever_stands_in_the_file_it_is_the_lock_that_counts(home: Home, left: str) -> None:
    home.create()
    (home.state / "serve.lock").write_text(left)

    assert running(home) is None
    assert take(home) == os.getpid()


def test_a_file_that_names_nobody_yet_still_keeps_a_second_one_out(home: Home) -> None:
    with holder(home) as first:
        (home.state / "serve.lock").write_text("")
        with pytest.raises(UnavailableError, match="another process serves this home already"):
            take(home)
        first.communicate("")


def test_a_link_in_its_place_is_not_followed(home: Home, tmp_path: Path) -> None:
    home.create()
    other = tmp_path / "mine"
    other.write_text("mine")
    (home.state / "serve.lock").symlink_to(other)

    with pytest.raises(UnavailableError, match="make it a file of yours"):
        take(home)
    assert other.read_text() == "mine"


def test_the_lock_is_free_after_a_failure(home: Home) -> None:
    with pytest.raises(ZeroDivisionError), sole_instance(home, SystemClock()):
        raise ZeroDivisionError

    assert running(home) is None
    assert take(home) == os.getpid()


def test_a_lock_file_that_is_taken_away_lets_no_second_one_in(home: Home) -> None:
    """Whoever finds it may think that a dead process left it."""
    with holder(home) as first:
        (home.state / "serve.lock").unlink()
        with pytest.raises(UnavailableError, match="another process serves this home already"):
            take(home)
        (home.state / "serve.lock").write_text("{}")
        with pytest.raises(UnavailableError, match="another process serves this home already"):
            take(home)
        first.communicate("")

    assert take(home) == os.getpid()


@pytest.mark.parametrize("made", [os.mkfifo, os.mkdir])
def test_what_is_no_file_in_its_place_is_told_and_waited_for_by_nobody(
    home: Home, made: Callable[[Path], None]
) -> None:
    home.create()
    made(home.state / "serve.lock")

    assert running(home) is None
    with pytest.raises(UnavailableError, match="make it a file of yours"):
        take(home)
