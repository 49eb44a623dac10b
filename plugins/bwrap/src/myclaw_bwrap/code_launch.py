"""The argument list of the neuron profile, and the descriptors that go with it.

Nothing of the host is bound but the interpreter; what is run is handed in by descriptor. The options go by a descriptor
too, so that the first process inside does not show paths of the host.
"""

from __future__ import annotations

import fcntl
import os
import platform
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from attrs import frozen

from myclaw_bwrap.descriptors import memory_file
from myclaw_bwrap.interpreter import Interpreter
from myclaw_bwrap.seccomp import code_filter
from myclaw_bwrap.syscalls import MACHINES
from myclaw_core.sandbox.code import CodeJob, CodeLimits

__all__ = ["MEMORY_EXIT_CODE", "CodeLaunch", "code_launch"]

MEMORY_EXIT_CODE = 109
"""What a run ends with that could get no more memory."""

_FOLDER = "/n"
_BOOT = "/boot.py"
_NOTE_BYTES = 32
_SHARED_MEMORY_BYTES = 1 << 20
_ROOT_BYTES = 1 << 20


@frozen(kw_only=True)
class CodeLaunch:
    """What starts one run; valid inside the context that made it.

    Attributes:
        command: The command line, bubblewrap first.
        inherited: Descriptors to pass on.
        status: Read end of bubblewrap's report.
        start: Read end of a pipe into which the run says that it begins, before any of the code.
        note: A small file in which the run notes its peak memory.
        channel: Our end of the channel; whoever takes it closes it. The other one is held by the run alone, not by
            bubblewrap too as its stdin would be, so that it is seen when the code hangs up.
        theirs: Ends to close here once bubblewrap runs.
    """

    command: tuple[str, ...]
    inherited: tuple[int, ...]
    status: int
    start: int
    note: int
    channel: socket.socket
    theirs: ExitStack

    def began(self) -> bool:
        """Return whether the run has begun; ask once. The code inside cannot take that back."""
        with suppress(BlockingIOError):
            return os.read(self.start, 1) != b""
        return False

    def noted(self) -> int:
        """Return the peak memory in bytes as the run noted it, 0 before its end; the code can write there too."""
        noted = os.pread(self.note, _NOTE_BYTES, 0).partition(b" ")[0]
        return int(noted) << 10 if noted.isdigit() else 0


@contextmanager
def code_launch(job: CodeJob, program: str, interpreter: Interpreter) -> Iterator[CodeLaunch]:
    """Prepare one run.

    Args:
        program: Path of bubblewrap.
    """
    with ExitStack() as ours, ExitStack() as theirs:
        status, status_end = os.pipe2(os.O_CLOEXEC)
        ours.callback(os.close, status)
        theirs.callback(os.close, status_end)
        start, start_end = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        ours.callback(os.close, start)
        theirs.callback(os.close, start_end)
        channel, channel_end = socket.socketpair()
        ours.enter_context(channel)
        theirs.enter_context(channel_end)
        note = _note(ours)
        files = {f"{_FOLDER}/{name}": memory_file(theirs, content) for name, content in job.files.items()}
        files[_BOOT] = memory_file(theirs, Path(__file__).with_name("boot.py").read_bytes())
        seccomp = memory_file(theirs, code_filter(MACHINES[platform.machine()]))
        options = [
            *_options(job.limits, interpreter, files),
            *("--seccomp", str(seccomp), "--json-status-fd", str(status_end)),
        ]
        listed = memory_file(theirs, os.fsencode("\0".join([*options, ""])))
        passed = (channel_end.fileno(), start_end, note)
        yield CodeLaunch(
            command=(program, "--args", str(listed), "--", *_python(job, interpreter, passed)),
            inherited=(*files.values(), seccomp, status_end, listed, *passed),
            status=status,
            start=start,
            note=note,
            channel=channel,
            theirs=theirs,
        )


def _options(limits: CodeLimits, interpreter: Interpreter, files: Mapping[str, int]) -> Iterator[str]:
    """Yield the options of bubblewrap; order matters, later mounts cover earlier ones."""
    yield from ("--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session")
    yield from ("--as-pid-1", "--cap-drop", "ALL", "--uid", "65534", "--gid", "65534", "--hostname", "neuron")
    yield from ("--clearenv", "--setenv", "PATH", "/nonexistent", "--setenv", "LANG", "C.UTF-8")
    yield from ("--proc", "/proc", "--dev", "/dev")
    yield from ("--size", str(_SHARED_MEMORY_BYTES), "--tmpfs", "/dev/shm")  # noqa: S108 - inside
    yield from ("--size", str(limits.scratch_bytes), "--tmpfs", "/tmp")  # noqa: S108 - inside
    yield from interpreter.options()
    for place, descriptor in files.items():
        yield from ("--perms", "0444", "--ro-bind-data", str(descriptor), place)
    yield from ("--remount-ro", "/dev", "--remount-ro", "/proc", "--remount-ro", "/", "--chdir", "/tmp")  # noqa: S108


def _python(job: CodeJob, interpreter: Interpreter, descriptors: Sequence[int]) -> Iterator[str]:
    yield from (interpreter.program, "-I", "-S", "-B", _BOOT, f"{_FOLDER}/{job.main}")
    limits = job.limits
    numbers = (limits.memory_bytes, limits.cpu_s, limits.file_bytes, limits.open_files)
    yield from map(str, (*descriptors, *numbers, MEMORY_EXIT_CODE))


def _note(stack: ExitStack) -> int:
    """Return a file in memory that can be written to and never grows."""
    descriptor = os.memfd_create("note", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    stack.callback(os.close, descriptor)
    os.ftruncate(descriptor, _NOTE_BYTES)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)
    return descriptor
