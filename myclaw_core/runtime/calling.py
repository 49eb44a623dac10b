"""Model calls of one turn: paid for before they are made, recorded together with what they cost."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

from attrs import evolve

from myclaw_core.budget.ledger import BudgetRefusedError, Reservation, SoftCapReached
from myclaw_core.errors import MyclawError
from myclaw_core.plugins.contain import one_line
from myclaw_core.runtime.channel import Channel, Status
from myclaw_core.runtime.model import ModelError, ModelProvider, ModelReply, ModelRequest
from myclaw_core.runtime.prompt import system_prompt, tool_specs
from myclaw_core.runtime.received import guarded, received_reply
from myclaw_core.runtime.recorder import TraceRecorder
from myclaw_core.runtime.services import Services
from myclaw_core.runtime.softcap import ask_past_soft_cap
from myclaw_core.runtime.storable import storable_text
from myclaw_core.runtime.types import Message, ModelCall, Outcome, Turn, Usage
from myclaw_core.types.text import Text

__all__ = ["ModelCaller", "TurnEndedError"]

PROVIDER_OVERHEAD_TOKENS = 2000
"""What a provider adds to a prompt by itself, such as its own instructions for tools; a generous bound."""


class TurnEndedError(Exception):
    """Ends a turn with an outcome and one line for the person."""

    def __init__(self, outcome: Outcome, notice: Text) -> None:
        self.outcome = outcome
        self.notice = notice
        super().__init__(str(notice))


class ModelCaller:
    """Calls the model for one turn.

    Attributes:
        calls: Calls made so far.
        waited_s: Seconds spent waiting for the person's word on the soft cap.
    """

    def __init__(
        self, services: Services, provider: ModelProvider, turn: Turn, recorder: TraceRecorder, channel: Channel
    ) -> None:
        self._services = services
        self._provider = provider
        self._turn = turn
        self._recorder = recorder
        self._channel = channel
        self._past_soft_ok = False
        self.calls = 0
        self.waited_s = 0.0

    async def call(self, messages: Sequence[Message], limit_s: float) -> ModelReply:
        """Return the model's answer, booked and recorded.

        Args:
            limit_s: Seconds the call may take.

        Raises:
            TurnEndedError: It failed for good, or the budget does not allow it.
            asyncio.CancelledError: The turn was cancelled; the call is booked at its worst case.
        """
        self._channel.status(Status(phase="thinking"))
        self.calls += 1
        request = self._request(messages)
        reservation = await self._reserve(request)
        call = self._begun(request, reservation)
        started_s = self._services.clock.monotonic()
        try:
            async with self._services.clock.timeout(limit_s):
                answer = await guarded(self._who, self._provider.complete(request, self._channel.text))
            reply = received_reply(answer, self._who)
        except (Exception, asyncio.CancelledError) as error:
            failed = evolve(call, wall_time_ms=self._ms_since(started_s), error=self._line(error))
            spent = not isinstance(error, ModelError) or error.may_have_spent
            booking = self._recorder.model_called(failed, None, reservation, None, may_have_spent=spent)
            await asyncio.shield(booking)
            if isinstance(error, asyncio.CancelledError):
                raise
            raise TurnEndedError("failed", Text("{reason}", {"reason": failed.error})) from error
        done = evolve(
            call,
            wall_time_ms=self._ms_since(started_s),
            usage=reply.usage or Usage(),
            model=reply.model,
            stop_reason=reply.stop_reason,
        )
        for notice in await self._recorder.model_called(done, reply.message, reservation, reply.usage):
            self._channel.notice(notice)
        return reply

    def _request(self, messages: Sequence[Message]) -> ModelRequest:
        agent = self._services.config.agent
        return ModelRequest(
            model=agent.model,
            system=system_prompt(self._turn),
            tools=tool_specs(self._services.tools.values()),
            messages=tuple(messages),
            max_output_tokens=agent.max_output_tokens,
        )

    def _begun(self, request: ModelRequest, reservation: Reservation) -> ModelCall:
        return ModelCall(
            id=reservation.call_id,
            provider=self._provider.name,
            model=request.model,
            purpose="answer",
            tier="frontier",
            usage=Usage(),
            cost_usd=0.0,
            cost_eur=0.0,
            started_at=self._services.clock.now(),
            wall_time_ms=0,
        )

    def _line(self, error: BaseException) -> str:
        """Return one line on why a call failed."""
        if isinstance(error, asyncio.CancelledError):
            return "cancelled"
        if isinstance(error, TimeoutError):
            return "the model took longer than the turn may last; see wall_s in [limits]"
        if isinstance(error, MyclawError):
            return storable_text(str(error))
        return storable_text(f"{self._who} failed: {one_line(error)}")

    @property
    def _who(self) -> str:
        return f"the model provider {self._provider.name!r}"

    def _ms_since(self, started_s: float) -> int:
        return round((self._services.clock.monotonic() - started_s) * 1000)

    async def _reserve(self, request: ModelRequest) -> Reservation:
        """Set the worst case of a call aside; past the soft cap the person is asked once a turn."""
        try:
            return await self._try_reserve(request)
        except SoftCapReached as reached:
            before_s = self._services.clock.monotonic()
            granted = await ask_past_soft_cap(self._services, self._turn, self._channel, self._recorder, reached)
            self.waited_s += self._services.clock.monotonic() - before_s
            if not granted:
                raise TurnEndedError("budget", reached.text) from reached
            self._past_soft_ok = True
        return await self._try_reserve(request)

    async def _try_reserve(self, request: ModelRequest) -> Reservation:
        try:
            return await self._services.ledger.reserve(
                call_id=self._services.clock.new_id(),
                model=request.model,
                free=self._provider.free,
                purpose="answer",
                input_tokens_bound=_token_bound(request),
                max_output_tokens=request.max_output_tokens,
                past_soft_ok=self._past_soft_ok,
            )
        except BudgetRefusedError as refused:
            raise TurnEndedError("budget", refused.text) from refused


def _token_bound(request: ModelRequest) -> int:
    """Return a number of tokens that the prompt cannot pass: a token is at least one byte."""
    size = len(request.system.encode()) + PROVIDER_OVERHEAD_TOKENS
    size += sum(len(json.dumps([tool.name, tool.description, dict(tool.schema)])) for tool in request.tools)
    for message in request.messages:
        size += len(message.text.encode("utf-8", errors="replace"))
        size += sum(
            len(json.dumps([call.tool, dict(call.args)], ensure_ascii=False).encode("utf-8", "replace"))
            for call in message.tool_calls
        )
    return size
