"""The argument list of the shell profile: bubblewrap protects exactly as far as these say, so they stand in one place.

Order matters, later mounts cover earlier ones: system, scratch, folders (outer ones first), what is kept from each.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from attrs import frozen

from myclaw_core.errors import ToolFailure
from myclaw_core.files.resolve import display_path, is_beneath
from myclaw_core.messages import N_
from myclaw_core.sandbox.sandbox import ShellJob

__all__ = ["Descriptors", "System", "environment_of", "scratch_of", "shell_arguments"]

_MAX_OPTIONS = 8900
"""Bubblewrap takes 9000, with the command."""
_SCRATCH_BYTES = 256 << 20
_SHARED_MEMORY_BYTES = 64 << 20
_ROOT_BYTES = 1 << 20
_USR_LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_ETC = ("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "mime.types")
_ETC_FOR_NETWORK = (
    "ca-certificates",
    "gai.conf",
    "host.conf",
    "hosts",
    "pki",
    "protocols",
    "resolv.conf",
    "services",
    "ssl",
)
_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin")


@frozen(kw_only=True)
class System:
    """The machine as far as the profile depends on it.

    Attributes:
        uid: The user that files of the writable folder belong to.
        gid: Their group.
        interpreter: Folder of the running Python, where it lies outside `/usr`; empty otherwise.
    """

    uid: int
    gid: int
    interpreter: str

    @classmethod
    def here(cls) -> System:
        """Return this machine."""
        import sys

        prefix = os.path.realpath(sys.base_prefix)
        needed = not is_beneath(prefix, "/usr") and os.access(prefix, os.R_OK | os.X_OK)
        return cls(uid=os.geteuid(), gid=os.getegid(), interpreter=prefix if needed else "")


@frozen(kw_only=True)
class Descriptors:
    """Open descriptors that bubblewrap inherits.

    Attributes:
        seccomp: The filter.
        status: Where it reports on the command.
        passwd: A list of users with only this one.
        group: The same of groups.
        names: How names are looked up.
        go: It starts the command only once this can be read; `None` starts at once.
    """

    seccomp: int
    status: int
    passwd: int
    group: int
    names: int
    go: int | None = None


def scratch_of(job: ShellJob) -> str:
    """Return the private writable folder: `/tmp`, unless that is itself one of the folders."""
    return "/run/scratch" if "/tmp" in (*job.roots, job.write_root) else "/tmp"  # noqa: S108 - a fresh tmpfs there


def environment_of(job: ShellJob, system: System) -> dict[str, str]:
    """Return the whole environment of the command."""
    scratch = scratch_of(job)
    path = [*_PATH, f"{system.interpreter}/bin"] if system.interpreter else _PATH
    return {
        "HOME": f"{scratch}/home",
        "LANG": "C.UTF-8",
        "PATH": ":".join(path),
        "TERM": "dumb",
        "TMPDIR": scratch,
        "USER": "user",
    }


def shell_arguments(job: ShellJob, system: System, descriptors: Descriptors) -> list[str]:
    """Return the options of bubblewrap, without its own name and without the command.

    Raises:
        ToolFailure: They are more than it takes.
    """
    options = [
        *_isolation(job, system),
        *_system(job, system, descriptors),
        *_scratch(job),
        *_folders(job),
        *("--remount-ro", "/dev", "--remount-ro", "/proc", "--remount-ro", "/"),
        *("--chdir", job.cwd),
        *("--seccomp", str(descriptors.seccomp), "--json-status-fd", str(descriptors.status)),
        *(() if descriptors.go is None else ("--block-fd", str(descriptors.go))),
    ]
    if len(options) > _MAX_OPTIONS:
        raise ToolFailure(
            N_(
                "{root} holds more places that a command must not change than the sandbox can hold; open a folder "
                "inside it with --root",
                root=display_path(job.write_root or job.cwd),
            )
        )
    return options


def _isolation(job: ShellJob, system: System) -> Iterator[str]:
    yield from ("--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session")
    if job.mode == "net":
        yield "--share-net"
    yield from ("--cap-drop", "ALL", "--uid", str(system.uid), "--gid", str(system.gid), "--hostname", "sandbox")
    yield "--clearenv"
    for name, value in environment_of(job, system).items():
        yield from ("--setenv", name, value)


def _system(job: ShellJob, system: System, descriptors: Descriptors) -> Iterator[str]:
    yield from _read_only("/usr", "/usr")
    for name in _USR_LINKS:
        source = Path("/", name)
        if source.is_symlink():
            yield from ("--symlink", f"usr/{name}", f"/{name}")
        elif source.is_dir():
            yield from _read_only(str(source), f"/{name}")
    for name in (*_ETC, *(_ETC_FOR_NETWORK if job.mode == "net" else ())):
        source = Path("/etc", name)
        if source.exists():
            yield from _read_only(os.path.realpath(source), f"/etc/{name}")
    for name, descriptor in (
        ("passwd", descriptors.passwd),
        ("group", descriptors.group),
        ("nsswitch.conf", descriptors.names),
    ):
        yield from ("--perms", "0444", "--ro-bind-data", str(descriptor), f"/etc/{name}")
    if system.interpreter:
        yield from _read_only(system.interpreter, system.interpreter)
    yield from ("--proc", "/proc", "--dev", "/dev")


def _scratch(job: ShellJob) -> Iterator[str]:
    scratch = scratch_of(job)
    yield from ("--size", str(_SHARED_MEMORY_BYTES), "--tmpfs", "/dev/shm")  # noqa: S108 - inside
    yield from ("--perms", "1777", "--size", str(_SCRATCH_BYTES), "--tmpfs", scratch)
    yield from ("--dir", f"{scratch}/home", "--dir", "/var", "--symlink", scratch, "/var/tmp")  # noqa: S108 - inside


def _folders(job: ShellJob) -> Iterator[str]:
    """Bind the folders from the outside in; a folder covers what an outer one hid of it, and hides its own again."""
    writable = job.write_root
    read_only = {root for root in job.roots if not (writable and is_beneath(root, writable))}
    covers: list[str] = []
    for root in sorted({*read_only, *filter(None, (writable,))}, key=len):
        if root == writable:
            yield from ("--bind", root, root)
            for place in _pins(writable, (*job.hidden, *job.fixed)):
                yield from ("--bind", place, place)
            for place in job.fixed:
                yield from _read_only(place, place)
        else:
            yield from _read_only(root, root)
        for place in job.hidden:
            if is_beneath(place, root) and place != root:
                covers.append(place)
                yield from _cover(place)
    for place in dict.fromkeys(covers):
        if Path(place).is_dir():
            yield from ("--remount-ro", place)


def _cover(place: str) -> Sequence[str]:
    if Path(place).is_dir():
        return ("--perms", "0555", "--size", str(_ROOT_BYTES), "--tmpfs", place)
    return _read_only("/dev/null", place)  # a device on a mount without devices: it cannot be opened


def _pins(root: str, places: Iterable[str]) -> Sequence[str]:
    """Return the folders between `root` and each place: bound onto themselves they cannot be moved away with it."""
    pins = {
        str(parent)
        for place in places
        if is_beneath(place, root)
        for parent in Path(place).parents
        if is_beneath(str(parent), root) and str(parent) != root
    }
    return sorted(pins, key=len)


def _read_only(source: str, place: str) -> Sequence[str]:
    return ("--ro-bind", source, place)
