"""What code tries against the host from inside, as root and as a user: canaries outside say that nothing came of it."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from myclaw_bwrap.sandbox import Bubblewrap
from myclaw_bwrap.syscalls import MACHINES

from myclaw_core.clock import SystemClock

Tried = Callable[..., Awaitable[Any]]
CANARY = "canary: nobody touches this\n"
PACKAGE = Path(__file__).parents[1]
CALLS = f"""
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
numbers = {dict(MACHINES[os.uname().machine].numbers)!r}
def call(name, *arguments):
    ctypes.set_errno(0)
    number = numbers[name] if isinstance(name, str) else name
    answer = libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments))
    return f"E{{ctypes.get_errno()}}" if answer < 0 else "done"
"""


class Host:
    """What there is outside for code to find: files, sockets that wait for somebody, a process, a variable."""

    def __init__(self, folder: Path) -> None:
        self.files = [folder / "workspace" / "note.md", folder / "home" / ".ssh" / "id", folder / "note.txt"]
        for file in self.files:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(CANARY)
            file.chmod(0o666)
        self.path = str(folder / "listener")
        self.abstract = f"\0myclaw-canary-{os.getpid()}"
        self.listeners = [socket.create_server(("127.0.0.1", 0))]
        for name in (self.path, self.abstract):
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(name)
            listener.listen()
            self.listeners.append(listener)
        self.port = self.listeners[0].getsockname()[1]
        self.bystander = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        self.before = self.seen()

    def seen(self) -> Any:
        """What a person outside would notice."""
        files = {(str(file), file.read_text(), file.stat().st_mode, file.stat().st_mtime_ns) for file in self.files}
        folders = {str(each) for file in self.files for each in file.parent.iterdir()}
        names = {line.split()[-1] for line in Path("/proc/net/unix").read_text().splitlines() if "@canary" in line}
        return (
            *(files, folders, names, self.bystander.poll(), Path("/proc/self/mountinfo").read_text()),
            *(os.uname(), os.getpriority(os.PRIO_PROCESS, 0), os.sched_getaffinity(0)),
            [Path(place).stat().st_mtime_ns for place in (sys.base_prefix, os.__file__, PACKAGE)],
        )

    def close(self) -> None:
        """Nobody came, and everything is as it was."""
        try:
            for listener in self.listeners:
                listener.setblocking(False)
                with pytest.raises(BlockingIOError):
                    listener.accept()
            assert self.seen() == self.before
        finally:
            self.bystander.kill()
            self.bystander.communicate()
            for listener in self.listeners:
                listener.close()


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    """A host with canaries, which are looked after at the end."""
    monkeypatch.setenv("CANARY_VARIABLE", "canary")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    found = Host(tmp_path)
    yield found
    found.close()


def open_descriptors() -> set[str]:
    """The numbers of those of this process."""
    return {each.name for each in Path("/proc/self/fd").iterdir()}


async def test_no_file_of_the_host_is_reached_by_any_way(host: Host, answers: Tried) -> None:
    """By its path, from other roots and folders, by handles, by links, or by making it anew."""
    others = ("/etc/passwd", "/etc/shadow", "/var/lib/dpkg/status", Path.home() / ".bashrc", PACKAGE / "pyproject.toml")
    places = [str(each) for each in (*host.files, *others)]
    code = f"""
places = {places!r}
roots = ["", "/proc/self/root", "/proc/1/root", "/proc/self/cwd/../..", "/n/../..", "/dev/fd/../..", "/proc/self/cwd"]
top = os.open("/", os.O_RDONLY)
found = {{}}
for place in places:
    for root in roots:
        found[root + place] = tried(open, root + place)
        found["w" + root + place] = tried(os.open, root + place, os.O_WRONLY)
    found["at" + place] = tried(os.open, place[1:], os.O_RDONLY, dir_fd=top)
    found["up" + place] = tried(os.open, "../../../.." + place, os.O_RDONLY, dir_fd=top)
    for act in (os.unlink, os.rmdir, os.mkdir, os.listdir, os.stat, os.chdir):
        found[act.__name__ + place] = tried(act, place)
    found["rename" + place] = tried(os.rename, "/n/" + os.listdir("/n")[0], place)
    found["link" + place] = tried(os.link, place, "/tmp/link")
    found["chmod" + place] = tried(os.chmod, place, 0o777)
    found["utime" + place] = tried(os.utime, place)
    os.symlink(place, "/tmp/symlink")
    found["symlink" + place] = tried(open, "/tmp/symlink")
    os.unlink("/tmp/symlink")
