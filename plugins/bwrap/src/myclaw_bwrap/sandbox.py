"""The sandbox of the slot: whether it can run here, and the runs themselves."""

from __future__ import annotations

from myclaw_bwrap.probe import BWRAP, problem_of
from myclaw_core.clock import Clock
from myclaw_core.errors import UnavailableError
from myclaw_core.sandbox.sandbox import ShellJob, ShellRun
from myclaw_core.types.text import Text

__all__ = ["Bubblewrap"]


class Bubblewrap:
    """Runs commands by bubblewrap.

    Args:
        clock: Time.
        program: Where bubblewrap lies; never looked for on the PATH, where anybody can put another one.
    """

    def __init__(self, clock: Clock, program: str = BWRAP) -> None:
        self._clock = clock
        self._program = program
        self._works = False

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
