"""How runs of code end, and how the host talks to them: every outcome, every bad peer, and nothing left behind."""

from __future__ import annotations

import asyncio
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from myclaw_bwrap.code_launch import code_launch
from myclaw_bwrap.interpreter import Interpreter
from myclaw_bwrap.sandbox import Bubblewrap
from sampling import sampled

from myclaw_core.clock import SystemClock
from myclaw_core.errors import UnavailableError
from myclaw_core.sandbox.code import CodeJob
from myclaw_core.sandbox.sandbox import NoSandbox
from myclaw_core.testing import FakeClock
from myclaw_core.types.text import Text

AGENT = Path(__file__).with_name("code_to_kill.py")
PATIENCE_S = 20
RUNS = sampled(100, 500)
PEER = """
import os, time
def give(data):
    while data:
        data = data[os.write(0, data):]
def frame(data):
    give(len(data).to_bytes(4, "big") + data)
def take(count):
    found = b""
    while len(found) < count and (chunk := os.read(0, count - len(found))):
        found += chunk
    return found
def answer():
    return take(int.from_bytes(take(4), "big"))
"""


@pytest.fixture
def sandbox() -> Bubblewrap:
    """One on the real clock."""
    return Bubblewrap(SystemClock())


def children() -> set[str]:
    """The processes that this one has started and not yet seen off."""
    return {each for task in Path("/proc/self/task").iterdir() for each in (task / "children").read_text().split()}


