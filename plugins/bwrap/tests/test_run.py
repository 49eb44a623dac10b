"""How runs end: by themselves, by a limit, by being cancelled, with the agent; nothing of them is left."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from myclaw_bwrap.descriptors import launch_of
from myclaw_bwrap.limits import MAX_PROCESSES
from myclaw_bwrap.sandbox import Bubblewrap

from myclaw_core.clock import SystemClock
from myclaw_core.errors import UnavailableError
from myclaw_core.testing import FakeClock

AGENT = Path(__file__).with_name("agent_to_kill.py")
PATIENCE_S = 20


def living(marker: str) -> list[int]:
    """Return the processes on this machine whose command line holds `marker`; the dead that nobody fetched are none."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes()
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if marker.encode() in words and state not in "ZX" and int(entry.name) != os.getpid():
            found.append(int(entry.name))
    return found


@pytest.fixture
def marker(tmp_path: Path) -> str:
    """A number of seconds to sleep that no other process sleeps."""
    return f"{4000 + os.getpid()}.{abs(hash(tmp_path)) % 10**6:06d}"


@pytest.fixture
def started(root: Path) -> Iterator[int]:
    """A pipe in the folder into which a command writes once it runs."""
    os.mkfifo(root / "started")
    descriptor = os.open(root / "started", os.O_RDWR | os.O_NONBLOCK)
    yield descriptor
    os.close(descriptor)


async def readable(descriptor: int) -> None:
    await asyncio.to_thread(select.select, [descriptor], [], [], PATIENCE_S)
    assert os.read(descriptor, 10)


async def test_outputs_and_exit_code_come_back(run) -> None:
    ran = await run("echo out; echo err >&2; exit 7")

    assert (ran.outcome, ran.exit_code, ran.stdout, ran.stderr) == ("ok", 7, "out\n", "err\n")


async def test_ctrl_c_at_a_terminal_reaches_the_agent_alone(run, marker: str, started: int) -> None:
    """It is sent to a whole group of processes; the agent says how a run ends."""
    running = asyncio.ensure_future(run(f"echo > started; sleep {marker}"))
    await readable(started)
    groups = {os.getpgid(pid) for pid in living(marker)}
    running.cancel()
    await asyncio.wait({running})

    assert groups
    assert os.getpgid(0) not in groups


async def test_bytes_that_are_no_text_do_no_harm(run) -> None:
    ran = await run(r"printf '\xff\xfe\0x'")

    assert ran.stdout == "��\0x"


async def test_a_program_that_dies_of_a_signal_has_ended_by_itself(run) -> None:
    ran = await run("kill -SEGV $$")

    assert (ran.outcome, ran.exit_code) == ("ok", 128 + signal.SIGSEGV)


async def test_a_command_inherits_no_descriptor_but_its_own_three(run) -> None:
    """Those of bubblewrap stay with bubblewrap; 3 is the folder that is being listed."""
    assert (await run("ls /proc/self/fd")).stdout.split() == ["0", "1", "2", "3"]


async def test_there_is_nothing_to_read_from_the_terminal(run) -> None:
    ran = await run("cat; tty; (: </dev/tty) 2>&1")

    assert "not a tty" in ran.stdout
    assert "No such device" in ran.stdout


async def test_a_run_that_takes_too_long_is_killed_with_everything_it_started(run, marker) -> None:
    ran = await run(f"setsid sleep {marker} & sleep {marker} & echo first; sleep {marker}", timeout_s=0.3)

    assert (ran.outcome, ran.exit_code, ran.stdout) == ("timeout", None, "first\n")
    assert living(marker) == []


async def test_what_a_run_leaves_behind_ends_with_it(run, marker) -> None:
    """Detached twice, in a session of its own: it dies with the namespace, and the run does not wait for it."""
    ran = await run(f"(setsid sh -c 'sleep {marker} & sleep {marker}' &) ; echo done")

    assert (ran.outcome, ran.exit_code, ran.stdout) == ("ok", 0, "done\n")
    assert living(marker) == []


async def test_a_flood_of_output_is_cut_while_it_comes(run, marker) -> None:
    ran = await run(f"sleep {marker} & yes; echo never", output_limit_bytes=50_000)

    assert (ran.outcome, ran.exit_code, len(ran.stdout)) == ("output", None, 50_000)
    assert living(marker) == []


async def test_both_outputs_count_together(run) -> None:
    ran = await run("yes >&2 & yes", output_limit_bytes=50_000)

    assert ran.outcome == "output"
    assert len(ran.stdout) + len(ran.stderr) == 50_000


async def test_too_many_processes_end_the_run(run, marker) -> None:
    """By the kernel for an ordinary user; for root, whom the kernel does not bound, by counting now and then."""
    ran = await run(f"for number in $(seq {MAX_PROCESSES + 100}); do sleep {marker} & done; wait", timeout_s=20)

    assert ran.outcome == "killed" or "fork" in ran.stderr.lower()
    assert living(marker) == []


async def test_limits_hold_for_the_command_and_cannot_be_raised(run) -> None:
    ran = await run("ulimit -c; ulimit -n; ulimit -u; ulimit -v; ulimit -f; ulimit -n 4096 || echo kept", timeout_s=5)

    core, files, processes, memory, size, kept = ran.stdout.split()
    assert (core, int(files), int(processes), kept) == ("0", 1024, MAX_PROCESSES, "kept")
    assert int(memory) == 4 << 20
    assert int(size) <= 1 << 20


async def test_processor_time_is_bounded(run) -> None:
    ran = await run("ulimit -t 1; while :; do :; done", timeout_s=20)

    assert ran.outcome in {"cpu", "ok"}
    assert ran.exit_code in {128 + signal.SIGXCPU, 128 + signal.SIGKILL}


