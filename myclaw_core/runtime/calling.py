"""Model calls of one turn: paid for before they are made, recorded together with what they cost."""

from __future__ import annotations

import asyncio
from collections.abc import Container, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from attrs import evolve, frozen

from myclaw_core.budget.ledger import BudgetRefusedError, Reservation, SoftCapReached
from myclaw_core.budget.purposes import tier_of
from myclaw_core.budget.types import MICRO, PriceUnknownError
from myclaw_core.errors import MyclawError
from myclaw_core.messages import N_
from myclaw_core.neurons.wall import WallClock
from myclaw_core.runtime.booked import begun, failure_line, provider_told, token_bound
from myclaw_core.runtime.channel import Channel, Status
from myclaw_core.runtime.failover import CallFailedError, Lineup, ModelChoice
from myclaw_core.runtime.finishing import finished
from myclaw_core.runtime.model import ModelError, ModelProvider, ModelReply, ModelRequest
from myclaw_core.runtime.prompt import system_prompt
from myclaw_core.runtime.received import guarded_briefly, received_reply
from myclaw_core.runtime.recorder import TraceRecorder
from myclaw_core.runtime.services import Services
from myclaw_core.runtime.softcap import ask_past_soft_cap
from myclaw_core.runtime.types import EndedBy, Message, ModelCall, Outcome, Turn, Usage
from myclaw_core.runtime.wire_names import from_wire, to_wire, tool_specs
from myclaw_core.types.text import Text

__all__ = ["CallLimits", "ModelCaller", "TooDearError", "TurnEndedError"]

_TOO_LATE = N_("the model took longer than the turn may last; see wall_s in [limits]")


class TurnEndedError(Exception):
    """Ends a turn with an outcome and one line for the person."""

    def __init__(self, outcome: Outcome, notice: Text, by: EndedBy = "") -> None:
        self.outcome = outcome
        self.notice = notice
        self.by = by
        super().__init__(str(notice))


class TooDearError(MyclawError):
    """Raised when a call is not made because it may cost more than it may.

    Attributes:
        worst_eur: What it costs at worst.
        left_eur: What is left for it.
    """

    def __init__(self, worst_eur: float, left_eur: float) -> None:
        self.worst_eur, self.left_eur = worst_eur, max(0.0, left_eur)
        super().__init__(
            N_(
                "the model call may cost {worst_eur} EUR, which is more than the quota cost_eur leaves: {left_eur} EUR",
                worst_eur=f"{worst_eur:.4f}",
                left_eur=f"{self.left_eur:.4f}",
            )
        )


@frozen(kw_only=True)
class CallLimits:
    """What holds for the calls of a neuron besides the limits of its turn.

    Attributes:
        wall: Stands still while the person is waited for.
        most_eur: What a call may cost at worst; `inf` where only the budget says.
    """

    wall: WallClock
    most_eur: float


