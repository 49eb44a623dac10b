"""The filter of system calls, run by a small machine of its own: for both processors, wherever the tests run."""

from __future__ import annotations

import errno
import struct
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from myclaw_bwrap.seccomp import code_filter, shell_filter
from myclaw_bwrap.syscalls import MACHINES

ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
U64 = st.integers(0, 2**64 - 1)


def verdict(machine: str, name: str | int, arguments: Sequence[int] = (), *, network: bool = False) -> int | str:
    """Return what the filter answers: `allow`, `kill`, or the number of an error."""
    known = MACHINES[machine]
    number = known.numbers[name] if isinstance(name, str) else name
    return answer(shell_filter(known, network=network), known.audit_arch, number, arguments)


def answer(program: bytes, arch: int, number: int, arguments: Sequence[int]) -> int | str:
    padded = (*arguments, *(0,) * (6 - len(arguments)))
    data = struct.pack("=IIQ6Q", number & 0xFFFFFFFF, arch, 0, *padded)
    steps = list(struct.iter_unpack("=HBBI", program))
    at = register = 0
    while True:
        code, yes, no, value = steps[at]
        at += 1
        if code == 0x20:
            (register,) = struct.unpack_from("=I", data, value)
        elif code == 0x06:
            return {ALLOW: "allow", KILL: "kill"}.get(value, value & 0xFFFF)
        else:
            holds = {0x15: register == value, 0x35: register >= value, 0x45: bool(register & value)}[code]
            at += yes if holds else no


@pytest.mark.parametrize("machine", MACHINES)
def test_the_filter_is_small_enough_for_the_kernel(machine: str) -> None:
    assert len(shell_filter(MACHINES[machine], network=True)) // 8 < 4096


@pytest.mark.parametrize("machine", MACHINES)
def test_another_processor_is_killed(machine: str) -> None:
    program = shell_filter(MACHINES[machine], network=True)

    assert answer(program, 0x40000003, 11, ()) == "kill"


def test_the_x32_range_has_no_calls() -> None:
    assert verdict("x86_64", 0x40000000 + 59) == errno.ENOSYS
    assert verdict("x86_64", 59) == "allow"


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("network", [False, True])
@given(family=st.integers(0, 2**32 - 1), high=st.integers(0, 2**32 - 1))
def test_sockets_are_the_internets_at_most(machine: str, network: bool, family: int, high: int) -> None:
    found = verdict(machine, "socket", (family | high << 32, 1, 0), network=network)

    assert found == ("allow" if network and family in {2, 10} else errno.EAFNOSUPPORT)


@pytest.mark.parametrize("machine", MACHINES)
@given(flags=U64)
def test_processes_can_be_made_and_namespaces_cannot(machine: str, flags: int) -> None:
    assert verdict(machine, "clone", (flags,)) == (errno.EPERM if flags & 0x7E020000 else "allow")


@pytest.mark.parametrize("machine", MACHINES)
@given(high=st.integers(0, 2**32 - 1))
def test_typing_into_the_terminal_is_refused_whatever_stands_in_the_upper_half(machine: str, high: int) -> None:
    for command, found in ((0x5412, errno.EPERM), (0x541C, errno.EPERM), (0x5413, "allow")):
        assert verdict(machine, "ioctl", (0, command | high << 32)) == found


@pytest.mark.parametrize("machine", MACHINES)
@given(mode=U64)
def test_set_id_bits_are_refused(machine: str, mode: int) -> None:
    wanted = errno.EPERM if mode & 0o6000 else "allow"

    assert verdict(machine, "fchmod", (3, mode)) == wanted
    assert verdict(machine, "fchmodat2", (3, 0, mode)) == wanted
    assert verdict(machine, "mknodat", (3, 0, mode)) == wanted
    assert verdict(machine, "openat", (3, 0, 0o100, mode)) == wanted
    assert verdict(machine, "openat", (3, 0, 0, mode)) == "allow"