answers(found)
"""
    found = await answers(code)

    assert {way: error for way, error in found.items() if error not in ("E2", "E13", "E30", "E18", "E20", "E1")} == {}


async def test_no_socket_leads_out_not_even_the_channel_itself(host: Host, answers: Tried) -> None:
    """The channel was made outside: a name for it would be one of the host, and so would be whom it asks for."""
    code = f"""
import struct
channel = socket.socket(fileno=0)
def plain(family, kind=socket.SOCK_STREAM):
    return tried(socket.socket, family, kind)
names = [{host.path!r}, {host.abstract!r}, "\\0canary", "/tmp/canary", ""]
left, right = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
found = {{
    "tcp": tried(socket.create_connection, ("127.0.0.1", {host.port})),
    **{{f"connect {{name!r}}": tried(channel.connect, name) for name in names}},
    **{{f"bind {{name!r}}": tried(channel.bind, name) for name in names}},
    **{{f"pair connect {{name!r}}": tried(left.connect, name) for name in names}},
    **{{f"pair bind {{name!r}}": tried(left.bind, name) for name in names}},
    **{{f"send {{name!r}}": tried(left.sendto, b"x", name) for name in names}},
    "listen": tried(channel.listen),
    "accept": tried(channel.accept),
    "peer": tried(channel.getsockopt, socket.SOL_SOCKET, 77),
}}
credentials = struct.unpack("3i", channel.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
channel.detach()
answers([found, credentials])
"""
    found, credentials = await answers(code)

    assert {
        way: error for way, error in found.items() if error not in ("E1", "E97", "E106", "E107", "E111", "E2", "E22")
    } == {}
    assert {found[way] for way in found if way.startswith(("connect", "bind", "pair"))} == {"E1"}
    assert credentials[0] == 0


async def test_descriptors_that_are_sent_to_the_host_are_not_taken(host: Host, code_job: Any) -> None:
    """They would be open there, one more with each frame."""
    code = """
import array, os, socket
channel = socket.socket(fileno=0)
held = array.array("i", [1])
for number in range(30):
    channel.sendmsg([bytes([0, 0, 0, 1]), b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, held)])
channel.shutdown(socket.SHUT_RD)
channel.detach()
os.write(1, b"sent")
"""
    before = open_descriptors()
    async with Bubblewrap(SystemClock()).start(code_job(code)) as running:
        frames = [frame async for frame in running]
        await running.send(b"nobody reads this")
        report = await running.report()

    assert (len(frames), report.outcome, report.stdout) == (30, "ok", "sent")
    assert open_descriptors() == before


async def test_no_process_of_the_host_is_seen_or_gets_a_signal(host: Host, answers: Tried) -> None:
    """Neither the agent, nor a bystander, nor a whole group of them."""
    pids = [os.getpid(), os.getppid(), host.bystander.pid, 2]
    code = f"""
import signal
found = {{}}
for pid in {pids!r}:
    for name, number in (("kill", 9), ("stop", signal.SIGSTOP), ("ask", 0)):
        found[f"{{name}} {{pid}}"] = tried(os.kill, pid, number)
    found[f"group {{pid}}"] = tried(os.killpg, pid, 9)
    found[f"priority {{pid}}"] = tried(os.setpriority, os.PRIO_PROCESS, pid, 19)
    found[f"affinity {{pid}}"] = tried(os.sched_setaffinity, pid, {{0}})
    found[f"session {{pid}}"] = tried(os.getsid, pid)
    found[f"pidfd {{pid}}"] = tried(os.pidfd_open, pid)
    for place in ("environ", "cmdline", "mem", "maps", "root", "cwd", "fd", "exe"):
        found[f"{{place}} {{pid}}"] = tried(open, f"/proc/{{pid}}/{{place}}")