class ModelCaller:
    """Calls models for one purpose of one turn; the policy says which they may be.

    Args:
        purpose: Why they are called.
        system: The system prompt of a call that is no part of the conversation: it is offered no tools, and its answer
            is neither shown nor kept with the turn's messages. `None` for the turn itself.
        max_output_tokens: Most tokens of an answer; what `[agent]` says where `None`.
        answer_schema: JSON schema of each whole answer, as `ModelRequest.answer_schema`.

    Attributes:
        calls: Calls made so far.
        waited_s: Seconds spent waiting for the person's word on the soft cap.
    """

    def __init__(
        self,
        services: Services,
        turn: Turn,
        recorder: TraceRecorder,
        channel: Channel,
        purpose: str = "answer",
        *,
        system: str | None = None,
        max_output_tokens: int | None = None,
        answer_schema: Mapping[str, Any] | None = None,
    ) -> None:
        self._services = services
        self._purpose = purpose
        self._tier = tier_of(purpose)
        self._lineup = Lineup(services.models_of(self._tier))
        self._turn = turn
        self._recorder = recorder
        self._channel = channel
        self._system = system
        self._max_output_tokens = max_output_tokens or services.config.agent.max_output_tokens
        self._answer_schema = answer_schema
        self._limits: CallLimits | None = None
        self.calls = 0
        self.waited_s = 0.0

    async def call(self, messages: Sequence[Message], limit_s: float, limits: CallLimits | None = None) -> ModelReply:
        """Return the model's answer, booked and recorded.

        Args:
            limit_s: Seconds the call may take; waiting for the person does not count.
            limits: Those of the neuron that calls.

        Raises:
            TurnEndedError: It failed for good, or the budget does not allow it.
            TooDearError: The neuron's own limit does not allow it.
            asyncio.CancelledError: The turn was cancelled; the call is booked at its worst case.
        """
        if self._system is None:
            self._channel.status(Status(phase="thinking"))
            await self._services.neurons.refresh()
        self.calls += 1
        self._limits = limits
        due_s = self._worked_s + limit_s
        while True:
            try:
                reply = await self._ask(self._lineup.current, messages, due_s - self._worked_s)
            except CallFailedError as failed:
                if self._lineup.go_on(failed):
                    continue
                raise TurnEndedError("failed", self._lineup.ended(failed.line)) from failed
            except TurnEndedError as ended:
                raise TurnEndedError(ended.outcome, self._lineup.ended(ended.notice)) from ended
            if notice := self._lineup.answered(reply.model):
                self._channel.notice(notice)
            return reply

    @property
    def asked(self) -> str:
        """Return the model that is asked now, as the configuration names it; a provider may report another name."""
        return self._lineup.current.model

    @property
    def _worked_s(self) -> float:
        """Return a reading of the clock that stands still while the person is waited for."""
        return self._services.clock.monotonic() - self.waited_s

    async def _ask(self, choice: ModelChoice, messages: Sequence[Message], limit_s: float) -> ModelReply:
        """Return the answer of one model; this one call is booked and recorded, whatever becomes of it.

        Raises:
            CallFailedError: It failed for good.
            TurnEndedError: The budget does not allow it.
        """
        request = self._request(choice.model, messages)
        reservation = await self._reserve(choice.provider, request)
        provider = choice.provider.name
        call = begun(reservation.call_id, provider, choice.model, self._purpose, self._services.clock.now())
        shown: list[str] = []
        started_s = self._services.clock.monotonic()

        def show(chunk: str) -> None:
            if self._system is None:
                shown.append(chunk)
                self._channel.text(chunk)

        try:
            async with self._services.clock.timeout(limit_s):
                answer = await guarded_briefly(provider_told(provider), choice.provider.complete(request, show))
            reply = _as_named_here(received_reply(answer, provider), self._services.tools)
        except (Exception, asyncio.CancelledError) as error:
            line = failure_line(error, provider, _TOO_LATE)
            failed = evolve(call, wall_time_ms=self._ms_since(started_s), error=str(line))
            spent = not isinstance(error, ModelError) or error.may_have_spent
            await self._recorder.model_called(failed, None, reservation, None, may_have_spent=spent)
            if isinstance(error, asyncio.CancelledError):
                raise
            raise CallFailedError(line, error, has_shown=bool(shown)) from error
        await self._book(evolve(call, wall_time_ms=self._ms_since(started_s)), reply, reservation)
        return reply

    async def _book(self, call: ModelCall, reply: ModelReply, reservation: Reservation) -> None:
        done = evolve(
            call,
            usage=reply.usage or Usage(),
            model=reply.model,
            stop_reason=reply.stop_reason,
        )
        message = reply.message if self._system is None else None
        for notice in await self._recorder.model_called(done, message, reservation, reply.usage):
            self._channel.notice(notice)

    def _request(self, model: str, messages: Sequence[Message]) -> ModelRequest:
        return ModelRequest(
            model=model,
            system=system_prompt(self._turn) if self._system is None else self._system,
            tools=tool_specs(self._services.tools.values()) if self._system is None else (),
            messages=to_wire(messages),
            max_output_tokens=self._max_output_tokens,
            answer_schema=self._answer_schema,
        )

    def _ms_since(self, started_s: float) -> int:
        return round((self._services.clock.monotonic() - started_s) * 1000)

    async def _reserve(self, provider: ModelProvider, request: ModelRequest) -> Reservation:
        """Set the worst case of a call aside; past the soft cap the person is asked once a turn."""
        try:
            return await self._try_reserve(provider, request)
        except SoftCapReached as reached:
            before_s = self._services.clock.monotonic()
            with self._limits.wall.waiting() if self._limits else nullcontext():
                granted = await ask_past_soft_cap(
                    self._services, self._turn, self._channel, self._recorder, reached, request.model
                )
            self.waited_s += self._services.clock.monotonic() - before_s
            if not granted:
                raise TurnEndedError("budget", reached.text) from reached
            self._recorder.past_soft_ok = True
        return await self._try_reserve(provider, request)

    async def _try_reserve(self, provider: ModelProvider, request: ModelRequest) -> Reservation:
        call_id = self._services.clock.new_id()
        try:
            reservation = await self._services.ledger.reserve(
                call_id=call_id,
                model=request.model,
                free=provider.free,
                purpose=self._purpose,
                activity=self._turn.activity,
                level=self._turn.autonomy,
                input_tokens_bound=token_bound(request),
                max_output_tokens=request.max_output_tokens,
                past_soft_ok=self._recorder.past_soft_ok,
            )
        except PriceUnknownError as unknown:
            raise TurnEndedError("failed", unknown.text) from unknown
        except BudgetRefusedError as refused:
            raise TurnEndedError("budget", refused.text) from refused
        except asyncio.CancelledError:
            await finished(self._services.ledger.release(call_id))
            raise
        await self._require_affordable(reservation)
        return reservation

    async def _require_affordable(self, reservation: Reservation) -> None:
        """Give a reservation back that is more than the neuron's own limit.

        Raises:
            TooDearError: It is.
        """
        worst_eur = reservation.worst_micro_eur / MICRO
        if self._limits is None or worst_eur <= self._limits.most_eur:
            return
        await finished(self._services.ledger.release(reservation.call_id))
        raise TooDearError(worst_eur, self._limits.most_eur)


def _as_named_here(reply: ModelReply, tools: Container[str]) -> ModelReply:
    return evolve(reply, message=from_wire(reply.message, tools))
