"""`myclaw serve` as a service manager runs it: one a home, told to stop, killed, started again."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest

from .conftest import PROGRAM, Daemons, ended


def test_it_says_what_it_runs_and_ends_well_when_told_to(daemons: Daemons) -> None:
    """Without a messenger it still does what is due by itself."""
    process, lines = daemons.ready()
    assert "no messenger runs, only what is due by itself; 'myclaw setup' sets one up" in lines
    assert any(line.startswith("nightly: next at ") for line in lines)
    assert lines[-1] == f"ready: process {process.pid} serves {daemons.home.root}"

    end = ended(process, signal.SIGTERM)

    assert end.code == 0
    assert end.err.splitlines()[-1] == "myclaw: stopped"
    assert not (daemons.home.state / "serve.json").exists()
    assert daemons.run("audit", "verify").returncode == 0


def test_control_c_ends_it_as_well_and_a_closed_terminal_does_not(daemons: Daemons) -> None:
    process, _ = daemons.ready()
    process.send_signal(signal.SIGHUP)
    assert process.stderr is not None
    assert "SIGHUP does nothing" in process.stderr.readline()

    assert ended(process, signal.SIGINT).code == 0


def test_a_second_one_ends_with_the_process_of_the_first(daemons: Daemons) -> None:
    process, _ = daemons.ready()

    second = daemons.run("serve")

    assert (second.returncode, second.stdout) == (3, "")
    assert second.stderr == (
        f"myclaw: process {process.pid} serves this home already; stop it first ('kill {process.pid}'), "
        "or set MYCLAW_HOME to another folder\n"
    )
    assert process.poll() is None


def test_after_a_kill_the_next_one_starts_and_doctor_tells_of_it(daemons: Daemons) -> None:
    process, _ = daemons.ready()
    assert ended(process, signal.SIGKILL).code == -signal.SIGKILL
    assert "not running; it ended without being stopped after" in daemons.run("serve", "--status").stdout

    again, _ = daemons.ready()

    assert ended(again, signal.SIGTERM).code == 0
    assert "not running; 'myclaw serve' starts it" in daemons.run("serve", "--status").stdout


def test_status_and_doctor_see_the_one_that_runs(daemons: Daemons) -> None:
    process, _ = daemons.ready()

    shown, found = daemons.run("serve", "--status"), daemons.json("serve", "--status", "--json")
    (check,) = [each for each in daemons.json("doctor", "--json") if each["check"] == "serve"]

    assert shown.returncode == 0
    assert shown.stdout.startswith(f"process {process.pid} runs since ")
    assert (found["running"], found["pid"], found["messengers"], found["troubles"]) == (True, process.pid, [], [])
    assert (check["state"], check["what"]) == ("ok", f"process {process.pid} runs")


def test_where_none_runs_status_says_so(daemons: Daemons) -> None:
    shown = daemons.run("serve", "--status")
    assert (shown.returncode, shown.stdout) == (3, "not running; 'myclaw serve' starts it\n")
    assert daemons.json("serve", "--status", "--json")["running"] is False
    assert daemons.run("serve", "--json").returncode == 2


def test_without_a_model_it_ends_with_the_usual_line(daemons: Daemons) -> None:
    daemons.home.config_file.write_text("")
    done = daemons.run("serve")

    assert (done.returncode, done.stdout) == (3, "")
    (line,) = done.stderr.splitlines()
    assert "ANTHROPIC_API_KEY" in line
    assert daemons.run("serve", "--status").returncode == 3


def test_the_night_that_was_missed_is_done_at_the_start(daemons: Daemons) -> None:
    """And recorded as a slot that ended."""
    process, _ = daemons.ready()
    try:
        for _ in range(200):
            found = daemons.json("serve", "--status", "--json")
            if found["last_night"]:
                break
        assert found["last_night"]
    finally:
        ended(process, signal.SIGTERM)

    events = [json.loads(line) for line in daemons.run("audit", "tail", "-n", "50", "--json").stdout.splitlines()]
    (slot,) = [each["event"] for each in events if each["type"] == "slot_ended"]
    assert (slot["job"], slot["outcome"]) == ("nightly", "done")
    assert "was done already" in daemons.run("nightly").stdout


def test_in_a_journal_each_line_has_its_priority(daemons: Daemons) -> None:
    process, _ = daemons.ready(JOURNAL_STREAM="8:1")

    assert "<6>myclaw: stopped" in ended(process, signal.SIGTERM).err.splitlines()


@pytest.mark.parametrize("args", [["serve", "--help"], ["setup", "--help"]])
def test_help_loads_neither_asyncio_nor_a_plugin(args: list[str]) -> None:
    program = "import sys\nfrom myclaw_core.cli import main\ntry:\n main(sys.argv[1:])\nfinally:\n"
    program += ' sys.stderr.write("\\n".join(sys.modules))'
    done = subprocess.run([sys.executable, "-c", program, *args], capture_output=True, text=True, check=False)
    loaded = {name.partition(".")[0] for name in done.stderr.split()}

    assert done.stdout
    assert not loaded & {"asyncio", "pluggy", "attrs", "cattrs"}
    assert PROGRAM.exists()
