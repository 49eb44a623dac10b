"""Runs code in the sandbox, in a process that a test kills: `NAME`; says `up` once the code has tried to outlive it."""

import asyncio
import sys

from myclaw_bwrap.sandbox import Bubblewrap

from myclaw_core.clock import SystemClock
from myclaw_core.sandbox.code import CodeJob


async def main(name: str) -> None:
    """Run until killed."""
    code = b"import ctypes, os, time; ctypes.CDLL(None).prctl(1, 0); os.write(0, bytes(4)); time.sleep(60)"
    async with Bubblewrap(SystemClock()).start(CodeJob(files={name: code}, main=name)) as running:
        await anext(aiter(running))
        sys.stdout.write("up\n")
        sys.stdout.flush()
        await running.report()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
