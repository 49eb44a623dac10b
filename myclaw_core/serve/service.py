"""Runs messengers and scheduled work over one agent until it is told to stop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from functools import partial

from attrs import field, frozen

from myclaw_core.agent import Agent
from myclaw_core.errors import MyclawError
from myclaw_core.messages import N_
from myclaw_core.plugins.contain import PluginError, contained, one_line
from myclaw_core.runtime.messenger import Messenger
from myclaw_core.runtime.offers import keep_offering
from myclaw_core.serve.designs import keep_designing
from myclaw_core.serve.health import Board
from myclaw_core.serve.jobs import Job, run_jobs
from myclaw_core.serve.lock import Owner
from myclaw_core.serve.neurons import keep_neurons
from myclaw_core.serve.night import core_jobs
from myclaw_core.serve.supervisor import supervise
from myclaw_core.sessions.sessions import Sessions
from myclaw_core.types.text import Text

__all__ = ["Service"]

STOP_S = 20.0
"""So long parts may take to stop; what has not stopped then is left to the end of the process."""
_MISSING_S = 5.0

_log = logging.getLogger("myclaw.serve")


@frozen(kw_only=True)
class Service:
    """The daemon over an opened agent.

    Attributes:
        messengers: All that there are, also those that lack something.
        owner: This process, as the lock names it.
        tell: Shows a line on what is run.
    """

    agent: Agent
    messengers: Mapping[str, Messenger]
    owner: Owner
    tell: Callable[[Text], None]
    _tasks: dict[str, asyncio.Task[None]] = field(factory=dict, init=False)

    async def run(self, stop: asyncio.Event) -> None:
        """Serve until `stop` is set, then end every part in order.

        Raises:
            MyclawError: A part that everything rests on broke, or could not begin.
        """
        agent = self.agent
        missing = dict(_missing(self.messengers))
        running = {name: messenger for name, messenger in self.messengers.items() if name not in missing}
        board = Board(agent.home, self.owner, agent.clock)
        board.missing(N_("{messenger}: {missing}", messenger=name, missing=line) for name, line in missing.items())
        watches = {name: board.watch(name) for name in running}
        sessions = Sessions(agent, running, lambda name, health: watches[name].told(health))
        jobs = core_jobs(agent, board)
        try:
            await sessions.start()
            for name, messenger in running.items():
                serve = partial(messenger.serve, sessions.reception(name))
                self._begin(f"messenger {name}", supervise(serve, watches[name], agent.clock))
            self._begin("jobs", run_jobs(jobs, agent.log, agent.clock))
            self._begin("questions", keep_offering(agent, sessions.news_channels))
            self._begin("neurons", keep_neurons(agent, sessions.news_channels))
            self._begin("designs", keep_designing(agent, sessions.news_channels))
            self._begin("health", board.beat())
            board.write()
            self._tell(running, missing, jobs)
            await self._until(stop)
        finally:
            await self._end(sessions)
        board.close()

    def _begin(self, name: str, part: Coroutine[None, None, None]) -> None:
        self._tasks[name] = asyncio.create_task(part)

    def _tell(self, running: Mapping[str, Messenger], missing: Mapping[str, Text], jobs: Sequence[Job]) -> None:
        for name in running:
            self.tell(N_("messenger {messenger}: runs", messenger=name))
        for name, line in missing.items():
            self.tell(N_("messenger {messenger}: does not run: {missing}", messenger=name, missing=line))
        if not running:
            self.tell(N_("no messenger runs, only what is due by itself; 'myclaw setup' sets one up"))
        for job in jobs:
            due = job.next_after(self.agent.clock.now())
            self.tell(N_("{job}: next at {at}", job=job.name, at=f"{due:%Y-%m-%d %H:%M} UTC"))
        self.tell(N_("ready: process {pid} serves {home}", pid=self.owner.pid, home=str(self.agent.home.root)))

    async def _until(self, stop: asyncio.Event) -> None:
        """Wait until `stop` is set.

        Raises:
            MyclawError: A part ended, which none does by itself.
        """
        stopped = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({stopped, *self._tasks.values()}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopped.cancel()
        for name, task in self._tasks.items():
            if task.done() and not stop.is_set():
                error = None if task.cancelled() else task.exception()
                why = one_line(error) if error else "it ended"
                raise MyclawError(N_("a part of the service broke, so that it ends: {part}: {why}", part=name, why=why))

    async def _end(self, sessions: Sessions) -> None:
        """Stop turns while their messengers can still tell of it, then everything else."""
        await _ended({"turns": asyncio.create_task(sessions.stop())})
        for task in self._tasks.values():
            task.cancel()
        await _ended(self._tasks)


async def _ended(tasks: Mapping[str, asyncio.Task[None]]) -> None:
    """Wait for the end of parts, not for ever; how each ended changes nothing but is told."""
    if tasks:
        await asyncio.wait(tasks.values(), timeout=STOP_S)
    for name, task in tasks.items():
        if not task.done():
            _log.warning("%s: did not stop within %.0f s", name, STOP_S)
        elif not task.cancelled() and (error := task.exception()) is not None:
            _log.warning("%s: broke: %s", name, one_line(error))


def _missing(messengers: Mapping[str, Messenger]) -> Iterator[tuple[str, Text]]:
    """Yield what each messenger lacks that cannot run; one that cannot even say so is one of them."""
    for name, messenger in messengers.items():
        try:
            line = contained(messenger.missing, _MISSING_S)
        except PluginError as error:
            line = error.text
        if line is not None:
            yield name, line
