"""A change of what the person decided, which no tool makes: asked like any action, on record as a turn of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from attrs import frozen

from myclaw_core.approval.gateway import Question
from myclaw_core.approval.types import Approval
from myclaw_core.runtime.channel import Channel
from myclaw_core.runtime.recorder import TraceRecorder
from myclaw_core.runtime.services import Services
from myclaw_core.runtime.softcap import TURN_ITSELF
from myclaw_core.runtime.traces import new_trace
from myclaw_core.runtime.types import Outcome, Turn
from myclaw_core.types.action import ApprovalRequestDraft, PlannedAction
from myclaw_core.types.effect import BEST_REVERSIBILITY, Effect, EffectKind
from myclaw_core.types.text import Text

__all__ = ["Change", "Consent"]

_Apply = Callable[[Approval, str], Awaitable[None]]


@frozen(kw_only=True)
class Change:
    """What is asked.

    Attributes:
        command: The slash command as it was typed.
        scope: What is changed; with `target` for people.
        args: What exactly, for the digest that the approval is bound to.
        summary: What would happen, in one line.
        reason: Why it is asked.
        record: What is known beforehand, such as its cost.
        kind: The effect that it has.
    """

    command: str
    scope: str
    target: str
    args: Mapping[str, Any]
    summary: Text
    reason: Text
    record: tuple[Text, ...] = ()
    kind: EffectKind = "config_change"


@frozen
class Consent:
    """Asks for one session.

    Attributes:
        channel: Where it is asked.
        new_turn: Makes the turn as which a change is recorded, from the words that were typed.
    """

    services: Services
    channel: Channel
    new_turn: Callable[[str], Awaitable[Turn]]

    async def agreed(self, change: Change, apply: _Apply) -> bool:
        """Ask, make the change where the person agrees, and return whether it was made.

        Args:
            apply: Makes it, given the approval, which it must use up, and the digest of what is changed.
        """
        turn = await self.new_turn(change.command)
        recorder = self.services.recorder(new_trace(turn, self.services.plugins, self.services.config.digest))
        async with recorder.during(turn):
            recorder.trace.outcome = outcome = await self._ask(turn, change, apply, recorder)
        return outcome == "success"

    async def _ask(self, turn: Turn, change: Change, apply: _Apply, recorder: TraceRecorder) -> Outcome:
        draft = _draft(turn, change)
        question = Question(draft=draft, step_index=TURN_ITSELF, record=change.record)
        (approval,) = await self.services.gateway.ask([question], turn, self.channel)
        recorder.answered((), (approval,))
        if approval.verdict != "granted":
            return "denied"
        await apply(approval, draft.action.args_digest)
        return "success"


def _draft(turn: Turn, change: Change) -> ApprovalRequestDraft:
    best = BEST_REVERSIBILITY.get(change.kind, "irreversible")
    effect = Effect(kind=change.kind, scope=change.scope, target=change.target, reversibility=best)
    action = PlannedAction.from_tool_call(
        tool_name=change.command.partition(" ")[0],
        args=change.args,
        args_preview=change.args,
        effects=(effect,),
        sender=turn.sender,
        trace_id=turn.id,
        session_id=turn.session_id,
        autonomy=turn.autonomy,
        planned_at=turn.received_at,
        actor="core",
    )
    return ApprovalRequestDraft(
        action=action,
        effect_class=action.effect_class,
        summary=change.summary,
        risk="high",
        policy_reasons=(change.reason,),
    )
