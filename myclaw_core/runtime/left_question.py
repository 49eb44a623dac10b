"""A call of the core's own that waits for the person: left before it is put, so that no restart loses the question."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from attrs import define, field, frozen

from myclaw_core.approval.types import DeferralEnding, Deferred
from myclaw_core.events.types import ApprovalAnswered, DeferralEnded, StepEnded
from myclaw_core.messages import N_
from myclaw_core.runtime.deferred import put_left
from myclaw_core.runtime.records import TURN_KIND
from myclaw_core.runtime.single_call import SingleCall
from myclaw_core.runtime.types import CANCELLED, ToolCall, Turn
from myclaw_core.synthesis.types import Revision
from myclaw_core.types.text import Text

if TYPE_CHECKING:
    from myclaw_core.agent import Agent
    from myclaw_core.runtime.channel import Channel

__all__ = ["Asked", "LeftQuestion"]

_ENDINGS: Mapping[DeferralEnding, Text] = {
    "expired": N_("nobody answered in time"),
    "crowded out": N_("too many questions waited, and the oldest was let go"),
    "dropped": N_("the question was let go"),
    "outdated": N_("what it was about has changed since it was asked"),
}
_CUT_OFF = N_("the yes was not followed; a stop came between")


@frozen(kw_only=True)
class Asked:
    """How a question stands.

    Attributes:
        state: `left` where it still waits for an answer, or where a yes is being followed now; `run` where one was
            followed, `cut off` where a stop came between.
        until: Until when it waits.
        reason: Why the call did not run, where that was not a person's no.
        ending: How the question ended by itself; empty where a person answered it.
        revision: What should be otherwise, where the no says so.
        trace_id: The turn that left it.
    """

    state: Literal["left", "run", "denied", "failed", "cut off"]
    until: datetime | None = None
    reason: Text = field(factory=lambda: Text(""))
    ending: DeferralEnding | Literal[""] = ""
    revision: Revision | None = None
    trace_id: UUID | None = None


@define(kw_only=True)
class LeftQuestion:
    """One call of an internal tool that asks at every level.

    Attributes:
        agent: The opened agent.
        sender: Whom it is for.
        tool: Its name.
        args: Its arguments; the same call is left once.
        words: What the person would have typed for it.
        origin: The turn that left it, where that is known from before.
    """

    agent: Agent
    sender: str
    tool: str
    args: Mapping[str, Any]
    words: str
    origin: UUID | None = None

    async def ask(self, quiet: Channel, channel: Channel | None) -> Asked:
        """Leave the question, put it where somebody is there, and return how it stands.

        Args:
            quiet: Where nobody is asked and nothing is shown.
            channel: Where it is put; `None` where it is only left.

        Raises:
            StoreError: The log cannot be written.
        """
        if not self.agent.services.config.approval.defer_days:
            return await self._ask_at_once(channel or quiet)
        problem = await self.leave(quiet)
        if problem is not None:
            return Asked(state="failed", reason=problem)
        if channel is not None and channel.attended:
            await put_left(self.agent.services, channel, self._turn, self.agent.run, only=self.is_this)
        return await self.stands()

    async def leave(self, quiet: Channel) -> Text | None:
        """Leave the question for later unless it waits already; return why that could not be, or `None`."""
        if await self.left() is not None:
            return None
        call = await self._call(quiet, attended=False)
        await self.agent.run(call)
        if await self.left() is not None:
            return None
        return (
            call.step.error.message if call.step and call.step.error else N_("the question could not be left for later")
        )

    async def left(self) -> Deferred | None:
        """Return the question where it waits."""
        waiting = await self.agent.services.gateway.left()
        found = next((each for each in waiting if self.is_this(each)), None)
        self.origin = found.origin.trace_id if found else self.origin
        return found

    async def stands(self) -> Asked:
        """Return how the question stands by what is on record."""
        left = await self.left()
        if left is not None:
            return Asked(state="left", until=left.expires_at, trace_id=self.origin)
        if self.origin is None:
            return Asked(state="failed", reason=N_("the question was not left for later"))
        told = [event for _, event in await self.agent.log.events(self.origin, DeferralEnded)]
        ended = next((each for each in reversed(told) if isinstance(each, DeferralEnded)), None)
        if ended is None:
            return Asked(state="failed", ending="expired", reason=_ENDINGS["expired"], trace_id=self.origin)
        return await self._ended(ended)

    def is_this(self, left: Deferred) -> bool:
        """Return whether a question that was left is this one."""
        return left.request.draft.action.tool_name == self.tool and dict(left.sealed.args) == dict(self.args)

    async def _ended(self, ended: DeferralEnded) -> Asked:
        if ended.ending == "denied":
            revision = await self._revision(ended.by) or await self._revision(ended.trace_id)
            return Asked(state="denied", revision=revision, trace_id=self.origin)
        if ended.ending != "run":
            return Asked(state="failed", ending=ended.ending, reason=_ENDINGS[ended.ending], trace_id=self.origin)
        return await self._followed(ended.by)

    async def _revision(self, trace_id: UUID | None) -> Revision | None:
        """Return what the answer of a turn says should be otherwise."""
        events = await self.agent.log.events(trace_id, ApprovalAnswered) if trace_id else ()
        answers = [event.approval for _, event in events if isinstance(event, ApprovalAnswered)]
        return next((each.revision for each in answers if each.revision is not None), None)

    async def _followed(self, trace_id: UUID | None) -> Asked:
        """Return what became of the call that a yes let run."""
        events = await self.agent.log.events(trace_id, StepEnded) if trace_id else ()
        steps = [event.step for _, event in events if isinstance(event, StepEnded)]
        ended = [step for step in steps if step.tool_name == self.tool]
        if not ended and await self.agent.log.get(TURN_KIND, str(trace_id)) is not None:
            return Asked(state="left", trace_id=self.origin)
        error = ended[-1].error if ended else None
        if not ended or (error is not None and error.message.msgid == CANCELLED.msgid):
            return Asked(state="cut off", reason=_CUT_OFF, trace_id=self.origin)
        if error is None:
            return Asked(state="run", trace_id=self.origin)
        return Asked(state="failed", reason=error.message, trace_id=self.origin)

    async def _ask_at_once(self, channel: Channel) -> Asked:
        call = await self._call(channel, attended=channel.attended)
        await self.agent.run(call)
        error = call.step.error if call.step else None
        if error is None:
            return Asked(state="run", trace_id=call.trace.id)
        answers = [each for each in call.trace.approvals if each.verdict == "denied"]
        if answers:
            return Asked(state="denied", revision=answers[-1].revision, trace_id=call.trace.id)
        return Asked(state="failed", reason=error.message, trace_id=call.trace.id)

    async def _call(self, channel: Channel, *, attended: bool) -> SingleCall:
        turn = await self._turn(self.words, attended=attended)
        call = ToolCall(id=str(turn.id), tool=self.tool, args=self.args)
        return SingleCall(self.agent.services, turn, channel, call)

    async def _turn(self, text: str, *, attended: bool = True) -> Turn:
        agent = self.agent
        new_id = agent.clock.new_id()
        return Turn(
            id=new_id,
            session_id=str(new_id),
            channel="cli",
            sender=self.sender,
            autonomy=await agent.services.levels.begin_turn(),
            text=text,
            received_at=agent.clock.now(),
            roots=agent.standing_roots,
            cwd=str(agent.home.workspace),
            attended=attended,
            level_stands=True,
        )
