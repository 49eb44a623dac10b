"""A plain function of a plugin that never returns takes nothing from others, and the program can end."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading

import pytest

from myclaw_core.messages import N_
from myclaw_core.runtime.received import guarded_in_thread
from myclaw_core.runtime.threads import in_own_thread

GUARD_S = 20
MORE_THAN_A_POOL = 40
LEAVES_ONE_BEHIND = """
import asyncio, threading
from myclaw_core.runtime.threads import in_own_thread

async def main():
    begun = threading.Event()
    call = asyncio.ensure_future(in_own_thread(lambda: (begun.set(), threading.Event().wait())))
    while not begun.is_set():
        await asyncio.sleep(0)
    call.cancel()

asyncio.run(main())
print("ended")
"""


async def test_however_many_hang_the_next_one_runs() -> None:
    let_go = threading.Event()
    hanging = [asyncio.ensure_future(in_own_thread(let_go.wait)) for _ in range(MORE_THAN_A_POOL)]
    try:
        async with asyncio.timeout(GUARD_S):
            assert await guarded_in_thread(N_("the tool"), lambda: "well") == "well"
            assert await asyncio.to_thread(lambda: "well") == "well"
    finally:
        for call in hanging:
            call.cancel()
        let_go.set()


def test_the_program_ends_although_one_hangs() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LEAVES_ONE_BEHIND], capture_output=True, text=True, timeout=GUARD_S, check=True
    )
    assert (done.stdout, done.stderr) == ("ended\n", "")


async def test_what_it_raises_comes_through() -> None:
    with pytest.raises(ZeroDivisionError):
        await in_own_thread(lambda: 1 // 0)
