"""Names a process so that what a dead one left behind (a reservation, an open turn) can be found."""

from __future__ import annotations

import os
import re
from pathlib import Path

__all__ = ["is_alive", "is_left_behind", "temporary_name", "this_boot", "this_process"]

_DEAD_STATES = frozenset("ZX")
_TEMPORARY = re.compile(r"\.myclaw-(.*)-[0-9]+\.tmp", re.DOTALL)


def this_process() -> str:
    """Return a name of this process that no other process of this machine ever has: boot, pid, start."""
    pid = os.getpid()
    return f"{this_boot()}:{pid}:{_start(pid)}"


def is_alive(owner: str) -> bool:
    """Return whether the process that `this_process` named `owner` still runs."""
    boot, _, rest = owner.partition(":")
    pid, _, start = rest.partition(":")
    return boot == this_boot() and pid.isdecimal() and start != "" and start == _start(int(pid))


def temporary_name(number: int) -> str:
    """Return the name of something that is being made by this process, beside the place where it will be."""
    return f".myclaw-{this_process()}-{number}.tmp"


def is_left_behind(name: str) -> bool:
    """Return whether a file was being made, as `temporary_name` names it, by a process that is gone."""
    match = _TEMPORARY.fullmatch(name)
    return match is not None and not is_alive(match[1])


def this_boot() -> str:
    """Return a name of this start of the machine; empty where it has none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _start(pid: int) -> str:
    """Return when the kernel started a process, in ticks; empty where it does not run."""
    try:
        # The second field is the program's name in brackets and may hold anything.
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in _DEAD_STATES else fields[19]
