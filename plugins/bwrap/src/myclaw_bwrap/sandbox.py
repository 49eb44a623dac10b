"""The sandbox of the slot: whether it can run here, and the runs themselves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from myclaw_bwrap.interpreter import Interpreter
from myclaw_bwrap.probe import BWRAP, code_problem_of, could_not_be_tried, problem_of
from myclaw_core.clock import Clock
from myclaw_core.errors import UnavailableError
from myclaw_core.sandbox.code import CodeJob, Running, not_available
from myclaw_core.sandbox.sandbox import ShellJob, ShellRun
from myclaw_core.types.text import Text

__all__ = ["Bubblewrap"]


class Bubblewrap:
    """Runs commands and code by bubblewrap.

    Args:
        clock: Time.
        program: Where bubblewrap lies; never looked for on the PATH, where anybody can put another one.
        interpreter: What runs code; the one that runs this by default.
    """

    def __init__(self, clock: Clock, program: str = BWRAP, interpreter: Interpreter | None = None) -> None:
        self._clock = clock
        self._program = program
        self._interpreter = interpreter or Interpreter.here()
        self._works = False
        self._holds_code = False

    def missing(self) -> Text | None:
        """Return one line that says why nothing can run here and what to do, or `None`; it tries until it works."""
        if self._works:
            return None
        problem = problem_of(self._program)
        self._works = problem is None
        return problem

    async def run(self, job: ShellJob) -> ShellRun:
        """Run a job; nothing of it is alive when this returns or raises.

        Raises:
            UnavailableError: What `missing` says.
        """
        problem = self.missing()
        if problem is not None:
            raise UnavailableError(problem)
        from myclaw_bwrap.run import Run

        return await Run(job, self._clock, self._program).result()

    def missing_for_code(self) -> Text | None:
        """Return the same as `missing` for code; it tries until it works."""
        if self._holds_code:
            return None
        problem = code_problem_of(self._program, self._interpreter)
        self._holds_code = problem is None
        return problem

    @asynccontextmanager
    async def start(self, job: CodeJob) -> AsyncIterator[Running]:
        """Run code while the context lasts; nothing of it is alive afterwards.

        Raises:
            UnavailableError: What `missing_for_code` says.
        """
        problem = None if self._holds_code else await asyncio.to_thread(self.missing_for_code)
        if problem is not None:
            raise UnavailableError(problem)
        from myclaw_bwrap.code_run import CodeRun

        async with AsyncExitStack() as stack:
            try:
                run = CodeRun(job, self._clock, self._program, self._interpreter)
                stack.push_async_callback(run.close)
                await run.begin()
            except OSError as error:
                raise UnavailableError(not_available(could_not_be_tried(self._program, error))) from error
            yield run
