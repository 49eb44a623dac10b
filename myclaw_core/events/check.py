"""The whole record is checked in the background at each start; until it is whole nothing is promoted."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from myclaw_core.errors import StoreError
from myclaw_core.events.log import EventLog
from myclaw_core.messages import N_
from myclaw_core.types.text import Text

__all__ = ["RecordCheck"]

PATIENCE_S = 2.0
"""How long a first turn waits for the check; a longer record is checked while the turn already runs and asks."""

_log = logging.getLogger("myclaw.events")


class RecordCheck:
    """Checks one event log, the tail at once and the rest meanwhile, and remembers what else was found damaged.

    Args:
        log: The event log.
        further: What else is checked with the rest; each returns what is wrong, or `None`.

    Attributes:
        behind: Why trust does not know the newest events, or `None`.
    """

    def __init__(self, log: EventLog, further: Sequence[Callable[[EventLog], Awaitable[Text | None]]] = ()) -> None:
        self._event_log = log
        self._further = further
        self._task: asyncio.Task[None] | None = None
        self._unchecked: Text | None = N_("the record is still being checked")
        self._damage: Text | None = None
        self.behind: Text | None = None

    @property
    def problem(self) -> Text | None:
        """Return why the record cannot be relied on now, or `None`."""
        return self._damage or self._unchecked or self.behind

    def damaged(self, problem: Text) -> None:
        """Rely on the record no more in this run: a part of it cannot be read; it is kept as evidence."""
        self._damage = self._damage or problem
        _log.critical("%s; every action asks, nothing was changed", problem)

    async def start(self) -> Text | None:
        """Check the tail, begin to check the rest, and return what is wrong with the tail."""
        report = await self._event_log.verify_tail()
        if not report.ok:
            self._found(report.problem)
            return self._damage
        self._task = asyncio.create_task(self._check_all())
        return None

    async def ready(self) -> None:
        """Wait a little for the check to end."""
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=PATIENCE_S)

    async def stop(self) -> None:
        """End the check; what it has not seen is checked at the next start."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _check_all(self) -> None:
        try:
            report = await self._event_log.verify()
            problems = [await check(self._event_log) for check in self._further]
        except StoreError as error:
            self._found(error.text)
            return
        if not report.ok:
            self._found(report.problem)
        for problem in filter(None, problems):
            self.damaged(problem)
        if self._damage is None:
            self._unchecked = None

    def _found(self, problem: Text | None) -> None:
        self.damaged(N_("the event log is not whole: {problem}", problem=problem or N_("unknown")))