def living(main_name: str) -> set[int]:
    """The processes on this machine that run that file, or bubblewrap for it."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"/n/{main_name}".encode() in (entry / "cmdline").read_bytes():
                found.add(int(entry.name))
    return found


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """After the test there is no process, mount, file or descriptor more than before."""

    def now() -> list[Any]:
        descriptors = sorted(each.name for each in Path("/proc/self/fd").iterdir())
        files = {each.name for each in Path("/tmp").iterdir() if "bindfile" in each.name or "bwrap" in each.name}
        return [Path("/proc/self/mountinfo").read_text(), descriptors, files, children()]

    before = now()
    yield
    assert now() == before


async def test_outputs_and_exit_code_come_back_with_what_was_used(run_code: Any) -> None:
    report = await run_code(
        "import sys; x = b'x' * (40 << 20); print('out'); print('err', file=sys.stderr); sys.exit(7)"
    )

    assert (report.outcome, report.exit_code, report.stdout, report.stderr) == ("ok", 7, "out\n", "err\n")
    assert 40 << 20 < report.peak_memory_bytes < 80 << 20
    assert report.wall_ms > 0
    assert 0 < report.cpu_s < 5


async def test_a_peak_that_the_code_makes_up_is_no_more_than_the_limit(run_code: Any) -> None:
    code = "import os, sys\nfd = next(n for n in range(3, 64) if 'memfd' in os.readlink(f'/proc/self/fd/{n}'))\n"
    for noted in ("9" * 30 + " ", "text"):
        report = await run_code(code + f"os.pwrite(fd, {noted.encode()!r}, 0); os._exit(0)")
        assert report.peak_memory_bytes <= 256 << 20
        assert report.outcome == "ok"


async def test_ctrl_c_at_a_terminal_reaches_the_agent_alone(sandbox: Bubblewrap, code_job: Any) -> None:
    """It is sent to a whole group of processes; bubblewrap, if killed as it begins, leaves what it began for ever."""
    before = children()
    async with sandbox.start(code_job("import time; time.sleep(60)")):
        groups = {os.getpgid(int(each)) for each in children() - before}

    assert groups
    assert os.getpgid(0) not in groups


async def test_frames_go_both_ways(sandbox: Bubblewrap, code_job: Any) -> None:
    code = PEER + "frame(b'one'); print(answer()); frame(b''); frame(answer() * 2); print('end')"
    got = []
    async with sandbox.start(code_job(code)) as running:
        async for frame in running:
            got.append(frame)
            if len(got) < 3:
                await running.send(b"answer %d" % len(got))
        report = await running.report()

    assert got == [b"one", b"", b"answer 2answer 2"]
    assert (report.outcome, report.stdout) == ("ok", "b'answer 1'\nend\n")


async def test_large_frames_come_whole(sandbox: Bubblewrap, code_job: Any) -> None:
    async with sandbox.start(code_job(PEER + "frame(answer()[::-1])")) as running:
        await running.send(bytes(range(256)) * 4000)
        (frame,) = [each async for each in running]

    assert frame == (bytes(range(256)) * 4000)[::-1]


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        ("give(b'\\xff' * 1000); time.sleep(60)", "output"),
        ("give((2000).to_bytes(4, 'big')); time.sleep(60)", "output"),
        ("while True: frame(bytes(1000))", "output"),
        ("frame(b'fine'); give(b'\\0\\0'); time.sleep(60)", "timeout"),
        ("frame(b'fine'); give(b'\\0\\0\\0\\x09half'); time.sleep(60)", "timeout"),
        ("frame(b'fine'); give(b'\\0\\0\\0\\x09half'); os._exit(0)", "ok"),
        ("os.close(0); time.sleep(60)", "timeout"),
        ("time.sleep(60)", "timeout"),
    ],
)
async def test_a_bad_peer_is_an_outcome_and_never_a_wait_without_end(
    sandbox: Bubblewrap, code_job: Any, code: str, outcome: str
) -> None:
    """Garbage, too long a frame, a flood, a part of a length, a part of a frame, a closed channel, silence."""
    limits = {"wall_s": 1.0, "frame_bytes": 1000, "channel_bytes": 100_000}
    async with sandbox.start(code_job(PEER + code, **limits)) as running:
        frames = [each async for each in running]
        report = await running.report()

    assert report.outcome == outcome
    assert all(len(each) <= 1000 for each in frames)


async def test_a_flood_that_nobody_fetches_waits_inside(sandbox: Bubblewrap, code_job: Any) -> None:
    async with sandbox.start(code_job(PEER + "while True: frame(bytes(60_000))", wall_s=1.0)) as running:
        report = await running.report()
        buffered = [each async for each in running]

    assert report.outcome == "timeout"
    assert sum(map(len, buffered)) < 1 << 20


async def test_a_peer_that_does_not_read_holds_nobody_up(sandbox: Bubblewrap, code_job: Any) -> None:
    async with sandbox.start(code_job("import time; time.sleep(60)", wall_s=1.0)) as running:
        for _ in range(20):
            await running.send(bytes(1 << 20))
        report = await running.report()

    assert report.outcome == "timeout"


async def test_a_frame_for_code_that_has_ended_is_lost(sandbox: Bubblewrap, code_job: Any) -> None:
    async with sandbox.start(code_job("pass")) as running:
        assert (await running.report()).outcome == "ok"
        await running.send(b"late")
        with pytest.raises(ValueError, match="longer than the limit"):
            await running.send(bytes((4 << 20) + 1))


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
async def test_a_flood_of_output_is_cut_while_it_comes(run_code: Any, stream: str) -> None:
    report = await run_code(f"import sys\nwhile True: sys.{stream}.write('y' * 1000)")

    assert (report.outcome, report.exit_code) == ("output", None)
    assert len(report.stdout) + len(report.stderr) == 512 << 10
    assert report.peak_memory_bytes > 0


async def test_the_wall_clock_ends_a_run(run_code: Any) -> None:
    report = await run_code("import time; print('began', flush=True); time.sleep(60)", wall_s=1.0)

    assert (report.outcome, report.exit_code, report.stdout) == ("timeout", None, "began\n")
    assert report.peak_memory_bytes > 0


async def test_the_host_can_end_a_run_with_an_outcome_of_its_own(sandbox: Bubblewrap, code_job: Any) -> None:
    """The first one counts, at whatever stage it comes, and none after the end."""
    async with sandbox.start(code_job("import time; time.sleep(60)")) as running:
        running.stop("timeout")
        running.stop("killed")
        assert (await running.report()).outcome == "timeout"
    async with sandbox.start(code_job("pass")) as running:
        assert (await running.report()).outcome == "ok"
        running.stop("timeout")
        assert (await running.report()).outcome == "ok"


async def test_the_wall_clock_is_the_injected_one(code_job: Any) -> None:
    async with Bubblewrap(FakeClock()).start(code_job("pass", wall_s=1e-9)) as running:
        assert (await running.report()).outcome == "ok"


async def test_a_run_that_was_killed_from_outside_says_so(sandbox: Bubblewrap, code_job: Any, main_name: str) -> None:
    before = children()
    async with sandbox.start(code_job(PEER + "frame(b'up'); time.sleep(60)")) as running:
        await anext(running)
        (bwrap,) = children() - before
        os.kill(int(bwrap), 9)
        report = await running.report()

    assert (report.outcome, report.exit_code) == ("killed", None)
    assert living(main_name) == set()


async def test_code_that_dies_of_a_signal_has_ended_by_itself(run_code: Any) -> None:
    report = await run_code("import ctypes; ctypes.string_at(0)")

    assert (report.outcome, report.exit_code) == ("ok", 139)


async def test_leaving_the_context_ends_the_run(
    sandbox: Bubblewrap, code_job: Any, main_name: str, nothing_left: None
) -> None:
    async with sandbox.start(code_job(PEER + "frame(b'up'); time.sleep(60)")) as running:
        await anext(running)

    assert (await running.report()).outcome == "killed"
    assert living(main_name) == set()


async def test_cancelling_ends_the_run_whatever_stage_it_meets(
    sandbox: Bubblewrap, code_job: Any, main_name: str, nothing_left: None
) -> None:
    async def run() -> None:
        async with sandbox.start(code_job("import time; time.sleep(60)")) as running:
            await running.report()

    sandbox.missing_for_code()
    for turns in range(0, 60, 3):
        task = asyncio.ensure_future(run())
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert living(main_name) == set()


def test_a_killed_agent_takes_its_code_along(main_name: str) -> None:
    agent = subprocess.Popen([sys.executable, AGENT, main_name], stdout=subprocess.PIPE)
    assert agent.stdout is not None
    assert agent.stdout.readline() == b"up\n"
    handles = [os.pidfd_open(pid) for pid in living(main_name) - {agent.pid}]
    assert len(handles) == 2

    agent.kill()
    agent.wait()
    agent.stdout.close()
    for handle in handles:
        assert select.select([handle], [], [], PATIENCE_S)[0] == [handle]
        os.close(handle)


def test_code_whose_agent_died_before_it_was_tied_to_it_never_runs(code_job: Any) -> None:
    """Nobody holds the other end of the channel then."""
    with code_launch(code_job("print('ran')"), "/usr/bin/bwrap", Interpreter.here()) as launch:
        launch.channel.close()
        done = subprocess.run(
            launch.command,
            env={},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            pass_fds=launch.inherited,
            check=False,
        )
        began = launch.began()

    assert (done.stdout, done.stderr) == (b"", b"")
    assert not began


async def test_a_bubblewrap_that_went_away_is_told_and_leaves_nothing(
    code_job: Any, monkeypatch: pytest.MonkeyPatch, nothing_left: None
) -> None:
    sandbox = Bubblewrap(SystemClock(), program="/nowhere/bwrap")
    monkeypatch.setattr(sandbox, "missing_for_code", lambda: None)

    with pytest.raises(UnavailableError, match=r"/nowhere/bwrap could not be tried"):
        async with sandbox.start(code_job("pass")):
            pytest.fail("it ran")


@pytest.mark.sampled
async def test_nothing_is_left_after_many_runs(
    sandbox: Bubblewrap, code_job: Any, main_name: str, nothing_left: None
) -> None:
    """About a fiftieth of a second each; every fifth is killed in the middle, every seventh passes a limit."""
    plain = code_job("pass")
    sleeper = code_job("import os, time; os.write(0, bytes(4)); time.sleep(60)")
    flood = code_job("while True: print('y' * 100)", output_bytes=1000)
    outcomes = []
    for number in range(RUNS):
        job = sleeper if number % 5 == 0 else flood if number % 7 == 0 else plain
        async with sandbox.start(job) as running:
            if job is sleeper:
                await anext(running)
            else:
                outcomes.append((await running.report()).outcome)

    assert set(outcomes) == {"ok", "output"}
    assert living(main_name) == set()


async def test_two_runs_know_nothing_of_each_other(run_code: Any) -> None:
    code = "import os; print(os.listdir('/tmp')); open('/tmp/mine', 'w').close(); print(os.listdir('/tmp'))"
    reports = await asyncio.gather(*(run_code(code) for _ in range(4)))

    assert {report.stdout for report in reports} == {"[]\n['mine']\n"}


@pytest.mark.parametrize("name", ["", "../x.py", "a/b.py", ".hidden", "é.py", "a b.py", "a\0.py", "x" * 200])
def test_names_of_files_are_plain(name: str) -> None:
    with pytest.raises(ValueError, match="no name for a file"):
        CodeJob(files={name: b""}, main=name)


def test_what_is_run_is_one_of_the_files() -> None:
    with pytest.raises(ValueError, match="none of the files"):
        CodeJob(files={"a.py": b""}, main="b.py")


async def test_an_empty_slot_refuses_code_with_what_is_off_and_what_to_do(code_job: Any) -> None:
    sandbox = NoSandbox(Text("there is none; install one", {}))

    assert "there is none; install one" in str(sandbox.missing_for_code())
    with pytest.raises(UnavailableError, match=r"for neurons is not available.*everything else works.*myclaw doctor"):
        sandbox.start(code_job("pass"))


async def test_without_bubblewrap_no_code_runs(tmp_path: Path, code_job: Any) -> None:
    sandbox = Bubblewrap(SystemClock(), program=str(tmp_path / "bwrap"))

    with pytest.raises(UnavailableError, match=r"bubblewrap was not found at .*sudo apt install bubblewrap") as caught:
        async with sandbox.start(code_job("pass")):
            pytest.fail("it ran")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("bwrap: setting up uid map: Permission denied", "AppArmor"),
        ("bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded", "max_user"),
        ("bwrap: Unknown option --disable-userns", "0.8 or newer"),
    ],
)
def test_what_keeps_code_from_running_is_named(tmp_path: Path, said: str, told: str) -> None:
    """The narrow remedy comes before the wide one."""
    fake = tmp_path / "bwrap"
    fake.write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 1\n")
    fake.chmod(0o755)
    problem = str(Bubblewrap(SystemClock(), program=str(fake)).missing_for_code())

    assert said in problem
    assert told in problem
    assert problem.find("AppArmor") <= problem.find("sysctl")
    assert "the sandbox for neurons is not available" in problem


def test_a_program_that_only_claims_to_hold_code_is_found_out(tmp_path: Path) -> None:
    """It runs the interpreter plainly and reports as bubblewrap does."""
    fake = tmp_path / "bwrap"
    fake.write_text(
        "#!/bin/bash\nfor fd in /proc/self/fd/*; do echo '{\"exit-code\": 0}' >$fd; done\necho held\n"
        'shift 3\n"$1" -c "print(\'not held\')"\n'
    )
    fake.chmod(0o755)

    assert Bubblewrap(SystemClock(), program=str(fake)).missing_for_code() is not None
