"""An agent that tests without a loop of their own start, stop, kill after one of its commits, and start anew."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from myclaw_core.agent import Agent
from myclaw_core.approval import gateway
from myclaw_core.approval import records as approvals
from myclaw_core.budget import ledger
from myclaw_core.outbox import outbox
from myclaw_core.paths import Home
from myclaw_core.runtime import recorder, recovery
from myclaw_core.testing import FakeClock

__all__ = ["KilledError", "MortalProgram"]

_WHO_AM_I = (approvals, ledger, outbox, recorder)
_WHO_LIVES = (gateway, ledger, outbox, recovery)


class KilledError(BaseException):
    """Raised where the process is taken to end."""


class MortalProgram:
    """One home and the agent that is open there; each start is another process.

    Attributes:
        agent: What is open; not there before the first start.
        fatal: After so many commits from now on the process ends; never where it is 0.
        dead: Whether it has ended so.
    """

    agent: Agent

    def __init__(self) -> None:
        self._folder = TemporaryDirectory()
        self.home = Home.at(Path(self._folder.name) / "home")
        self.clock = FakeClock()
        self.fatal = 0
        self.dead = False
        self._process = 0
        self._patch = pytest.MonkeyPatch()
        for module in _WHO_AM_I:
            self._patch.setattr(module, "this_process", lambda: f"process {self._process}")
        for module in _WHO_LIVES:
            self._patch.setattr(module, "is_alive", lambda owner: owner == f"process {self._process}")
        self._runner = asyncio.Runner()
        self._stack = AsyncExitStack()
        self._todo: asyncio.Queue[tuple[Coroutine[Any, Any, Any], asyncio.Future[Any]]] = asyncio.Queue()
        self._worker = self._runner.run(self._employed())

    def do(self, what: Coroutine[Any, Any, Any]) -> Any:
        """Return what a coroutine returns; all of them run in one task, as in a program."""

        async def wait() -> Any:
            done = asyncio.get_running_loop().create_future()
            self._todo.put_nowait((what, done))
            return await done

        return self._runner.run(wait())

    def start(self, config: str) -> None:
        """Open the agent with this configuration."""
        self.home.root.mkdir(parents=True, exist_ok=True)
        self.home.config_file.write_text(config, encoding="utf-8")
        self.do(self._start())

    def stop(self) -> None:
        """Close the agent; one that is dead writes nothing any more."""
        self.do(self._stop())

    def close(self) -> None:
        """Close everything."""
        self.stop()
        self._worker.cancel()
        self._runner.close()
        self._patch.undo()
        self._folder.cleanup()

    async def _employed(self) -> asyncio.Task[None]:
        return asyncio.create_task(self._work())

    async def _work(self) -> None:
        while True:
            what, done = await self._todo.get()
            try:
                done.set_result(await what)
            except BaseException as error:
                done.set_exception(error)

    async def _start(self) -> None:
        self._process += 1
        self._stack, self.dead = AsyncExitStack(), False
        self.agent = await self._stack.enter_async_context(Agent.open(self.home, clock=self.clock))
        await self.agent.record_check.ready()
        self._instrument()

    def _instrument(self) -> None:
        store = self.agent.log._store
        plain, self.fatal = store.transaction, 0

        @asynccontextmanager
        async def transaction() -> AsyncIterator[Any]:
            if self.dead:
                raise KilledError
            async with plain() as tx:
                yield tx
            self.fatal -= 1
            if self.fatal == 0:
                self.dead = True
                raise KilledError

        store.transaction = transaction  # type: ignore[method-assign]

    async def _stop(self) -> None:
        with suppress(*((KilledError, Exception) if self.dead else ())):
            await self._stack.aclose()
