"""The step of a tool that sends through the outbox: nothing is sent, the message is held together with its intent."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from attrs import evolve

from myclaw_core.approval.grants import GrantEndedError
from myclaw_core.approval.records import NotGrantedError
from myclaw_core.approval.served import NotServedError
from myclaw_core.budget.types import BudgetRefusedError
from myclaw_core.clock import local_zone
from myclaw_core.errors import MyclawError
from myclaw_core.outbox.outbox import OutboxRefusedError
from myclaw_core.outbox.types import OutboxMessage
from myclaw_core.policy.never import NeverRefusedError
from myclaw_core.policy.rates import RateRefusedError
from myclaw_core.runtime.channel import Channel
from myclaw_core.runtime.finishing import to_its_end
from myclaw_core.runtime.recorder import TraceRecorder
from myclaw_core.runtime.services import Services
from myclaw_core.runtime.types import ActionStep, ToolCall, ToolError, ToolResult, Turn
from myclaw_core.undo.types import UndoRecord

__all__ = ["Holder"]

_REFUSED = (
    BudgetRefusedError,
    GrantEndedError,
    NeverRefusedError,
    NotGrantedError,
    NotServedError,
    OutboxRefusedError,
    RateRefusedError,
)
_KEPT = timedelta(days=30)


class Holder:
    """Holds what the calls of one turn send.

    Args:
        services: The agent's parts.
        turn: The turn, for who sends.
        recorder: Books intents and results.
        channel: Where what is held is shown.
    """

    def __init__(self, services: Services, turn: Turn, recorder: TraceRecorder, channel: Channel) -> None:
        self._services = services
        self._turn = turn
        self._recorder = recorder
        self._channel = channel

    @to_its_end
    async def hold(self, call: ToolCall, step: ActionStep) -> ActionStep:
        """Hold what a judged call sends and return its finished step.

        Raises:
            StoreError: The intent could not be recorded; nothing is held.
        """
        try:
            message = self._services.outbox.message(call.args, step, self._turn)
            step = await self._intended(step, message)
        except _REFUSED as refused:
            error = ToolError(kind="denied", message=refused.text, retryable=True)
            return await self._recorder.ended(evolve(step, state="failed", error=error))
        return await self._recorder.ended(evolve(step, state="done", exec_result=_result(message)))

    async def _intended(self, step: ActionStep, message: OutboxMessage) -> ActionStep:
        outbox = self._services.outbox
        try:
            put = partial(outbox.put, message=message, channel=self._channel)
            return await self._recorder.intended(step, self._undo_record(message), put)
        except MyclawError:
            outbox.give_up(message)
            raise

    def _undo_record(self, message: OutboxMessage) -> UndoRecord:
        return UndoRecord(
            id=self._services.clock.new_id(),
            trace_id=message.trace_id,
            step_index=message.step_index,
            tool_name=message.tool,
            handler="outbox",
            changes=(),
            created_at=message.held_at,
            expires_at=message.held_at + _KEPT,
            data={"message_id": str(message.id)},
        )


def _result(message: OutboxMessage) -> ToolResult:
    at = f"{message.due_at.astimezone(local_zone()):%H:%M:%S}"
    seconds = round((message.due_at - message.held_at).total_seconds())
    return ToolResult(
        text=(
            f"Not sent yet: held until {at} ({seconds} s), then it is sent once. Until then the person can recall it "
            "with /undo. Say that it is held, not that it was sent, and do not send it again."
        ),
        data={"message_id": str(message.id), "due_at": message.due_at.isoformat().replace("+00:00", "Z")},
    )
