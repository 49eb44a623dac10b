"""What a command can see, reach and change: tried from inside, on the real kernel."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from myclaw_core.errors import ToolFailure

MODES = ("read", "write", "net")
CLOSED_MODES = ("read", "write")
INTERPRETER = os.path.realpath(sys.executable)


@pytest.mark.parametrize("mode", MODES)
async def test_nothing_of_the_host_is_visible_but_system_and_folders(run, root: Path, mode) -> None:
    other = root.parent / "other"
    other.mkdir()
    ran = await run(
        f"ls -A /; ls -A / /home /root /mnt /srv /opt /sys /boot 2>/dev/null; ls {other}; cat note.txt", mode
    )

    top = set(ran.stdout.split("\n/")[0].split())
    assert top <= {"bin", "dev", "etc", "lib", "lib32", "lib64", "proc", "root", "sbin", "tmp", "usr", "var", "home"}
    assert "No such file" in ran.stderr
    assert ran.stdout.endswith("note\n")


@pytest.mark.parametrize("mode", MODES)
async def test_the_environment_is_clean_also_that_of_the_first_process(
    run, monkeypatch: pytest.MonkeyPatch, mode
) -> None:
    """An option of bubblewrap that clears the environment does not clear its own, which /proc shows."""
    monkeypatch.setenv("CANARY_VARIABLE", "canary-in-the-environment")
    ran = await run("env | sort; tr '\\0' '\\n' </proc/1/environ; tr '\\0' ' ' </proc/1/cmdline", mode)

    names = {line.partition("=")[0] for line in ran.stdout.splitlines() if "=" in line.partition(" ")[0]}
    assert names == {"HOME", "LANG", "PATH", "PWD", "SHLVL", "TERM", "TMPDIR", "USER", "_"}
    assert "canary" not in ran.stdout.lower()
    assert "--bind" not in ran.stdout


async def test_processes_of_the_host_are_invisible(run) -> None:
    ran = await run(f"ls -d /proc/[0-9]* | wc -l; kill -0 {os.getpid()} 2>&1")

    count, refusal = ran.stdout.split("\n")[:2]
    assert int(count) < 8
    assert "No such process" in refusal


@pytest.fixture
def setting() -> Path:
    """A setting of the whole machine that root can change."""
    return Path("/proc/sys/vm/stat_interval")


@pytest.mark.parametrize("mode", MODES)
async def test_settings_of_the_kernel_cannot_be_written(run, setting, mode) -> None:
    """As root outside they could be without the remount: all capabilities gone, the user is still theirs."""
    before = setting.read_text()
    ran = await run(f"echo 77 >{setting}; echo core >/proc/sys/kernel/core_pattern", mode)

    assert setting.read_text() == before
    assert ran.stderr.count("Read-only file system") == 2


@pytest.mark.parametrize("mode", MODES)
async def test_only_scratch_and_the_named_folder_can_be_written(run, root: Path, mode) -> None:
    other = root.parent / "other"
    other.mkdir()
    places = f"/ /usr /usr/bin /etc /dev /proc /var {other} {root} /tmp /tmp/home /dev/shm".split()
    tries = "\n".join(f"{{ : >{place}/probe; }} 2>/dev/null && echo {place}" for place in places)
    ran = await run(tries, mode, roots=(str(root), str(other)))

    writable = {"/tmp", "/tmp/home", "/dev/shm"}
    assert set(ran.stdout.split()) == (writable if mode == "read" else {*writable, str(root)})
    assert not (other / "probe").exists()


async def test_what_is_written_belongs_to_the_user_and_says_so_outside(run, root: Path) -> None:
    ran = await run("echo new >new.txt; mkdir -p a/b; chmod 750 new.txt; ln -s new.txt link", "write")

    assert ran.exit_code == 0
    assert (root / "new.txt").read_text() == "new\n"
    assert ((root / "new.txt").stat().st_uid, (root / "a" / "b").stat().st_gid) == (os.geteuid(), os.getegid())
    assert (root / "new.txt").stat().st_mode & 0o777 == 0o750
    assert (root / "link").is_symlink()


@pytest.mark.parametrize("place", ["/dev/shm", "/tmp"])
async def test_scratch_has_a_size(run, place) -> None:
    ran = await run(f"head -c 900M /dev/zero >{place}/big")

    assert ran.exit_code != 0
    assert "No space left" in ran.stderr


async def test_scratch_is_private_to_each_command(run) -> None:
    await run("echo secret >/tmp/kept; echo secret >/dev/shm/kept")
    ran = await run("ls /tmp /dev/shm")

    assert "kept" not in ran.stdout
    assert not os.access("/tmp/kept", os.F_OK)


async def test_the_folder_for_temporary_files_can_be_open_itself(run) -> None:
    ran = await run("echo $TMPDIR; : >$TMPDIR/x && ls /tmp | wc -l", roots=("/tmp",), cwd="/tmp")

    assert ran.exit_code == 0, ran.stderr
    assert ran.stdout.startswith("/run/scratch\n")


async def test_hidden_places_are_empty_and_cannot_be_brought_out(run, root: Path) -> None:
    """Neither the place nor the folders above it can be moved away, so that it would be found elsewhere next time."""
    (root / "deep" / "state").mkdir(parents=True)
    (root / "deep" / "state" / "key").write_text("secret\n")
    (root / "deep" / "token").write_text("secret\n")
    hidden = (str(root / "deep" / "state"), str(root / "deep" / "token"))
    commands = """
    ls -A deep/state; cat deep/state/key; cat deep/token; grep -r secret .
    : >deep/state/x; mv deep/state s2; mv deep moved; rm -rf deep; mv deep/token t2; ln deep/token t3
    """
    for mode in MODES:
        ran = await run(commands, mode, hidden=hidden)
        assert "secret" not in ran.stdout, mode
    assert (root / "deep" / "state" / "key").read_text() == "secret\n"
    assert (root / "deep" / "token").read_text() == "secret\n"


async def test_fixed_places_are_read_and_not_changed(run, root: Path) -> None:
    (root / ".git" / "hooks").mkdir(parents=True)
    (root / ".git" / "hooks" / "pre-commit").write_text("hook\n")
    (root / ".git" / "config").write_text("config\n")
    fixed = (str(root / ".git" / "hooks"), str(root / ".git" / "config"))
    commands = """
    cat .git/hooks/pre-commit .git/config
    echo evil >.git/hooks/pre-commit; echo evil >.git/config; mv .git x; mv .git/hooks h; rm -rf .git
    cp -r .git copy && rm -rf .git && mv copy .git; echo fine >.git/index
    """
    ran = await run(commands, "write", fixed=fixed)

    assert "hook\nconfig\n" in ran.stdout
    assert (root / ".git" / "hooks" / "pre-commit").read_text() == "hook\n"
    assert (root / ".git" / "config").read_text() == "config\n"
    assert (root / ".git" / "index").read_text() == "fine\n"


async def test_a_folder_inside_another_is_bound_again_where_the_outer_one_hides_around_it(run, root: Path) -> None:
    inner = root / "mnt" / "inner"
    inner.mkdir(parents=True)
    (inner / "a").write_text("inner\n")
    (root / "mnt" / "b").write_text("hidden\n")
    ran = await run("ls mnt; cat mnt/inner/a", roots=(str(root), str(inner)), hidden=(str(root / "mnt"),))

    assert ran.stdout == "inner\ninner\n"


@pytest.mark.parametrize("mode", CLOSED_MODES)
async def test_no_network_reaches_out(run, root: Path, mode) -> None:
    """TCP, UDP, Unix sockets by path and by abstract name, VM sockets, netlink, names."""
    listener = socket.create_server(("127.0.0.1", 0))
    by_path = socket.socket(socket.AF_UNIX)
    by_path.bind(str(root / "sock"))
    by_path.listen()
    port = listener.getsockname()[1]
    code = f"""
