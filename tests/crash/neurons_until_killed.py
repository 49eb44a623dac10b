"""Changes neurons in processes that kill themselves, one at each point: `FOLDER adopt|rotate`.

Points lie before and after every change of a file or folder and every commit of the log. Each process works in a home
of its own, a copy of `FOLDER/before`, until one gets through; a line tells how far each came.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from adopted_neurons import AdoptedNeurons, opened_neurons
from drafted_neurons import gate_of, version_of

from myclaw_core.neurons.lock import changing_neurons
from myclaw_core.neurons.rotation import begin_rotation, complete_rotation
from myclaw_core.neurons.signing import digest_of
from myclaw_core.paths import Home
from myclaw_core.testing import FakeClock

_CHANGES = ("rename", "mkdir", "unlink", "rmdir", "fsync", "replace")


class Points:
    """Counts points and dies at one of them."""

    def __init__(self, fatal: int) -> None:
        self._fatal = fatal
        self._count = 0

    def reach(self) -> None:
        self._count += 1
        if self._count == self._fatal:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            self.reach()
            result = plain(*args, **options)
            self.reach()
            return result

        return call


def instrument(opened: AdoptedNeurons, points: Points) -> None:
    for name in _CHANGES:
        setattr(os, name, points.around(getattr(os, name)))
    plain_open, store = os.open, opened.log._store
    plain_transaction = store.transaction

    def open_(path: Any, flags: int, *args: Any, **options: Any) -> int:
        return (points.around(plain_open) if flags & os.O_CREAT else plain_open)(path, flags, *args, **options)

    @asynccontextmanager
    async def transaction() -> AsyncIterator[Any]:
        async with plain_transaction() as tx:
            yield tx
            points.reach()
        points.reach()

    os.open = open_
    store.transaction = transaction  # type: ignore[method-assign]


async def adopt(opened: AdoptedNeurons) -> None:
    """Replace the version that is there by a newer one."""
    two, base = version_of("1.1.0"), digest_of(version_of("1.0.0"))
    gate = gate_of(opened)
    await gate.admit(gate.admission.drafts.read(digest_of(two)), replaces=base)


async def rotate(opened: AdoptedNeurons) -> None:
    """Exchange the key."""
    async with changing_neurons(opened.home.state, opened.clock):
        begin_rotation(opened.home)
        await complete_rotation(opened.home, opened.log)


async def run(folder: Path, what: str, fatal: int) -> None:
    async with opened_neurons(Home.at(folder), FakeClock()) as opened:
        instrument(opened, Points(fatal))
        await {"adopt": adopt, "rotate": rotate}[what](opened)
        os._exit(0)


def main(folder: Path, what: str) -> None:
    fatal = 0
    while True:
        fatal += 1
        home = folder / str(fatal)
        shutil.copytree(folder / "before", home)
        child = os.fork()
        if not child:
            asyncio.run(run(home, what, fatal))
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
            print("killed", flush=True)
            continue
        print("done" if os.waitstatus_to_exitcode(status) == 0 else "failed", flush=True)
        return


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
