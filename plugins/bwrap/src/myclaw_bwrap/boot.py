"""Runs inside the sandbox before the code: limits the process for good, then runs the code and notes what it used.

`boot.py MAIN CHANNEL START NOTE MEMORY_BYTES CPU_S FILE_BYTES OPEN_FILES MEMORY_EXIT_CODE`.
It imports nothing that is slow.
"""

import os
import resource
import select
import sys

__all__ = ["main"]

_MAX_THREADS = 64


def main() -> None:
    """Run the code; what it raises is for the interpreter, but for a lack of memory."""
    path = sys.argv[1]
    channel, start, note, memory_bytes, cpu_s, file_bytes, files, memory_exit_code = map(int, sys.argv[2:])
    os.dup2(channel, 0)
    os.close(channel)
    _require_host()
    _limit(memory_bytes, cpu_s, file_bytes, files)
    os.write(start, b".")
    os.close(start)
    sys.argv[:] = [path]
    module = sys.modules["__main__"] = type(sys)("__main__")
    module.__file__ = path
    names = module.__dict__
    out_of_memory = False
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib is slow to import
            code = compile(file.read(), path, "exec")
        exec(code, names)  # noqa: S102 - that is what it is for
    except MemoryError:
        out_of_memory = True  # what holds the memory is let go with the error
    finally:
        if not out_of_memory:
            _write_peak(note)
    if out_of_memory:
        names.clear()
        _write_peak(note)
        os._exit(memory_exit_code)


def _require_host() -> None:
    """End where the agent died before the sandbox could be tied to its life: nobody holds the channel's other end."""
    poll = select.poll()
    poll.register(0, select.POLLRDHUP)
    if poll.poll(0):
        os._exit(1)


def _limit(memory_bytes: int, cpu_s: int, file_bytes: int, files: int) -> None:
    for kind, most in (
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_CPU, cpu_s),
        (resource.RLIMIT_FSIZE, file_bytes),
        (resource.RLIMIT_NOFILE, files),
        (resource.RLIMIT_NPROC, _MAX_THREADS),
    ):
        hard = resource.getrlimit(kind)[1]
        value = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (value, value))


def _write_peak(note: int) -> None:
    """Note the peak memory, unless the code has left no descriptor for that."""
    try:
        with open("/proc/self/status", "rb") as status:  # noqa: PTH123 - as above
            for line in status:
                if line.startswith(b"VmHWM:"):
                    os.pwrite(note, line.split()[1] + b" ", 0)
    except OSError:
        pass


if __name__ == "__main__":
    main()
