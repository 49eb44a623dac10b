"""One turn from message to closed trace: ReAct over the provider's native function calling (seed 004 #1)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from attrs import evolve, frozen

from myclaw_core.budget.ledger import BudgetRefusedError, Reservation, SoftCapReached
from myclaw_core.errors import MyclawError, StoreError, UnavailableError
from myclaw_core.policy.taint import typed_part
from myclaw_core.policy.types import Situation
from myclaw_core.runtime.channel import Channel, Status
from myclaw_core.runtime.model import ModelProvider, ModelReply, ModelRequest
from myclaw_core.runtime.prompt import system_prompt, tool_specs, trim_history
from myclaw_core.runtime.recorder import new_trace
from myclaw_core.runtime.services import Services
from myclaw_core.runtime.softcap import ask_past_soft_cap
from myclaw_core.runtime.steps import StepRunner
from myclaw_core.runtime.storable import storable_message
from myclaw_core.runtime.types import ExecutionTrace, Message, ModelCall, Outcome, Turn, Usage
from myclaw_core.types.text import Text

__all__ = ["TurnResult", "TurnRunner"]

MAX_INVALID_ROUNDS = 2
CHARS_PER_TOKEN_BOUND = 2


@frozen(kw_only=True)
class TurnResult:
    """What a turn leaves: its closed trace and the conversation so far."""

    trace: ExecutionTrace
    history: list[Message]


class _EndedError(Exception):
    """Ends the loop of a turn with an outcome and one line for the person."""

    def __init__(self, outcome: Outcome, notice: Text) -> None:
        self.outcome = outcome
        self.notice = notice
        super().__init__(str(notice))


class TurnRunner:
    """Runs one turn; make a new one for each.

    Args:
        services: The agent's parts.
        turn: The message and its rights.
        channel: Where text, status and questions go.
        history: Earlier messages of the session.
    """

    def __init__(self, services: Services, turn: Turn, channel: Channel, history: Sequence[Message]) -> None:
        if services.provider is None:
            raise UnavailableError("no model: the provider named in [agent] is not there")
        self._services = services
        self._provider: ModelProvider = services.provider
        self._turn = turn
        self._channel = channel
        trace = new_trace(turn, services.plugins, services.config.digest)
        self._recorder = services.recorder(trace)
        self._steps = StepRunner(services, turn, self._recorder, channel)
        self._messages = trim_history(list(history))
        self._had_history = bool(self._messages)
        self._past_soft_ok = False
        self._invalid_rounds = 0
        self._model_calls = 0

    async def run(self) -> TurnResult:
        """Run the turn to its end and close its trace, whatever happens.

        Raises:
            asyncio.CancelledError: The turn was cancelled; its trace is closed as `abandoned`.
            StoreError: The log cannot be written; the trace is found and closed at the next start.
        """
        await self._recorder.start(self._turn)
        self._messages.append(Message(role="user", text=self._turn.text))
        outcome: Outcome = "failed"
        try:
            outcome = await self._loop()
        except _EndedError as ended:
            outcome = ended.outcome
            self._channel.notice(ended.notice)
        except asyncio.CancelledError:
            await asyncio.shield(self._close("abandoned"))
            raise
        await self._close(outcome)
        return TurnResult(trace=self._recorder.trace, history=self._messages)

    async def _close(self, outcome: Outcome) -> None:
        trace = self._recorder.trace
        trace.closed_at = self._services.clock.now()
        trace.outcome = outcome
        await self._recorder.close(outcome, self._services.signals(trace))
        self._channel.status(Status(phase="done" if outcome == "success" else "failed"))

    async def _loop(self) -> Outcome:
        started_s = self._services.clock.monotonic()
        while True:
            self._check_limits(started_s)
            reply = await self._call_model()
            self._messages.append(reply.message)
            if reply.stop_reason == "pause_turn":
                continue
            if not reply.message.tool_calls:
                return self._finished(reply)
            if reply.stop_reason != "tool_use":
                self._finished(reply)
            await self._run_calls(reply)

    def _check_limits(self, started_s: float) -> None:
        limits = self._services.config.limits
        if len(self._recorder.trace.steps) >= limits.steps or self._model_calls > limits.steps:
            raise _EndedError("failed", Text("stopped: {steps} steps are the limit of a turn", {"steps": limits.steps}))
        spent_s = self._services.clock.monotonic() - started_s - self._steps.waited_s
        if spent_s > limits.wall_s:
            raise _EndedError(
                "failed",
                notice=Text("stopped: {seconds} s are the limit of a turn", {"seconds": limits.wall_s}),
            )

    async def _run_calls(self, reply: ModelReply) -> None:
        try:
            outcome = await self._steps.run(reply.message.tool_calls, reply.model, self._situation())
        except StoreError as error:
            raise _EndedError("failed", Text("stopped: {reason}", {"reason": str(error)})) from error
        self._messages.extend(outcome.messages)
        self._recorder.trace.messages.extend(outcome.messages)
        if outcome.invalid:
            self._invalid_rounds += 1
            if self._invalid_rounds > MAX_INVALID_ROUNDS:
                notice = Text("stopped: the model gave invalid tool arguments {n} times", {"n": self._invalid_rounds})
                raise _EndedError("failed", notice)
        if outcome.loop is not None:
            raise _EndedError("failed", Text("stopped: {what}", {"what": outcome.loop}))

    def _finished(self, reply: ModelReply) -> Outcome:
        """Return the outcome of a turn whose model has nothing more to call."""
        trouble = {
            "max_tokens": Text(
                "the answer was cut at {n} tokens; raise [agent] max_output_tokens",
                {"n": self._services.config.agent.max_output_tokens},
            ),
            "refusal": Text("the model refused to answer"),
            "model_context_window_exceeded": Text("the conversation is too long for the model; start a new one"),
        }.get(reply.stop_reason)
        if trouble is not None:
            raise _EndedError("failed", trouble)
        steps = self._recorder.trace.steps
        if steps and all(step.error is not None and step.error.kind == "denied" for step in steps):
            return "denied"
        return "success"

    def _situation(self) -> Situation:
        outside = self._had_history or any(message.outside for message in self._messages)
        return Situation(
            roots=self._turn.roots,
            cwd=self._turn.cwd,
            typed_text=typed_part(self._turn.text),
            tainted=outside,
            attended=self._turn.attended and self._channel.attended,
        )

    async def _call_model(self) -> ModelReply:
        self._channel.status(Status(phase="thinking"))
        self._model_calls += 1
        request = self._request()
        reservation = await self._reserve(request)
        started_at = self._services.clock.now()
        started_s = self._services.clock.monotonic()
        call = ModelCall(
            id=reservation.call_id,
            provider=self._provider.name,
            model=request.model,
            purpose="answer",
            tier="frontier",
            usage=Usage(),
            cost_usd=0.0,
            cost_eur=0.0,
            started_at=started_at,
            wall_time_ms=0,
        )
        return await self._complete(request, reservation, call, started_s)

    async def _complete(
        self, request: ModelRequest, reservation: Reservation, call: ModelCall, started_s: float
    ) -> ModelReply:
        def took_ms() -> int:
            return round((self._services.clock.monotonic() - started_s) * 1000)

        try:
            reply = await self._provider.complete(request, self._channel.text)
            reply = evolve(reply, message=storable_message(reply.message))
        except (Exception, asyncio.CancelledError) as error:
            line = "cancelled" if isinstance(error, asyncio.CancelledError) else str(error)
            failed = evolve(call, wall_time_ms=took_ms(), error=line or type(error).__name__)
            await asyncio.shield(self._recorder.model_called(failed, None, reservation, None))
            if isinstance(error, MyclawError):
                raise _EndedError("failed", Text("{reason}", {"reason": str(error)})) from error
            if isinstance(error, asyncio.CancelledError):
                raise
            reason = f"the model provider {self._provider.name!r} failed: {type(error).__name__}: {error}"
            raise _EndedError("failed", Text("{reason}", {"reason": reason})) from error
        booked = evolve(
            call, wall_time_ms=took_ms(), usage=reply.usage, model=reply.model, stop_reason=reply.stop_reason
        )
        for notice in await self._recorder.model_called(booked, reply.message, reservation, reply.usage):
            self._channel.notice(notice)
        return reply

    def _request(self) -> ModelRequest:
        agent = self._services.config.agent
        return ModelRequest(
            model=agent.model,
            system=system_prompt(self._turn),
            tools=tool_specs(self._services.tools.values()),
            messages=tuple(self._messages),
            max_output_tokens=agent.max_output_tokens,
        )

    async def _reserve(self, request: ModelRequest) -> Reservation:
        """Reserve the worst case of a call before it is made; past the soft cap the person is asked once a turn."""
        try:
            return await self._try_reserve(request)
        except SoftCapReached as reached:
            before_s = self._services.clock.monotonic()
            granted = await ask_past_soft_cap(self._services, self._turn, self._channel, self._recorder, reached)
            self._steps.waited_s += self._services.clock.monotonic() - before_s
            if not granted:
                raise _EndedError("budget", Text("{reason}", {"reason": str(reached)})) from reached
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
            raise _EndedError("budget", Text("{reason}", {"reason": str(refused)})) from refused


def _token_bound(request: ModelRequest) -> int:
    """Return a number of tokens that the prompt surely does not pass: half its UTF-8 bytes."""
    import json

    size = len(request.system.encode())
    size += sum(len(json.dumps([tool.description, dict(tool.schema)])) for tool in request.tools)
    for message in request.messages:
        size += len(message.text.encode("utf-8", errors="replace"))
        size += sum(len(json.dumps(dict(call.args), default=str)) for call in message.tool_calls)
    return size // CHARS_PER_TOKEN_BOUND + 1
