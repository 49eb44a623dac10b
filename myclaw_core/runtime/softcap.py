"""Past the day's soft cap a turn asks once before it spends more."""

from __future__ import annotations

from myclaw_core.approval.gateway import Question
from myclaw_core.budget.ledger import SoftCapReached
from myclaw_core.messages import N_
from myclaw_core.runtime.channel import Channel, Status
from myclaw_core.runtime.recorder import TraceRecorder
from myclaw_core.runtime.services import Services
from myclaw_core.runtime.types import Turn
from myclaw_core.types.action import ApprovalRequestDraft, PlannedAction
from myclaw_core.types.effect import Effect

__all__ = ["TURN_ITSELF", "ask_past_soft_cap"]

TURN_ITSELF = -1
"""Step index of a question that is about the turn and not about one of its steps."""


async def ask_past_soft_cap(
    services: Services, turn: Turn, channel: Channel, recorder: TraceRecorder, reached: SoftCapReached, model: str
) -> bool:
    """Ask whether this turn may spend past the soft cap and return the answer; no answer is no."""
    channel.status(Status(phase="waiting"))
    effect = Effect(kind="cost_spend", scope="models", target=model, reversibility="irreversible")
    action = PlannedAction.from_tool_call(
        tool_name="model",
        args={"model": model},
        args_preview={"model": model},
        effects=(effect,),
        sender=turn.sender,
        trace_id=turn.id,
        session_id=turn.session_id,
        autonomy=turn.autonomy,
        planned_at=services.clock.now(),
        actor="runtime",
    )
    draft = ApprovalRequestDraft(
        action=action,
        effect_class=action.effect_class,
        summary=N_("go on with this turn past the day's soft cap"),
        risk="high",
        policy_reasons=(reached.text,),
    )
    (approval,) = await services.gateway.ask([Question(draft=draft, step_index=TURN_ITSELF)], turn, channel)
    recorder.answered((), (approval,))
    if approval.verdict != "granted":
        return False
    async with services.log.transaction() as tx:
        await services.gateway.consume(tx, approval.request_id, action.args_digest)
    return True
