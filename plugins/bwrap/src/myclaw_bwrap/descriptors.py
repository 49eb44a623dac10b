"""Descriptors that bubblewrap inherits: small files in memory and pipes, closed together."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from attrs import astuple, frozen

from myclaw_bwrap.arguments import Descriptors, System, scratch_of, shell_arguments
from myclaw_bwrap.seccomp import shell_filter
from myclaw_bwrap.syscalls import MACHINES
from myclaw_core.sandbox.sandbox import ShellJob

__all__ = ["GO", "Launch", "launch_of", "memory_file"]

GO = b"go"
"""What starts a command that waits: a byte for bubblewrap, and one for the shell in it."""

_BASH = ("/bin/bash", "--noprofile", "--norc", "-c")
_LOOK_UP = b"passwd: files\ngroup: files\nhosts: files dns\n"


@frozen(kw_only=True)
class Launch:
    """What starts one sandbox; valid inside the context that made it.

    Attributes:
        command: The command line, bubblewrap first.
        inherited: Descriptors to pass on.
        status: Read end of bubblewrap's report.
        go: Write end of what the command waits for, which is `GO`; `None` where it does not wait.
        theirs: Ends to close here once bubblewrap runs.
    """

    command: tuple[str, ...]
    inherited: tuple[int, ...]
    status: int
    go: int | None
    theirs: ExitStack


@contextmanager
def launch_of(job: ShellJob, program: str, *, waits: bool) -> Iterator[Launch]:
    """Prepare one sandbox.

    Args:
        job: What it runs.
        program: Path of bubblewrap.
        waits: Whether the command starts only once `GO` was written to `go`, and never if that is closed before.
    """
    with ExitStack() as ours, ExitStack() as theirs:
        system = System.here()
        status, status_end = os.pipe2(os.O_CLOEXEC)
        ours.callback(os.close, status)
        theirs.callback(os.close, status_end)
        go, go_end = _gate(ours, theirs) if waits else (None, None)
        user = f"user:x:{system.uid}:{system.gid}:user:{scratch_of(job)}/home:/bin/bash\n"
        descriptors = Descriptors(
            seccomp=memory_file(theirs, shell_filter(MACHINES[platform.machine()], network=job.mode == "net")),
            status=status_end,
            passwd=memory_file(theirs, user.encode()),
            group=memory_file(theirs, f"user:x:{system.gid}:\n".encode()),
            names=memory_file(theirs, _LOOK_UP),
            go=go_end,
        )
        options = "\0".join([*shell_arguments(job, system, descriptors), ""])
        listed = memory_file(theirs, os.fsencode(options))
        gate = () if go_end is None else (os.dup(go_end),)
        for number in gate:
            theirs.callback(os.close, number)
        yield Launch(
            command=(program, "--args", str(listed), "--", *_BASH, *map(_waiting, gate), job.command),
            inherited=(listed, *gate, *_numbers(descriptors)),
            status=status,
            go=go,
            theirs=theirs,
        )


def _gate(ours: ExitStack, theirs: ExitStack) -> tuple[int, int]:
    go_end, go = os.pipe2(os.O_CLOEXEC)
    ours.callback(os.close, go)
    theirs.callback(os.close, go_end)
    return go, go_end


def _waiting(gate: int) -> str:
    """Return a script that runs its `$0` once it could read from the gate.

    Bubblewrap waits there first, but takes that an agent has died, which closes the gate, for a start.
    """
    return f'read -rN1 -u{gate} && exec {" ".join(_BASH)} "$0" {gate}<&-'


def _numbers(descriptors: Descriptors) -> tuple[int, ...]:
    return tuple(number for number in astuple(descriptors) if number is not None)


def memory_file(stack: ExitStack, content: bytes) -> int:
    """Return a descriptor from which `content` can be read; the file lies in memory and has no name."""
    descriptor = os.memfd_create("myclaw", os.MFD_CLOEXEC)
    stack.callback(os.close, descriptor)
    left = memoryview(content)
    while left:
        left = left[os.write(descriptor, left) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
