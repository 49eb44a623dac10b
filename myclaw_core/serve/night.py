"""The work of the night as a job of the daemon, and whatever else becomes due by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta, tzinfo

from myclaw_core.agent import Agent
from myclaw_core.clock import local_zone
from myclaw_core.door import thresholds_of
from myclaw_core.errors import MyclawError
from myclaw_core.messages import N_
from myclaw_core.nightly.happened import NIGHTLY_JOB
from myclaw_core.nightly.nights import next_night
from myclaw_core.nightly.proposing import Proposing
from myclaw_core.nightly.run import NightlyWork, run_nightly
from myclaw_core.serve.health import Board
from myclaw_core.serve.jobs import Job
from myclaw_core.types.text import Text, joined
from myclaw_core.undo.sweep import UndoSweeper

__all__ = ["core_jobs"]

_RETRY_S = (600.0, 3600.0)


def core_jobs(agent: Agent, board: Board, zone: Callable[[], tzinfo] = local_zone) -> Sequence[Job]:
    """Return what the core has to do by itself.

    Args:
        board: Is told of each night.
        zone: Where the person's nights are; asked each time, as they may travel.
    """

    async def night() -> Text | None:
        await _checkpoint(agent)
        await agent.follower.catch_up()
        report = await run_nightly(_work(agent, zone()))
        problem = joined(report.problems) if report.problems else None
        board.night(report.night.isoformat(), problem)
        if problem is not None:
            raise MyclawError(problem)
        return None

    return (
        Job(
            name=NIGHTLY_JOB,
            next_after=lambda after: next_night(after, zone()),
            run=night,
            begins_at=agent.clock.now() - timedelta(days=1),
            retry_s=_RETRY_S,
            repeatable=True,
        ),
    )


def _work(agent: Agent, zone: tzinfo) -> NightlyWork:
    return NightlyWork(
        log=agent.log,
        book=agent.book,
        backend=agent.book.backend,
        dispatcher=agent.dispatcher,
        clock=agent.clock,
        thresholds=thresholds_of(agent.home, agent.dispatcher),
        undo=UndoSweeper.of(agent.log, agent.home, agent.clock, agent.services.config),
        zone=zone,
        proposing=Proposing.configured(agent.log, agent.clock, agent.embedding, agent.services.config),
    )


async def _checkpoint(agent: Agent) -> None:
    """Sign the log as far as it is sound: after months without a stop the next start checks one day of it, not all."""
    report = await agent.log.checkpoint()
    if not report.ok:
        problem = report.problem or N_("unknown")
        agent.record_check.damaged(N_("the event log is not whole: {problem}", problem=problem))
