"""What code can see, reach and change: the traps and the probe list, tried from inside, as root and as a user."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from myclaw_bwrap.syscalls import MACHINES

SETTINGS = ("/proc/sys/vm/stat_interval", "/proc/sys/kernel/core_pattern")
Tried = Callable[..., Awaitable[Any]]


def settings() -> list[str]:
    """How they stand outside."""
    return [Path(place).read_text() for place in SETTINGS]


def tops_of_interpreter() -> set[str]:
    """The folders of the root in which the interpreter lies."""
    return {Path(each).parts[1] for each in (os.path.realpath(sys.base_prefix), "/usr")}


async def test_nothing_of_the_host_is_there_but_the_interpreter(answers: Tried) -> None:
    top, missing, listed = await answers(
        'answers([os.listdir("/"), [p for p in ("/etc", "/sys", "/bin", "/var", "/run", "/home", "/usr/bin/env", '
        '"/usr/bin/bash", "/usr/sbin") if os.path.exists(p)], os.listdir("/n")])'
    )

    assert set(top) <= {"boot.py", "n", "tmp", "dev", "proc", "lib", "lib64", "lib32", *tops_of_interpreter()}
    assert missing == []
    assert [name.partition("_")[0].removesuffix(".py") for name in listed] == ["main"]


async def test_trap_1_settings_of_the_kernel_cannot_be_written(answers: Tried) -> None:
    before = settings()
    found = await answers(f"answers([tried(os.open, place, os.O_WRONLY) for place in {SETTINGS!r}])")

    assert set(found) <= {"E30", "E13"}
    assert settings() == before


async def test_trap_2_neither_environment_nor_options_of_the_first_process_are_told(
    answers: Tried, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANARY_VARIABLE", "canary")
    environ, words, mine = await answers(
        'answers([open("/proc/1/environ").read(), open("/proc/1/cmdline").read(), sorted(os.environ)])'
    )

    assert "canary" not in environ.lower()
    assert "bind" not in words
    assert set(mine) <= {"LANG", "LC_CTYPE", "LD_LIBRARY_PATH", "PATH", "PWD"}


async def test_trap_3_scratch_is_all_that_can_be_written_and_it_has_a_size(answers: Tried) -> None:
    code = """
def fill(folder):
    for number in range(40):
        try:
            with open(f"{folder}/{number}", "wb") as file:
                file.write(bytes(4 << 20))
        except OSError as error:
            return sum(os.path.getsize(f"{folder}/{name}") for name in os.listdir(folder)), error.errno
places = ["/", "/n", "/usr", "/dev", "/proc", "/lib", os.path.dirname(os.__file__), __file__]
writes = [tried(os.open, f"{p}/x" if os.path.isdir(p) else p, os.O_WRONLY | os.O_CREAT) for p in places]
one = tried(lambda: open("/tmp/one", "wb").write(bytes(9 << 20)))
os.unlink("/tmp/one")
answers([writes, one, fill("/tmp"), fill("/dev/shm")])
"""
    writes, one, scratch, shared = await answers(code)

    assert set(writes) <= {"E30", "E13", "E2"}
    assert one == "E27"
    assert scratch[0] <= 16 << 20
    assert shared[0] <= 1 << 20
    assert scratch[1] == shared[1] == 28


async def test_trap_4_there_are_no_sockets_of_any_kind(answers: Tried) -> None:
    """Those of the virtual machine lead around the network's namespace."""
    listener = socket.create_server(("127.0.0.1", 0))
    families, pair, networks = await answers(
        "found = [tried(socket.socket, family, kind) for family in range(46) for kind in (1, 2, 3, 5)]\n"
        "left, right = socket.socketpair(); left.send(b'pair')\n"
        "answers([found, right.recv(4).decode(), open('/proc/net/dev').read()])"
    )
    listener.setblocking(False)
    with pytest.raises(BlockingIOError):
        listener.accept()
    listener.close()

    assert set(families) == {"E97"}
    assert pair == "pair"
    assert [line.split(":")[0].strip() for line in networks.splitlines()[2:]] == ["lo"]