found["all"] = tried(os.kill, -1, 9)
found["parent"] = tried(os.kill, os.getppid() or -1, 9)
found["user"] = tried(os.setpriority, os.PRIO_USER, 0, 19) or "E0"
answers(found)
"""
    found = await answers(code)

    assert {way: error for way, error in found.items() if error not in ("E1", "E2", "E3")} == {"user": "E0"}


async def test_nothing_in_proc_and_dev_can_be_written_but_plain_devices(answers: Tried) -> None:
    """Settings, memory of the kernel and of other processes, disks, the terminal."""
    code = """
import stat
opened, devices = [], []
for top in ("/proc", "/dev"):
    for folder, folders, files in os.walk(top):
        folders[:] = [name for name in folders if not name.isdigit() and name not in ("self", "thread-self", "fd")]
        for name in files:
            place = f"{folder}/{name}"
            try:
                if stat.S_ISBLK(os.lstat(place).st_mode):
                    devices.append(place)
                os.close(os.open(place, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY))
                opened.append(place)
            except OSError:
                pass
own = "mem oom_score_adj coredump_filter uid_map gid_map setgroups comm clear_refs timerslack_ns".split()
own = [tried(os.open, f"/proc/self/{name}", os.O_WRONLY) for name in own]
rest = "/proc/kcore /proc/kmsg /dev/mem /dev/kmsg /dev/tty /dev/fuse".split()
rest = [tried(os.open, place, os.O_RDONLY) for place in rest]
answers([opened, devices, own, rest])
"""
    opened, devices, own, rest = await answers(code)

    plain = {"full", "null", "ptmx", "random", "urandom", "zero", "stdin", "stdout", "stderr", "core"}
    assert {place.rpartition("/")[2] for place in opened} <= plain
    assert devices == []
    assert set(own) <= {"E30", "E13", "E2", "E1"}
    assert {each for each in rest if isinstance(each, int)} == set()


async def test_neither_the_interpreter_nor_the_code_can_be_changed(host: Host, answers: Tried) -> None:
    """A later run would start with it."""
    code = """
import json as module, sys
places = [sys.executable, os.__file__, module.__file__, os.path.dirname(os.__file__), sys.base_prefix]
places += ["/n", __file__, "/boot.py"]
found = {}
for place in places:
    target = f"{place}/canary.py" if os.path.isdir(place) else place
    found["write " + place] = tried(os.open, target, os.O_WRONLY | os.O_CREAT)
    found["truncate " + place] = tried(os.truncate, place, 0) if os.path.isfile(place) else "E30"
    found["unlink " + place] = tried(os.unlink, place)
    found["rename " + place] = tried(os.rename, place, "/tmp/x")
    found["replace " + place] = tried(os.replace, "/tmp", place)
    found["chmod " + place] = tried(os.chmod, place, 0o777)
    found["chown " + place] = tried(os.chown, place, 65534, 65534)
    found["mode " + place] = tried(os.utime, place)
    found["attribute " + place] = tried(os.setxattr, place, "user.x", b"x")
answers(found)
"""
    found = await answers(code)

    errors = ("E30", "E13", "E1", "E18", "E26", "E21", "E20", "E16", "E22", "E39", "E17")
    assert {way: error for way, error in found.items() if error not in errors} == {}


async def test_the_kernel_is_asked_for_nothing_that_reaches_around(host: Host, answers: Tried) -> None:
    """Keys, rings, programs in the kernel, page faults, counters, tracing, namespaces of every kind, typing."""
    code = (
        CALLS
        + """
