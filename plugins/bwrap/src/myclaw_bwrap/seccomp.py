"""The filters of system calls for the shell and for code, as classic BPF made here without a library.

Files are allowed; what reaches the host around the namespaces is not: sockets of every family but the internet's (and
that only for the shell with the network), VM sockets, key rings, io_uring, tracing, the mount family, new namespaces,
typing into a terminal, and permission bits that would let a file act as its owner. Code can besides make no process,
only threads, and no memory that its limit does not count, so that the limits of one process are those of the whole run.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterable, Sequence

from myclaw_bwrap.syscalls import Machine

__all__ = ["code_filter", "shell_filter"]

_REFUSED = """
acct add_key adjtimex bpf chroot clock_adjtime clock_settime delete_module fanotify_init finit_module fsconfig
fsmount fsopen fspick init_module io_uring_enter io_uring_register io_uring_setup ioperm iopl kcmp
kexec_file_load kexec_load keyctl listmount lookup_dcookie modify_ldt mount mount_setattr move_mount
name_to_handle_at nfsservctl open_by_handle_at open_tree open_tree_attr perf_event_open pidfd_getfd pivot_root
process_vm_readv process_vm_writev ptrace quotactl quotactl_fd reboot request_key setdomainname sethostname setns
settimeofday statmount swapoff swapon syslog umount2 unshare uselib userfaultfd
"""
_REFUSED_TO_CODE = """
accept accept4 bind connect fork inotify_init inotify_init1 listen memfd_create memfd_secret mq_open msgctl msgget
msgrcv msgsnd pidfd_open pidfd_send_signal semctl semget semop semtimedop shmat shmctl shmdt shmget sync syncfs vfork
"""
"""The channel is a socket of the host's network: with a name, or to a name, it would lead there."""
_REFUSED_VALUES = {
    "prctl": (0, 1),  # PR_SET_PDEATHSIG: what ends the run with the agent
    "getsockopt": (2, 77),  # SO_PEERPIDFD: a handle on the agent, at the other end of the channel
    "setrlimit": (0, 4),  # RLIMIT_CORE: at 1 no program of the host is started for a core dump, at 0 it is
    "prlimit64": (1, 4),
}
"""An argument of a call, and the value of it that is refused to code."""
# Arguments that lie in memory cannot be looked at; callers fall back to the older call.
_UNKNOWN = ("clone3", "openat2")
_MODE_ARGUMENT = {"chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2, "creat": 1, "mknod": 1, "mknodat": 2}
_FLAGS_ARGUMENT = {"open": 1, "openat": 2}

_INTERNET = (2, 10)  # AF_INET, AF_INET6
_NEW_NAMESPACES = 0x7E020000  # CLONE_NEWNS, -CGROUP, -UTS, -IPC, -USER, -PID, -NET
_THREAD = 0x00010000  # CLONE_THREAD
_TERMINAL_COMMANDS = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
_SET_ID_BITS = 0o6000
_CREATES = 0o20000100  # O_CREAT, __O_TMPFILE
_X32 = 0x40000000

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_IF_ANY, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER_AT, _ARCH_AT, _ARGUMENTS_AT = 0, 4, 16

_Instruction = tuple[int, int, int, int]
_Rule = tuple[str, Sequence[_Instruction]]


def shell_filter(machine: Machine, *, network: bool) -> bytes:
    """Return the filter for the shell as the kernel takes it (`struct sock_filter`).

    Args:
        machine: The processor it runs on.
        network: Whether internet sockets can be made.
    """
    clone = [_argument(0), *_when(_JUMP_IF_ANY, _NEW_NAMESPACES, _fail(errno.EPERM)), *_give(_ALLOW)]
    return _assembled(machine, [*_rules(_INTERNET if network else ()), ("clone", clone)])


def code_filter(machine: Machine) -> bytes:
    """Return the filter for code as the kernel takes it (`struct sock_filter`).

    Args:
        machine: The processor it runs on.
    """
    clone = [
        _argument(0),
        *_when(_JUMP_IF_ANY, _NEW_NAMESPACES, _fail(errno.EPERM)),
        *_when(_JUMP_IF_ANY, _THREAD, _give(_ALLOW)),
        *_fail(errno.EPERM),
    ]
    refused: list[_Rule] = [(name, _fail(errno.EPERM)) for name in _REFUSED_TO_CODE.split()]
    for name, (position, value) in _REFUSED_VALUES.items():
        refused.append((name, [_argument(position), *_when(_JUMP_EQUAL, value, _fail(errno.EPERM)), *_give(_ALLOW)]))
    return _assembled(machine, [*_rules(()), ("clone", clone), *refused])


def _assembled(machine: Machine, rules: Iterable[_Rule]) -> bytes:
    program: list[_Instruction] = [
        (_LOAD, 0, 0, _ARCH_AT),
        *_unless(_JUMP_EQUAL, machine.audit_arch, _give(_KILL)),
        (_LOAD, 0, 0, _NUMBER_AT),
    ]
    if "open" in machine.numbers:  # the x32 range, another way in to every call
        program += _when(_JUMP_AT_LEAST, _X32, _fail(errno.ENOSYS))
    for name, body in rules:
        if name in machine.numbers:
            program += _when(_JUMP_EQUAL, machine.numbers[name], body)
    program += _give(_ALLOW)
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)


def _rules(families: Sequence[int]) -> Iterable[_Rule]:
    """Yield what happens to each call that is not simply allowed; every body ends in a verdict.

    Args:
        families: Sockets that can be made.
    """
    yield (
        "socket",
        [
            _argument(0),
            *(step for family in families for step in _when(_JUMP_EQUAL, family, _give(_ALLOW))),
            *_fail(errno.EAFNOSUPPORT),
        ],
    )
    yield (
        "ioctl",
        [
            _argument(1),  # the low half only: that is all the kernel looks at
            *(step for command in _TERMINAL_COMMANDS for step in _when(_JUMP_EQUAL, command, _fail(errno.EPERM))),
            *_give(_ALLOW),
        ],
    )
    for name, position in _MODE_ARGUMENT.items():
        yield name, _without_set_id(position)
    for name, position in _FLAGS_ARGUMENT.items():
        yield (
            name,
            [
                _argument(position),
                *_unless(_JUMP_IF_ANY, _CREATES, _give(_ALLOW)),
                *_without_set_id(position + 1),
            ],
        )
    for name in _UNKNOWN:
        yield name, _fail(errno.ENOSYS)
    for name in _REFUSED.split():
        yield name, _fail(errno.EPERM)


def _without_set_id(position: int) -> Sequence[_Instruction]:
    return [_argument(position), *_when(_JUMP_IF_ANY, _SET_ID_BITS, _fail(errno.EPERM)), *_give(_ALLOW)]


def _argument(position: int) -> _Instruction:
    """Load the low half of an argument; both machines are little-endian."""
    return (_LOAD, 0, 0, _ARGUMENTS_AT + 8 * position)


def _when(jump: int, value: int, body: Sequence[_Instruction]) -> Sequence[_Instruction]:
    return [(jump, 0, len(body), value), *body]


def _unless(jump: int, value: int, body: Sequence[_Instruction]) -> Sequence[_Instruction]:
    return [(jump, len(body), 0, value), *body]


def _give(verdict: int) -> Sequence[_Instruction]:
    return [(_RETURN, 0, 0, verdict)]


def _fail(number: int) -> Sequence[_Instruction]:
    return _give(_ERRNO | number)