import errno, socket
for family, kind, address in (
    (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", {port})),
    (socket.AF_INET, socket.SOCK_DGRAM, ("192.0.2.1", 53)),
    (socket.AF_INET6, socket.SOCK_STREAM, ("::1", {port})),
    (socket.AF_UNIX, socket.SOCK_STREAM, "sock"),
    (socket.AF_VSOCK, socket.SOCK_STREAM, (2, 5000)),
    (socket.AF_NETLINK, socket.SOCK_RAW, (0, 0)),
    (socket.AF_PACKET, socket.SOCK_RAW, ("lo", 0)),
    (38, socket.SOCK_SEQPACKET, ()),
):
    try:
        socket.socket(family, kind).connect(address)
        print("reached", family)
    except OSError as error:
        print(errno.errorcode[error.errno])
try:
    socket.getaddrinfo("example.org", 80)
    print("resolved")
except socket.gaierror:
    print("EAI")
left, right = socket.socketpair()
left.send(b"pair")
print(right.recv(4))
"""
    (root / "probe.py").write_text(code)
    ran = await run("python3 probe.py; cat /proc/net/dev | wc -l; (exec 3<>/dev/tcp/127.0.0.1/22) 2>&1", mode)
    by_path.close()
    listener.setblocking(False)

    assert ran.stdout.splitlines()[:11] == ["EAFNOSUPPORT"] * 8 + ["EAI", "b'pair'", "3"]
    with pytest.raises(BlockingIOError):
        listener.accept()
    listener.close()


async def test_with_the_network_only_internet_sockets_are_there(run, root: Path) -> None:
    """The host's own sockets by abstract name live in the network's namespace, so they must go another way."""
    listener = socket.create_server(("127.0.0.1", 0))
    abstract = socket.socket(socket.AF_UNIX)
    abstract.bind(f"\0myclaw-test-{os.getpid()}")
    abstract.listen()
    code = f"""
import errno, socket
socket.create_connection(("127.0.0.1", {listener.getsockname()[1]})).close()
for family, address in ((socket.AF_UNIX, "\\0myclaw-test-{os.getpid()}"), (socket.AF_VSOCK, (2, 5000))):
    try:
        socket.socket(family, socket.SOCK_STREAM).connect(address)
        print("reached")
    except OSError as error:
        print(errno.errorcode[error.errno])
"""
    (root / "probe.py").write_text(code)
    ran = await run("python3 probe.py; test -e /etc/resolv.conf && echo names", "net")
    abstract.close()
    listener.accept()[0].close()
    listener.close()

    assert ran.stdout.split() == ["EAFNOSUPPORT", "EAFNOSUPPORT", "names"], ran.stderr


@pytest.mark.parametrize("mode", MODES)
async def test_calls_that_lead_around_the_namespaces_are_refused(run, root: Path, mode) -> None:
    code = f"""
import ctypes, errno, fcntl, platform
from myclaw_numbers import NUMBERS
libc = ctypes.CDLL(None, use_errno=True)
def tried(name, *arguments):
    ctypes.set_errno(0)
    answer = libc.syscall(NUMBERS[name], *map(ctypes.c_long, arguments))
    return errno.errorcode.get(ctypes.get_errno(), "done") if answer < 0 else "done"
for name in {WITHOUT_ARGUMENTS!r}:
    print(name, tried(name, 0, 0, 0, 0, 0))
print("clone3", tried("clone3", 0, 0))
print("openat2", tried("openat2", 0, 0, 0, 0))
print("clone-newuser", tried("clone", 0x10000011, 0, 0, 0, 0))
print("clone-newnet", tried("clone", 0x40000011, 0, 0, 0, 0))
print("tiocsti", tried("ioctl", 0, 0x5412, 0))
print("tiocsti-high", tried("ioctl", 0, 0x7_0000_5412, 0))
print("tioclinux", tried("ioctl", 0, 0x541C, 0))
"""
    from myclaw_bwrap.syscalls import MACHINES

    numbers = dict(MACHINES[os.uname().machine].numbers)
    (root / "myclaw_numbers.py").write_text(f"NUMBERS = {numbers!r}\n")
    (root / "probe.py").write_text(code)
    ran = await run("PYTHONDONTWRITEBYTECODE=1 python3 probe.py", mode)

    answers = dict(line.split() for line in ran.stdout.splitlines())
    assert {answers.pop("clone3"), answers.pop("openat2")} == {"ENOSYS"}, ran.stderr
    assert set(answers.values()) == {"EPERM"}, answers
    assert len(answers) == len(WITHOUT_ARGUMENTS) + 5


WITHOUT_ARGUMENTS = (
    "ptrace",
    "process_vm_readv",
    "keyctl",
    "add_key",
    "io_uring_setup",
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
    "kexec_load",
    "init_module",
    "pidfd_getfd",
)


async def test_no_file_can_be_made_to_act_as_its_owner(run, root: Path) -> None:
    code = """
import os
for flags in (os.O_CREAT | os.O_WRONLY, os.O_TMPFILE | os.O_WRONLY):
    try:
        os.open("made" if flags & os.O_CREAT else ".", flags, 0o4755)
        print("made")
    except PermissionError:
        print("refused")
"""
    (root / "probe.py").write_text(code)
    ran = await run(
        "cp /bin/bash b; chmod 755 b; chmod u+s b; chmod g+s b; chmod 4755 b; python3 probe.py; mkfifo -m 600 p",
        "write",
    )

    assert ran.stderr.count("Operation not permitted") == 3
    assert ran.stdout.split() == ["refused", "refused"]
    assert (root / "b").stat().st_mode & 0o7777 == 0o755
    assert not (root / "made").exists()


async def test_no_privileges_and_no_capabilities(run) -> None:
    ran = await run("grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status; cat /proc/sys/user/max_user_namespaces")

    lines = dict(line.split(":\t") for line in ran.stdout.splitlines() if ":\t" in line)
    assert {value for name, value in lines.items() if name.startswith("Cap")} == {"0" * 16}
    assert (lines["NoNewPrivs"], lines["Seccomp"]) == ("1", "2")


async def test_the_running_python_works_inside(run) -> None:
    """Bound at its own path, so that it finds its own libraries."""
    ran = await run(f"{INTERPRETER} -I -c 'import ssl, sqlite3; print(ssl.OPENSSL_VERSION)'")

    assert ran.exit_code == 0, ran.stderr


async def test_a_link_that_leads_out_leads_nowhere(run, root: Path) -> None:
    secret = root.parent / "secret.txt"
    secret.write_text("secret\n")
    (root / "link").symlink_to(secret)
    ran = await run("cat link; cat /etc/shadow; echo x >link", "write")

    assert "secret" not in ran.stdout
    assert secret.read_text() == "secret\n"


async def test_more_places_than_the_sandbox_can_hold_are_refused(run, root: Path) -> None:
    folders = [root / str(number) for number in range(3000)]
    for folder in folders:
        folder.mkdir()

    with pytest.raises(ToolFailure, match="more places that a command must not change"):
        await run("touch ran", "write", fixed=tuple(map(str, folders)))
    assert not (root / "ran").exists()
