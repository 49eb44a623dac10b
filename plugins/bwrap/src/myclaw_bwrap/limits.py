"""What one command may use: per process by the kernel, in number of processes by looking."""

from __future__ import annotations

import math
import os
import resource

__all__ = ["MAX_PROCESSES", "count_processes", "limit"]

MAX_PROCESSES = 256
"""Most processes of one command; the kernel holds it for everybody but root, a look every few moments for root too."""

_MEMORY_BYTES = 4 << 30
_FILE_BYTES = 1 << 30
_FILES = 1024
_CPU_FACTOR = 4
"""CPU seconds of one process for each second of wall clock: its threads count together."""


def limit(pid: int, timeout_s: float) -> None:
    """Put the limits on a process that has not started anything yet; what it starts inherits them.

    Args:
        pid: The first process of the sandbox.
        timeout_s: Seconds of wall clock that the command has.
    """
    cpu_s = math.ceil(timeout_s * _CPU_FACTOR) + 1
    wanted = {
        resource.RLIMIT_AS: (_MEMORY_BYTES, _MEMORY_BYTES),
        resource.RLIMIT_CPU: (cpu_s, cpu_s + 1),
        resource.RLIMIT_NOFILE: (_FILES, _FILES),
        resource.RLIMIT_FSIZE: (_FILE_BYTES, _FILE_BYTES),
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_NPROC: (MAX_PROCESSES, MAX_PROCESSES),
    }
    for kind, (soft, hard) in wanted.items():
        allowed = resource.prlimit(pid, kind)[1]
        ceiling = hard if allowed == resource.RLIM_INFINITY else min(hard, allowed)
        resource.prlimit(pid, kind, (min(soft, ceiling), ceiling))


def count_processes(pid: int) -> int:
    """Return how many processes the sandbox with the first process `pid` holds; 0 where it cannot be looked at."""
    try:
        return sum(name.isdigit() for name in os.listdir(f"/proc/{pid}/root/proc"))  # noqa: PTH208
    except OSError:
        return 0
