"""Runs one command in the sandbox, in a process that a test kills: `FOLDER COMMAND`."""

import asyncio
import sys

from myclaw_bwrap.sandbox import Bubblewrap

from myclaw_core.clock import SystemClock
from myclaw_core.sandbox.sandbox import ShellJob

if __name__ == "__main__":
    folder, command = sys.argv[1:]
    job = ShellJob(
        command=command,
        mode="write",
        roots=(folder,),
        write_root=folder,
        cwd=folder,
        timeout_s=60,
        output_limit_bytes=1000,
    )
    asyncio.run(Bubblewrap(SystemClock()).run(job))