flags = {"mount": 0x20000, "cgroup": 0x2000000, "uts": 0x4000000, "ipc": 0x8000000, "user": 0x10000000,
         "pid": 0x20000000, "net": 0x40000000, "time": 0x80}
buffer = ctypes.create_string_buffer(256)
place = ctypes.addressof(buffer)
def clone3(flag):
    ctypes.memset(place, 0, 256)
    ctypes.c_uint64.from_buffer(buffer).value = flag
    return call("clone3", place, 88)
answers({
    **{f"unshare {name}": call("unshare", flag) for name, flag in flags.items()},
    **{f"clone {name}": call("clone", flag | 17, 0, 0, 0, 0) for name, flag in flags.items()},
    **{f"thread in another {name}": call("clone", flag | 0x10000 | 0x800 | 0x100, 0, 0, 0, 0)
       for name, flag in flags.items() if name != "time"},
    **{f"clone3 {name}": clone3(flag) for name, flag in flags.items()},
    **{f"setns {name}": call("setns", 0, flag) for name, flag in flags.items()},
    **{f"keyctl {number}": call("keyctl", number, -3, 0, 0, 0) for number in range(32)},
    **{f"bpf {number}": call("bpf", number, place, 120) for number in range(32)},
    **{f"ptrace {number}": call("ptrace", number, 1, 0, 0) for number in (0, 16, 0x4206)},
    "add_key": call("add_key", place, place, place, 1, -3),
    "io_uring": call("io_uring_setup", 8, place),
    "userfaultfd": call("userfaultfd", 1),
    "perf": call("perf_event_open", place, 0, -1, -1, 0),
    "memory of another": call("process_vm_writev", 1, place, 1, place, 1, 0),
    "descriptor of another": call("pidfd_getfd", 0, 0, 0),
    "signal by handle": call("pidfd_send_signal", 0, 9, 0, 0),
    "watching folders": call("inotify_init1", 0),
    "writing all disks": call("sync"),
    "outliving the agent": call("prctl", 1, 0, 0, 0, 0),
    "dumping core": call("setrlimit", 4, place),
    "dumping core elsewhere": call("prlimit64", 0, 4, place, 0),
    "typing": call("ioctl", 0, 0x5412, place),
    "typing with a long number": call("ioctl", 0, 0x7_0000_5412, place),
    "the console": call("ioctl", 1, 0x541C, place),
    "mount": call("mount", place, place, place, 0, 0),
    "unmount": call("umount2", place, 2),
    "root": call("chroot", place),
    "kernel log": call("syslog", 3, place, 256),
    "host name": call("sethostname", place, 1),
    "clock": call("clock_settime", 0, place),
    "restart": call("reboot", 0xfee1dead, 672274793, 0x01234567, 0),
})
"""
    )
    found = await answers(code)

    assert {way: error for way, error in found.items() if error != ("E38" if way.startswith("clone3") else "E1")} == {}


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="other processors have no second table of calls")
@pytest.mark.parametrize("report", ["me", "somebody"], indirect=True)
async def test_the_tables_of_other_processors_are_closed(report: Tried) -> None:
    """Calls of 32 bits end the run; those of x32 are not there."""
    code = (
        CALLS
        + """