async def test_cancelling_kills_the_whole_tree_before_it_is_over(run, started, marker) -> None:
    command = f"setsid sleep {marker} & echo up >started; sleep {marker}"
    task = asyncio.ensure_future(run(command, "write"))
    await readable(started)
    assert living(marker) != []

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert living(marker) == []


async def test_cancelling_at_once_leaves_nothing(run, marker) -> None:
    """Whatever stage of the start it meets."""
    for turns in range(0, 60, 3):
        task = asyncio.ensure_future(run(f"sleep {marker}"))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert living(marker) == []


def test_a_killed_agent_takes_its_sandbox_along(root: Path, started, marker) -> None:
    agent = subprocess.Popen([sys.executable, AGENT, root, f"echo up >started; sleep {marker}; sleep {marker}"])
    select.select([started], [], [], PATIENCE_S)
    inside = next(pid for pid in living(marker) if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"/bin/bash"))
    handle = os.pidfd_open(inside)

    agent.kill()
    agent.wait()
    gone, _, _ = select.select([handle], [], [], PATIENCE_S)
    os.close(handle)

    assert gone == [handle]


def test_a_command_whose_agent_died_before_it_was_let_go_never_runs(root: Path, job, started) -> None:
    """That nobody holds the gate any more opens it as little as that nobody has opened it yet."""
    with launch_of(job("echo up >started", "write"), "/usr/bin/bwrap", waits=True) as launch:
        sandbox = subprocess.Popen(launch.command, env={}, cwd="/", pass_fds=launch.inherited)
        launch.theirs.close()
        with os.fdopen(os.dup(launch.status), "rb") as report:
            at_gate = b"child-pid" in report.readline()
    sandbox.wait(timeout=PATIENCE_S)

    assert at_gate
    assert select.select([started], [], [], 0)[0] == []


def traces_of(root: Path) -> list[object]:
    """What a run could leave: mounts, descriptors, files in the folder and beside it."""
    mounts = Path("/proc/self/mountinfo").read_text()
    descriptors = sorted(path.name for path in Path("/proc/self/fd").iterdir())
    return [mounts, descriptors, sorted(root.rglob("*")), sorted(root.parent.iterdir())]


async def test_nothing_of_a_run_remains(run, root: Path) -> None:
    """No mount, no descriptor, no file."""
    (root / "hidden").mkdir()
    await run("true")
    before = traces_of(root)
    await run("true", "write", hidden=(str(root / "hidden"),))
    await run("exit 1")
    await run("yes", output_limit_bytes=10)

    assert traces_of(root) == before


async def test_a_failure_of_the_sandbox_is_not_one_of_the_command(run) -> None:
    """Its exit code is 1 as well; only its own report tells them apart."""
    ran = await run("exit 1", cwd="/nowhere")

    assert (ran.outcome, ran.exit_code) == ("unavailable", None)
    assert "/nowhere" in ran.stderr


async def test_another_bwrap_on_the_path_is_not_used(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "bin" / "bwrap"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\n: >{tmp_path}/used\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    ran = await run("echo real")

    assert ran.stdout == "real\n"
    assert not (tmp_path / "used").exists()


async def test_without_bubblewrap_nothing_runs_and_one_line_says_what_to_install(tmp_path: Path, job) -> None:
    sandbox = Bubblewrap(SystemClock(), program=str(tmp_path / "bwrap"))

    problem = sandbox.missing()
    assert problem is not None
    assert f"bubblewrap was not found at {tmp_path}/bwrap" in str(problem)
    assert "sudo apt install bubblewrap" in str(problem)
    assert "\n" not in str(problem)
    with pytest.raises(UnavailableError, match="not found"):
        await sandbox.run(job("touch ran", "write"))
    assert not (tmp_path / "root" / "ran").exists()


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("bwrap: setting up uid map: Permission denied", "AppArmor"),
        ("bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded", "max_user"),
        ("bwrap: No permissions to create new namespace", "namespaces are not permitted here"),
        ("bwrap: Unknown option --disable-userns", "0.8 or newer"),
        ("", "without a word"),
    ],
)
def test_what_keeps_bubblewrap_from_working_is_named(tmp_path: Path, said, told) -> None:
    """A program in its place that fails as bubblewrap does."""
    fake = tmp_path / "bwrap"
    fake.write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 1\n")
    fake.chmod(0o755)
    if os.geteuid() != 0:
        pytest.fail("the tests of the sandbox's own checks run as root")
    problem = Bubblewrap(SystemClock(), program=str(fake)).missing()

    assert problem is not None
    assert told in str(problem)
    assert said in str(problem)


def test_a_program_that_others_can_change_is_not_started(tmp_path: Path) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text(f"#!/bin/sh\n: >{tmp_path}/used\n")
    fake.chmod(0o777)

    assert "only root can change" in str(Bubblewrap(SystemClock(), program=str(fake)).missing())
    assert not (tmp_path / "used").exists()


def test_a_program_that_only_claims_to_isolate_is_found_out(tmp_path: Path) -> None:
    """It runs the command plainly and reports as bubblewrap does."""
    fake = tmp_path / "bwrap"
    fake.write_text(
        '#!/bin/bash\nfor fd in /proc/self/fd/*; do echo \'{"exit-code": 0}\' >$fd; done\nshift 3\nexec "$@"\n'
    )
    fake.chmod(0o755)

    assert Bubblewrap(SystemClock(), program=str(fake)).missing() is not None


async def test_the_wall_clock_is_the_injected_one(job) -> None:
    sandbox = Bubblewrap(FakeClock())

    assert (await sandbox.run(job("true", timeout_s=1e-9))).outcome == "ok"
