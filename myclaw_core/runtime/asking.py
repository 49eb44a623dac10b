"""Puts the questions of judged calls to the person, with what there is to know about each."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

from attrs import evolve

from myclaw_core.approval.gateway import Question
from myclaw_core.approval.types import Approval, Deferred, Sealed
from myclaw_core.messages import N_
from myclaw_core.policy.grants import can_be_granted
from myclaw_core.policy.reach import lies_elsewhere
from myclaw_core.redact import redact_value
from myclaw_core.runtime.channel import Channel, Status
from myclaw_core.runtime.judged import Judged, runs_dry
from myclaw_core.runtime.planning import Planned
from myclaw_core.runtime.recorder import TraceRecorder
from myclaw_core.runtime.services import Services
from myclaw_core.runtime.step_words import refusal
from myclaw_core.runtime.types import ToolCall, ToolError, Turn
from myclaw_core.trust.signals import subjects_of
from myclaw_core.types.effect import autonomy_le
from myclaw_core.types.text import Text

__all__ = ["MOST_IN_VAIN", "Asker"]

MOST_IN_VAIN = 3
"""Questions in a row without a yes, after which a neuron puts no more in its run: it could go on for ever."""


class Asker:
    """Asks for one turn.

    Args:
        services: The agent's parts.
        recorder: Books the turn.
        channel: Where the questions go.
        left: The question of an earlier run whose call is all there is to run.

    Attributes:
        waited_s: Seconds that the person was waited for.
    """

    def __init__(
        self, services: Services, turn: Turn, recorder: TraceRecorder, channel: Channel, left: Deferred | None
    ) -> None:
        self._services = services
        self._turn = turn
        self._recorder = recorder
        self._channel = channel
        self._left = left
        self.waited_s = 0.0
        self._in_vain: dict[int, int] = {}

    async def ask(self, judged: Sequence[Judged]) -> None:
        """Put the questions of some calls together, and note in each how it was answered."""
        asked = [item for item in judged if item.asks]
        if self._turn.dry_run:
            asked = [item for item in asked if runs_dry(item.step)]
        if not asked:
            return
        frame = asked[0].around.frame
        if frame and self._in_vain.get(frame.outermost.step_index, 0) >= MOST_IN_VAIN:
            for item in asked:
                item.error = ToolError(kind="denied", message=_no_more())
            return
        self._channel.status(Status(phase="waiting", tool=asked[0].step.tool_name, beside=self._left is not None))
        before_s = self._services.clock.monotonic()
        with frame.wall.waiting() if frame else nullcontext():
            questions = [await self._question(item) for item in asked]
            approvals = await self._services.gateway.ask(questions, self._turn, self._channel)
        self.waited_s += self._services.clock.monotonic() - before_s
        for item, approval in zip(asked, approvals, strict=True):
            _take_over(item, approval)
            if frame:
                self._count(frame.outermost.step_index, item, approval)
        self._recorder.answered([item.step for item in asked], approvals)

    def _count(self, outermost: int, item: Judged, approval: Approval) -> None:
        """Count the questions in a row that a neuron, with all that it calls, got no yes to; one to a call is none."""
        if approval.verdict != "granted":
            self._in_vain[outermost] = self._in_vain.get(outermost, 0) + 1
        elif item.step.kind != "neuron_invoke":
            self._in_vain[outermost] = 0

    async def _question(self, item: Judged) -> Question:
        decision = item.step.decision
        if decision is None or decision.draft is None:  # pragma: no cover - `Judged.asks` has checked it
            raise AssertionError("a question needs a draft")
        subjects = subjects_of(item.step)
        ahead = await self._services.outlook(decision.action)
        told: list[Text | str] = [*map(self._services.record_of, subjects), *(each.text for each in ahead)]
        return Question(
            draft=decision.draft,
            step_index=item.step.index,
            diff=item.planned.diff if item.planned else "",
            record=(*told, *await self._cost_of_level(item.planned)),
            grantable=can_be_granted(decision),
            alone=any(lies_elsewhere(effect, self._turn.roots) for effect in decision.effects),
            tutor=decision.tutor,
            completes=tuple(each.subject for each in ahead),
            sealed=None if item.around.frame else self._sealed(item.call),
            left=self._left,
        )

    def _sealed(self, call: ToolCall) -> Sealed | None:
        """Return the call as it may be left for later; it cannot where a secret would be kept with it."""
        services, turn = self._services, self._turn
        if turn.dry_run or (turn.attended and self._channel.attended) or not services.config.approval.defer_days:
            return None
        if redact_value(call.args) != call.args:
            line = N_("{tool}: its arguments hold a secret, so the question is not left for later", tool=call.tool)
            self._channel.notice(line)
            return None
        roots = tuple(root for root in turn.roots if root not in services.standing_roots)
        return Sealed(args=call.args, cwd=turn.cwd, roots=roots)

    async def _cost_of_level(self, planned: Planned | None) -> Sequence[Text]:
        """Return what the level that a change of the configuration raises will probably cost."""
        level = planned.level if planned else None
        if level is None or autonomy_le(level, self._services.config.agent.level):
            return ()
        return ((await self._services.ledger.estimate(level)).text,)


def _take_over(item: Judged, approval: Approval) -> None:
    """Note an answer in the call that it is about."""
    item.step = evolve(item.step, state="asked", approval_id=approval.request_id)
    if approval.verdict == "granted":
        return
    item.error = ToolError(kind="denied", message=refusal(approval))
    is_no = approval.verdict == "denied" and approval.revision is None
    if is_no and item.step.decision is not None:
        item.violation = item.step.decision.violation


def _no_more() -> Text:
    return N_(
        "{n} questions of this neuron in a row had no yes, so no more is asked in this run; it was not done",
        n=MOST_IN_VAIN,
    )
