"""The two questions to the person: whether a neuron may be designed (stage 0), and whether it is let in (stage 6)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from myclaw_core.approval.revisions import answer_about
from myclaw_core.approval.types import Approval, ApprovalRequest, Reply
from myclaw_core.errors import MyclawError
from myclaw_core.messages import N_
from myclaw_core.neurons.adopting import Adoption, Answered
from myclaw_core.neurons.records import digest_on_record
from myclaw_core.runtime.answering import AnsweringChannel
from myclaw_core.runtime.channel import Channel
from myclaw_core.runtime.left_question import Asked, LeftQuestion
from myclaw_core.synthesis.direction import DESIGN, design_args
from myclaw_core.synthesis.draft_stage import bytes_of
from myclaw_core.synthesis.errors import PausedError
from myclaw_core.synthesis.moves import Move, abandoned, born, ended, onward, refused
from myclaw_core.synthesis.rests import ABANDONED_RESTS, REFUSED_RESTS
from myclaw_core.synthesis.types import Revision, Synthesis
from myclaw_core.types.text import Text

if TYPE_CHECKING:
    from myclaw_core.agent import Agent

__all__ = ["Gate", "rest_after"]

_NOT_LET_IN = N_("you did not let it in")
_NOT_WANTED = N_("you did not want it")


def rest_after(move: Move) -> timedelta | None:
    """Return how long the goal of what ended without a neuron rests; `None` where it does not."""
    result, request = move.to.result, move.to.request
    if result is None or result.outcome == "born" or not move.rests:
        return None
    is_refused = result.outcome == "rejected_direction" and request.mode == "internal"
    return REFUSED_RESTS if is_refused else ABANDONED_RESTS


class Gate:
    """Asks the person about one synthesis, and says where it stands after the answer.

    Args:
        agent: The opened agent.
        quiet: Where nobody is asked and nothing is shown.
        channel: Where questions are put; `None` where they are only left.
    """

    def __init__(self, agent: Agent, quiet: Channel, channel: Channel | None) -> None:
        self._agent = agent
        self._quiet = quiet
        self._channel = channel

    def require_answerable(self) -> None:
        """Check that a question would come to somebody, before anything is spent on what it will be about.

        Raises:
            PausedError: Nobody is here, and no question is left for later.
        """
        if not self._is_there and not self._agent.services.config.approval.defer_days:
            raise PausedError(N_("nobody is here to answer, and [approval] defer_days = 0 leaves no question"))

    @property
    def _is_there(self) -> bool:
        return self._channel is not None and self._channel.attended

    async def direction(self, synthesis: Synthesis) -> Move | None:
        """Ask whether a neuron may be designed; return the move.

        It is `None` while the question waits, and after a yes, which has moved it already.

        Raises:
            StoreError: The log cannot be read or written.
        """
        question = LeftQuestion(
            agent=self._agent,
            sender=synthesis.sender,
            tool=DESIGN,
            args=design_args(synthesis),
            words=f"design a neuron: {synthesis.request.goal}",
            origin=synthesis.asked_in,
        )
        now = self._agent.clock.now()
        if await question.left() is None and await self._no(synthesis) is not None:
            return ended(synthesis, "rejected_direction", _NOT_WANTED, now)
        asked = await self._standing(question, synthesis)
        match asked.state:
            case "left":
                return self._waits(synthesis, asked)
            case "run":
                return None
            case "denied":
                return ended(synthesis, "rejected_direction", _NOT_WANTED, now)
        return ended(synthesis, "rejected_direction", asked.reason, now)

    async def approval(self, synthesis: Synthesis) -> Move | None:
        """Ask whether the draft is let in; return the move, `None` while the question waits.

        Raises:
            StoreError: The log cannot be read or written.
        """
        adoption = self._adoption(synthesis)
        if digest_on_record(await adoption.record()) == adoption.digest:
            return self._born(synthesis)
        question = await adoption.question()
        question.origin = synthesis.asked_in
        waits = await question.left() is not None
        if not waits and (said := await self._said(synthesis)) is not None:
            return said
        if waits and not self._is_kept(synthesis.digest):
            return self._tested_again(synthesis)
        asked = await self._standing(question, synthesis)
        if asked.state == "failed" and not asked.ending and not self._is_kept(synthesis.digest):
            return self._tested_again(synthesis)
        answered = await adoption.after(asked)
        return self._after(synthesis, answered, asked)

    async def revise(self, synthesis: Synthesis, revision: Revision) -> Text | None:
        """Answer the question about the draft with what should be otherwise; return why that does not count, or `None`.

        Raises:
            StoreError: The log cannot be read or written.
        """
        if synthesis.stage != "approval":
            return N_("no question about a draft of it waits")
        question = await self._adoption(synthesis).question()
        if await question.left() is None:
            return N_("no question about a draft of it waits")

        def reply(request: ApprovalRequest) -> Reply:
            return Reply(request_id=request.id, granted=False, by=synthesis.sender, revision=revision)

        answering = AnsweringChannel(name="cli", answer=reply)
        asked = await question.ask(self._quiet, answering)
        if asked.revision is not None:
            return None
        return next(iter(answering.refusals), N_("this question is not open any more"))

    async def _said(self, synthesis: Synthesis) -> Move | None:
        """Return the move after a no that was booked, by whichever process; `None` where there was none."""
        answer = await self._no(synthesis)
        if answer is None:
            return None
        if answer.revision is not None:
            return _revised(synthesis, answer.revision, self._agent)
        return abandoned(synthesis, _NOT_LET_IN, self._agent.clock.now())

    async def _no(self, synthesis: Synthesis) -> Approval | None:
        """Return the no to its last question, `None` where that was not answered so."""
        answer = await answer_about(self._agent.log, synthesis.id, synthesis.digest)
        return answer if answer is not None and answer.verdict == "denied" else None

    async def _standing(self, question: LeftQuestion, synthesis: Synthesis) -> Asked:
        """Return how a question stands: asked now where it never was, put again where it waits and somebody is here.

        It is asked again where a stop came between a yes and what it lets happen.
        """
        if synthesis.asked_in is None or (self._is_there and await question.left() is not None):
            return await self._ask(question)
        asked = await question.stands()
        return await self._ask(question) if asked.state == "cut off" else asked

    def _tested_again(self, synthesis: Synthesis) -> Move:
        note = N_("its draft is gone; it is tested again before you are asked")
        return onward(synthesis, "tests", note, self._agent.clock.now(), asked_in=None)

    async def _ask(self, question: LeftQuestion) -> Asked:
        self.require_answerable()
        return await question.ask(self._quiet, self._channel)

    def _is_kept(self, digest: str) -> bool:
        try:
            return self._agent.admission.drafts.read(digest).digest == digest
        except MyclawError:
            return False

    def _waits(self, synthesis: Synthesis, asked: Asked) -> Move | None:
        if synthesis.asked_in == asked.trace_id:
            return None
        note = N_("your answer is waited for; /pending puts the question")
        return onward(synthesis, synthesis.stage, note, self._agent.clock.now(), asked_in=asked.trace_id)

    def _after(self, synthesis: Synthesis, answered: Answered, asked: Asked) -> Move | None:
        now = self._agent.clock.now()
        match answered.state:
            case "adopted":
                return self._born(synthesis)
            case "left":
                return self._waits(synthesis, asked)
            case "denied" if answered.revision is not None:
                return _revised(synthesis, answered.revision, self._agent)
            case "denied":
                return abandoned(synthesis, _NOT_LET_IN, now)
            case "failed" if asked.state == "run":
                return self._born(synthesis)  # and changed or removed since
        return abandoned(synthesis, answered.reason, now)

    def _born(self, synthesis: Synthesis) -> Move:
        name = synthesis.spec.proposed_name if synthesis.spec else ""
        return born(synthesis, str(self._agent.home.neurons / name), self._agent.clock.now())

    def _adoption(self, synthesis: Synthesis) -> Adoption:
        if synthesis.spec is None:
            raise MyclawError(N_("the synthesis {id} has no spec at this stage", id=str(synthesis.id)))
        return Adoption(
            self._agent, bytes_of(synthesis), synthesis.spec.proposed_name, synthesis.sender, synthesis=synthesis.id
        )


def _revised(synthesis: Synthesis, revision: Revision, agent: Agent) -> Move:
    """Return the move after "revise": the one answer of a person that costs a retry."""
    told = N_("the person wants it otherwise: {text}", text=revision.text)
    return refused(synthesis, revision.stage, [told], agent.clock.now())