async def test_trap_5_a_worker_thread_that_ends_takes_nothing_along(run_code: Any) -> None:
    """The test before the first run happens in one, the run itself does not."""
    import asyncio

    task = asyncio.ensure_future(run_code("import time; time.sleep(0.5); print('lived')"))
    await asyncio.to_thread(int)
    await asyncio.get_running_loop().shutdown_default_executor()

    assert (await task).stdout == "lived\n"


async def test_trap_6_the_interpreter_loads_its_own_library(answers: Tried) -> None:
    code = "import ssl, sqlite3, ctypes, hashlib, zlib, decimal, sys\nanswers([sys.version, sys.flags.isolated])"
    version, isolated = await answers(code)

    assert version.startswith("3.")
    assert isolated == 1


async def test_trap_7_a_failure_of_the_sandbox_is_not_one_of_the_code(code_job: Any) -> None:
    """Its exit code is 1 as well, also where the interpreter could not be started."""
    from attrs import evolve
    from myclaw_bwrap.code_run import CodeRun
    from myclaw_bwrap.interpreter import Interpreter

    from myclaw_core.clock import SystemClock

    broken = evolve(Interpreter.here(), program="/nowhere")
    run = CodeRun(code_job("raise SystemExit(0)"), SystemClock(), "/usr/bin/bwrap", broken)
    try:
        await run.begin()
        report = await run.report()
    finally:
        await run.close()

    assert (report.outcome, report.exit_code) == ("unavailable", None)
    assert "/nowhere" in report.stderr