import mmap
print([call(0x40000000 | number, 0, 0, 0) for number in (39, 41, 56, 57, 101, 321)], flush=True)
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(bytes.fromhex("b814000000cd80c3"))  # mov eax, 20; int 0x80; ret: getpid of 32 bits
run = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
print(run())
"""
    )
    found = await report(code)

    assert found["stdout"] == "['E38', 'E38', 'E38', 'E38', 'E38', 'E38']\n"
    assert found["exit_code"] in (128 + 31, 128 + 11)


async def test_limits_are_kept_also_by_a_new_image_of_the_process(answers: Tried) -> None:
    """It starts the interpreter again in its place: filter, limits and emptiness are those of before."""
    again = (
        "import os, resource, json\n"
        "import socket\n"
        "def tried(act):\n    try:\n        return act()\n    except OSError as e:\n        return f'E{e.errno}'\n"
        "print(json.dumps([tried(os.fork), tried(socket.socket), resource.getrlimit(resource.RLIMIT_AS)[1], "
        "os.listdir('/tmp'), sorted(os.environ)]))"
    )
    code = f"import sys\nos.execve(sys.executable, ['x', '-I', '-S', '-c', {again!r}], {{}})"
    fork, made, memory, scratch, names = await answers(code)

    assert (fork, made, memory, scratch) == ("E1", "E97", 256 << 20, [])
    assert set(names) <= {"LC_CTYPE"}


async def test_a_crash_starts_no_program_of_the_host(report: Tried) -> None:
    """A limit of 1 keeps the kernel from piping a core dump to a handler, and it cannot be changed."""
    limit = await report("print([line.split()[4:6] for line in open('/proc/self/limits') if 'core' in line])")
    crash = await report("import ctypes, os\nprint(os.listdir('.'), flush=True)\nctypes.string_at(0)")

    assert limit["stdout"].startswith("[['1', ")
    assert (crash["outcome"], crash["exit_code"], crash["stdout"]) == ("ok", 139, "[]\n")


LET_THROUGH = {
    "a regular expression": ("import re; re.fullmatch('(a+)+b', 'a' * 64)", {"cpu"}),
    "a power": ("10 ** 10 ** 10", {"cpu", "memory"}),
    "a decimal power": ("import decimal; decimal.Decimal(10) ** 10**9 % 7", {"ok", "cpu", "memory"}),
    "a long text": ("'x' * 10**12", {"memory"}),
    "a wide f-string": ("f'{1:1000000000}'", {"memory"}),
    "a wide percent sign": ("'%1000000000d' % 1", {"memory"}),
    "an endless list": ("list(iter(int, 1))", {"memory", "cpu"}),
    "a bomb": (
        "import zlib; d = zlib.compress(bytes(1 << 26))\nx = [zlib.decompress(d) for n in range(9)]",
        {"memory"},
    ),
    "recursion": ("def f(): f()\nf()", {"ok"}),
    "recursion below Python": ("import json; json.loads('[' * 10**6)", {"ok"}),
    "recursion without a limit": (
        "import sys\nsys.setrecursionlimit(10**9)\ndef f(x): f([x])\nf(0)",
        {"ok", "cpu", "memory"},
    ),
    "output": ("print('x' * 10**6)", {"output"}),
    "output line by line": ("while True: print('x')", {"output", "cpu"}),
    "threads": (
        "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(60,)).start()",
        {"ok", "memory", "cpu"},
    ),
    "files": ("n = 0\nwhile True: n += 1; open(f'/tmp/{n}', 'w').close()", {"cpu", "ok", "memory"}),
    "frames": ("import os\nwhile True: os.write(0, bytes(4))", {"cpu"}),
    "silence": ("import time; time.sleep(60)", {"timeout"}),
    "no signals": ("import signal; signal.pthread_sigmask(0, range(1, 65))\nwhile True: pass", {"cpu"}),
    "the channel read as text": ("import shlex; shlex.split(None)", {"timeout", "ok"}),
    "digits": ("int('9' * 10**7)", {"ok"}),
    "chance": ("import random; random.Random(1).getrandbits((1 << 31) - 1)", {"memory"}),
}


async def test_what_the_analysis_lets_through_ends_by_a_limit(host: Host, run_code: Any) -> None:
    """Processor time, memory, recursion, files, threads, output, silence; on a busy machine the clock may be first."""
    names = iter(LET_THROUGH)
    ends: dict[str, str] = {}

    async def one_after_the_other() -> None:
        for name in names:
            ends[name] = (await run_code(LET_THROUGH[name][0], wall_s=2.0, cpu_s=1)).outcome

    await asyncio.gather(*(one_after_the_other() for _ in range(4)))

    assert ends.keys() == LET_THROUGH.keys()
    assert {name: end for name, end in ends.items() if end not in LET_THROUGH[name][1] | {"timeout"}} == {}