@given(mode=U64)
def test_set_id_bits_are_refused_in_the_older_calls(mode: int) -> None:
    wanted = errno.EPERM if mode & 0o6000 else "allow"

    assert verdict("x86_64", "chmod", (0, mode)) == wanted
    assert verdict("x86_64", "creat", (0, mode)) == wanted
    assert verdict("x86_64", "open", (0, 0o101, mode)) == wanted


FOR_THE_SHELL = frozenset(
    {
        *("accept", "accept4", "bind", "connect", "inotify_init", "inotify_init1", "listen", "pidfd_open"),
        *("pidfd_send_signal", "sync", "syncfs"),
        "shmctl",
        "shmget",
        "memfd_secret",
        "msgctl",
        "msgrcv",
        "msgget",
        "shmdt",
        "shmat",
        "fork",
        "semop",
        "semget",
        "mq_open",
        "semctl",
        "msgsnd",
        "vfork",
        "memfd_create",
        "semtimedop",
    }
)


def code_verdict(machine: str, name: str | int, *arguments: int) -> int | str:
    """Return what the filter for code answers."""
    known = MACHINES[machine]
    number = known.numbers[name] if isinstance(name, str) else name
    return answer(code_filter(known), known.audit_arch, number, arguments)


@pytest.mark.parametrize("machine", MACHINES)
def test_every_other_call_it_knows_is_refused(machine: str) -> None:
    looked_at = {"socket", "clone", "ioctl", "chmod", "fchmod", "fchmodat", "fchmodat2", "creat", "mknod", "mknodat"}
    looked_at |= {"open", "openat", "prctl", "getsockopt", "setrlimit", "prlimit64"}
    for name in set(MACHINES[machine].numbers) - looked_at:
        refused = errno.ENOSYS if name in {"clone3", "openat2"} else errno.EPERM
        assert verdict(machine, name) == ("allow" if name in FOR_THE_SHELL else refused), name
        assert code_verdict(machine, name) == refused, name


@pytest.mark.parametrize("machine", MACHINES)
@given(family=st.integers(0, 2**32 - 1), high=st.integers(0, 2**32 - 1))
def test_code_has_no_sockets_at_all(machine: str, family: int, high: int) -> None:
    assert code_verdict(machine, "socket", family | high << 32, 1, 0) == errno.EAFNOSUPPORT


@pytest.mark.parametrize("machine", MACHINES)
@given(flags=U64)
def test_code_can_make_threads_and_no_processes(machine: str, flags: int) -> None:
    is_thread = flags & 0x10000 and not flags & 0x7E020000

    assert code_verdict(machine, "clone", flags) == ("allow" if is_thread else errno.EPERM)


@pytest.mark.parametrize("machine", MACHINES)
def test_code_of_another_processor_is_killed_and_the_x32_range_is_empty(machine: str) -> None:
    program = code_filter(MACHINES[machine])

    assert len(program) // 8 < 4096
    assert answer(program, 0x40000003, 11, ()) == "kill"
    assert code_verdict("x86_64", 0x40000000 + 59) == errno.ENOSYS


@pytest.mark.parametrize("machine", MACHINES)
@given(high=st.integers(0, 2**32 - 1))
def test_code_cannot_type_into_a_terminal_either(machine: str, high: int) -> None:
    for command, found in ((0x5412, errno.EPERM), (0x541C, errno.EPERM), (0x5413, "allow")):
        assert code_verdict(machine, "ioctl", 0, command | high << 32) == found


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("name", "position", "value"),
    [("prctl", 0, 1), ("getsockopt", 2, 77), ("setrlimit", 0, 4), ("prlimit64", 1, 4)],
)
@given(high=st.integers(0, 2**32 - 1))
def test_code_can_neither_outlive_the_agent_nor_hold_it_nor_dump_core(
    machine: str, name: str, position: int, value: int, high: int
) -> None:
    """One value of one argument; the upper half of it is not looked at, as the kernel does not either."""
    before = (0,) * position

    assert code_verdict(machine, name, *before, value | high << 32) == errno.EPERM
    assert code_verdict(machine, name, *before, value + 1) == "allow"
    assert verdict(machine, name, (*before, value)) == "allow"