async def test_another_bwrap_on_the_path_is_not_used(
    run_code: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text(f"#!/bin/sh\n: >{tmp_path}/used\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    assert (await run_code("print('real')")).stdout == "real\n"
    assert not (tmp_path / "used").exists()


async def test_privileges_are_gone_and_the_filter_is_on(answers: Tried) -> None:
    status, ids = await answers(
        'lines = open("/proc/self/status").read().splitlines()\n'
        'answers([dict(line.split(":\\t", 1) for line in lines if ":\\t" in line), [os.getuid(), os.getgid()]])'
    )

    assert {int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {0}
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
    assert ids == [65534, 65534]


async def test_processes_of_the_host_are_invisible(answers: Tried) -> None:
    code = f'answers([[n for n in os.listdir("/proc") if n.isdigit()], tried(os.kill, {os.getpid()}, 0), os.getpid()])'

    assert await answers(code) == [["1"], "E3", 1]


async def test_no_descriptor_leads_out_but_the_channel(answers: Tried) -> None:
    """One more is the note of the peak memory, of a fixed size; one is the folder that is being listed."""
    found = await answers(
        'answers({n: os.readlink(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd") '
        'if os.path.lexists(f"/proc/self/fd/{n}")})'
    )
    kinds = sorted(target.split(":")[0].split(" ")[0] for target in found.values())

    assert kinds == ["/memfd", "pipe", "pipe", "socket"]


REFUSED = (
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "keyctl",
    "add_key",
    "request_key",
    "io_uring_setup",
    "io_uring_enter",
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "unshare",
    "setns",
    "mount",
    "umount2",
    "pivot_root",
    "chroot",
    "open_tree",
    "move_mount",
    "fsopen",
    "mount_setattr",
    "open_by_handle_at",
    "name_to_handle_at",
    "kexec_load",
    "init_module",
    "pidfd_getfd",
    "memfd_create",
    "memfd_secret",
    "shmget",
    "semget",
    "msgget",
    "mq_open",
    "fork",
    "vfork",
)


async def test_calls_that_lead_around_the_sandbox_are_refused(answers: Tried) -> None:
    """By number, past everything that Python would do."""
    numbers = MACHINES[os.uname().machine].numbers
    code = f"""
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    ctypes.set_errno(0)
    answer = libc.syscall(number, *map(ctypes.c_long, arguments))
    return ctypes.get_errno() if answer < 0 else "done"
numbers = {dict(numbers)!r}
answers([
    {{name: call(numbers[name], 0, 0, 0, 0, 0) for name in {REFUSED!r} if name in numbers}},
    [call(numbers["clone3"], 0, 0), call(numbers["openat2"], 0, 0, 0, 0)],
    [call(numbers["clone"], flags, 0, 0, 0, 0) for flags in (17, 0x10000011, 0x40000011, 0x4011)],
    [call(numbers["ioctl"], 0, command, 0) for command in (0x5412, 0x7_0000_5412, 0x541C)],
])
"""
    refused, unknown, clones, ioctls = await answers(code)

    assert {name for name, found in refused.items() if found != 1} == set()
    assert unknown == [38, 38]
    assert clones == [1] * 4
    assert ioctls == [1] * 3


async def test_threads_and_asyncio_work(answers: Tried) -> None:
    code = """
import asyncio, threading
found = []
threads = [threading.Thread(target=found.append, args=(n,)) for n in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
async def main():
    await asyncio.sleep(0)
    return await asyncio.to_thread(lambda: "thread")
answers([sorted(found), asyncio.run(main())])
"""
    assert await answers(code) == [list(range(8)), "thread"]


async def test_no_process_can_be_made(answers: Tried) -> None:
    """So nothing can be detached, and the limits of one process are those of the run."""
    code = """
import subprocess, sys
answers([tried(os.fork), tried(subprocess.run, [sys.executable, "-V"]),
         tried(os.posix_spawn, sys.executable, ["x"], {}), tried(lambda: __import__("pty").fork())])
"""
    assert await answers(code) == ["E1"] * 4


async def test_limits_cannot_be_raised(answers: Tried) -> None:
    code = """
import resource
names = "AS CPU FSIZE NOFILE NPROC".split()
def raised(kind):
    try:
        resource.setrlimit(kind, (resource.RLIM_INFINITY,) * 2)
    except (ValueError, OSError):
        return "kept"
kinds = [getattr(resource, "RLIMIT_" + name) for name in names]
answers([[resource.getrlimit(kind) for kind in kinds], [raised(kind) for kind in kinds]])
"""
    limits, kept = await answers(code)

    assert limits == [[256 << 20] * 2, [10, 10], [8 << 20] * 2, [64, 64], [64, 64]]
    assert kept == ["kept"] * 5


async def test_memory_is_bounded_for_the_whole_run(report: Tried) -> None:
    fine = await report("x = bytearray(200 << 20); print(len(x))")
    caught = await report("try:\n    bytearray(300 << 20)\nexcept MemoryError:\n    print('caught')")
    over = await report("x = []\nwhile True:\n    x.append(bytes(1 << 20))")

    assert (fine["outcome"], fine["stdout"]) == ("ok", f"{200 << 20}\n")
    assert (caught["outcome"], caught["stdout"]) == ("ok", "caught\n")
    assert (over["outcome"], over["exit_code"]) == ("memory", None)


@pytest.mark.parametrize(
    "code",
    [
        "while True: pass",
        "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass",
        "import threading\nfor n in range(4): threading.Thread(target=lambda: sum(iter(int, 1))).start()",
    ],
    ids=["plain", "signal ignored", "threads"],
)
async def test_processor_time_is_bounded_for_the_whole_run(report: Tried, code: str) -> None:
    found = await report(code, cpu_s=1)

    assert (found["outcome"], found["exit_code"]) == ("cpu", None)
    assert found["cpu_s"] < 2


async def test_open_files_are_bounded(answers: Tried) -> None:
    code = "held = []\ntry:\n    while True: held.append(os.dup(1))\nexcept OSError as error: answers(error.errno)"

    assert await answers(code) == 24
