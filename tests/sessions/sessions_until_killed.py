"""Receives and runs messages in processes that kill themselves, one after each commit: `FOLDER`.

Each process works in a home of its own, a copy of `FOLDER/0`, until one gets through.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from messengers import FakeMessenger, until

from myclaw_core.agent import Agent
from myclaw_core.paths import Home
from myclaw_core.sessions.pairing import Pairing
from myclaw_core.sessions.sessions import Sessions
from myclaw_core.testing import FakeClock

MESSAGES = (("7", "Write log.md"), ("7", "Write log.md"), ("9", "/level read_only"), ("4", "Second"))


def die_after(store: Any, fatal: int) -> None:
    """Let the process end with no further word right after a commit of the core database."""
    plain, passed = store.transaction, 0

    @asynccontextmanager
    async def transaction() -> AsyncIterator[Any]:
        nonlocal passed
        async with plain() as tx:
            yield tx
        passed += 1
        if passed == fatal:
            os.kill(os.getpid(), signal.SIGKILL)

    store.transaction = transaction


async def run(folder: Path, fatal: int) -> None:
    clock = FakeClock()
    messenger = FakeMessenger(clock)
    async with Agent.open(Home.at(folder), clock=clock) as agent:
        pairing = Pairing(agent.log, clock)
        code, _ = await pairing.offer("fake", "cli:me")
        await pairing.try_code("fake", "fake:1", code, "Rosa")
        die_after(agent.log._store, fatal)
        sessions = Sessions(agent, {"fake": messenger}, lambda *_told: None)
        await sessions.start()
        reception = sessions.reception("fake")
        for key, text in MESSAGES:
            await reception.receive(messenger.incoming(text, key=key))
        await until(lambda: not sessions.busy)
        await sessions.stop()


def main(folder: Path) -> None:
    fatal = 0
    while True:
        fatal += 1
        shutil.copytree(folder / "0", folder / str(fatal))
        child = os.fork()
        if child == 0:
            asyncio.run(run(folder / str(fatal), fatal))
            os._exit(0)
        if (status := os.waitpid(child, 0)[1]) != signal.SIGKILL:
            print(fatal)
            sys.exit(status)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
