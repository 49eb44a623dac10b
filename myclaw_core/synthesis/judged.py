"""Asks the judge of the slot about a draft; it is heard where it was measured good enough and wrote none of it."""

from __future__ import annotations

from attrs import frozen

from myclaw_core.errors import MyclawError
from myclaw_core.judging.item import item_of
from myclaw_core.judging.judge import LocalModel
from myclaw_core.judging.seat import JudgeSeat
from myclaw_core.judging.types import Judgement
from myclaw_core.messages import N_
from myclaw_core.runtime.scoring import LocalCaller
from myclaw_core.synthesis.reward import RewardDraft
from myclaw_core.synthesis.run import DesignRun
from myclaw_core.synthesis.types import Synthesis
from myclaw_core.types.text import Text

__all__ = ["Judged", "judged"]

_PURPOSE = "judge"


@frozen(kw_only=True)
class Judged:
    """What became of asking a judge.

    Attributes:
        judgement: What it says; `None` where none is heard.
        judge: Who said it, with the model; why nobody is heard where there is no judgement.
    """

    judgement: Judgement | None
    judge: Text


async def judged(run: DesignRun, synthesis: Synthesis, draft: RewardDraft) -> Judged:
    """Return what the judge says of a draft; it fails no draft by failing itself.

    Raises:
        asyncio.CancelledError: The run was cancelled.
    """
    agent = run.agent
    try:
        seat = JudgeSeat.of(agent.dispatcher.judge(agent.services.config.slots.judge), agent.log, agent.clock)
        item = item_of(draft.manifest, draft.files)
        local = _local(run)
        said = await seat.judgement(item, local, synthesis.models)
    except MyclawError as error:
        return Judged(judgement=None, judge=error.text)
    if isinstance(said, Text):
        return Judged(judgement=None, judge=said)
    model = local.model if local else ""
    return Judged(
        judgement=said, judge=N_("{name} ({rubric}) with {model}", name=seat.name, rubric=seat.rubric, model=model)
    )


def _local(run: DesignRun) -> LocalModel | None:
    services = run.agent.services
    return LocalCaller(services, run.turn, run.recorder, run.channel, _PURPOSE) if services.local else None
