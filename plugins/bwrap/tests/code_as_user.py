"""Runs code in the sandbox as an ordinary user and prints the report: `UID CODE LIMITS`."""

import asyncio
import json
import os
import sys

from myclaw_bwrap.sandbox import Bubblewrap

from myclaw_core.clock import SystemClock
from myclaw_core.sandbox.code import CodeJob, CodeLimits


async def main(code: str, limits: str) -> None:
    """Run it once."""
    settings = {"wall_s": 20.0} | json.loads(limits)
    job = CodeJob(files={"main.py": code.encode()}, main="main.py", limits=CodeLimits(**settings))
    async with Bubblewrap(SystemClock()).start(job) as running:
        report = await running.report()
    names = ("outcome", "exit_code", "stdout", "stderr", "cpu_s")
    sys.stdout.write(json.dumps({name: getattr(report, name) for name in names}))


if __name__ == "__main__":
    uid = int(sys.argv[1])
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    asyncio.run(main(*sys.argv[2:]))
