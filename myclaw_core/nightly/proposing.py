"""The work of a night that looks for what fails again and again, and proposes a neuron about it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from attrs import frozen

from myclaw_core.clock import Clock
from myclaw_core.config import Config
from myclaw_core.embedding.book import EmbeddingBook
from myclaw_core.events.log import EventLog
from myclaw_core.messages import N_
from myclaw_core.synthesis.failed_goals import REMEMBERED, FailedGoal, failed_goals
from myclaw_core.synthesis.goals import like
from myclaw_core.synthesis.patterns import patterns
from myclaw_core.synthesis.rests import resting
from myclaw_core.synthesis.store import SYNTHESIS_KIND, request_in, standing
from myclaw_core.synthesis.types import InternalProposal, SynthesisRequest
from myclaw_core.types.text import Text

__all__ = ["Proposing"]

_MOST_A_NIGHT = 3
"""How many directions are put to the person at once; what is left comes with the next night."""
_MOST_SHOWN_CHARS = 160


@frozen(kw_only=True)
class Proposing:
    """Proposes neurons about what fails again and again.

    Attributes:
        budget_cents: Most EUR cents that a design may cost.
    """

    log: EventLog
    clock: Clock
    embedding: EmbeddingBook
    budget_cents: float

    @classmethod
    def configured(cls, log: EventLog, clock: Clock, embedding: EmbeddingBook, config: Config) -> Proposing:
        """Return it as the configuration says what a design may cost."""
        return cls(log=log, clock=clock, embedding=embedding, budget_cents=config.synthesis.budget_eur * 100)

    async def propose(self, now: datetime) -> None:
        """Record a proposal for each new pattern; doing it twice changes nothing.

        Failures count for one pattern only: those that a design is about that is under way do not, nor do those from
        before the end of one that is over. A goal that rests is left alone. Where another process changes the designs
        at the same moment nothing is proposed until the next night.

        Raises:
            StoreError: The log cannot be read or written.
        """
        before = list(await self.log.scan(SYNTHESIS_KIND))
        goals = await self._uncovered(await failed_goals(self.log, now))
        found = [
            each
            for each in await patterns(goals, self.embedding, now)
            if await resting(self.log, self.embedding, each.goal, now) is None
        ]
        if not found:
            return
        senders = {each.trace_id: each.sender for each in goals}
        async with self.log.transaction() as tx:
            if list(await tx.scan(SYNTHESIS_KIND)) != before:
                return
            for proposal in found[:_MOST_A_NIGHT]:
                newest = proposal.trace_ids[-1]
                wanted = self._request(proposal)
                await request_in(tx, self.clock, wanted, senders[newest], proposal=proposal, stage="direction")

    async def lines(self, since: datetime) -> Sequence[Text]:
        """Return a line of the digest on each proposal since `since` that waits for a word.

        Raises:
            StoreError: The log cannot be read.
        """
        waiting = [each for each in await standing(self.log) if each.stage == "direction"]
        proposals = [each.proposal for each in waiting if each.proposal is not None]
        return [_line(each) for each in reversed(proposals) if each.proposed_at > since]

    async def _uncovered(self, goals: Sequence[FailedGoal]) -> Sequence[FailedGoal]:
        """Return the failures that no design was or is about."""
        texts = [each.goal for each in goals]
        covered: set[int] = set()
        for each in await standing(self.log):
            places = await like(each.request.goal, texts, self.embedding)
            covered |= {place for place in places if each.stage != "ended" or goals[place].at <= each.at}
        return [each for place, each in enumerate(goals) if place not in covered]

    def _request(self, proposal: InternalProposal) -> SynthesisRequest:
        return SynthesisRequest(
            goal=proposal.goal,
            trace_id=proposal.trace_ids[-1],
            mode="internal",
            capability_hint=list(proposal.capability_hint),
            budget_cents=self.budget_cents,
        )


def _line(proposal: InternalProposal) -> Text:
    goal = proposal.goal
    return N_(
        "failed {n} times in {days} days: {goal}; 'myclaw neurons proposals' shows what may be designed",
        n=len(proposal.trace_ids),
        days=REMEMBERED.days,
        goal=goal if len(goal) <= _MOST_SHOWN_CHARS else f"{goal[:_MOST_SHOWN_CHARS]}…",
    )
