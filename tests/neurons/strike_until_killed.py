"""Counts the third strike in processes that kill themselves, one at each SQL statement and rename: `FOLDER`.

Each works in a copy of one home until one gets through; the answer on stdout tells of each.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from adopted_neurons import opened_neurons, run_of

from myclaw_core.paths import Home
from myclaw_core.testing import FakeClock


class Dying:
    """Counts events of the interpreter that touch a database or a file name, and kills the process at one of them."""

    def __init__(self, fatal: int) -> None:
        self.fatal = fatal
        self.seen = 0

    def step(self, *_: object) -> int:
        self.seen += 1
        if self.seen == self.fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        return 0


async def prepare(home: Home) -> None:
    async with opened_neurons(home, FakeClock()) as neurons:
        await neurons.adopt()
        await neurons.book.refresh()
        for _ in range(2):
            await neurons.book.ran(neurons.neuron(), run_of("failed"))


async def strike(home: Home, fatal: int) -> None:
    """Count one more, dying at the statement of that number."""
    dying = Dying(fatal)
    real = sqlite3.connect

    def traced(*args: object, **more: object) -> sqlite3.Connection:
        connection = real(*args, **more)  # type: ignore[call-overload]
        connection.set_trace_callback(dying.step)
        return connection  # type: ignore[no-any-return]

    async with opened_neurons(home, FakeClock()) as neurons:
        await neurons.book.refresh()
        neuron = neurons.neuron()
        await neurons.log.close()
        sqlite3.connect = traced  # type: ignore[assignment]
        await neurons.log.open()
        await neurons.book.ran(neuron, run_of("timeout"))
        sqlite3.connect = real


def main(folder: Path) -> None:
    first = Home.at(folder / "0")
    asyncio.run(prepare(first))
    died = []
    for fatal in range(1, 200):
        home = folder / str(fatal)
        shutil.copytree(folder / "0", home)
        command = [sys.executable, __file__, str(home), str(fatal)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        died.append({"home": str(home), "code": done.returncode, "said": done.stderr[-400:]})
        if done.returncode == 0:
            break
    print(json.dumps(died))


if __name__ == "__main__":
    if len(sys.argv) == 3:
        asyncio.run(strike(Home.at(Path(sys.argv[1])), int(sys.argv[2])))
    else:
        main(Path(sys.argv[1]))
