"""One turn from message to closed trace: ReAct over the provider's native function calling (seed 004 #1)."""

from __future__ import annotations

from collections.abc import Sequence

from myclaw_core.approval.served import NotServedError, require_served
from myclaw_core.errors import MyclawError, StoreError, UnavailableError
from myclaw_core.events.log import LogTransaction
from myclaw_core.messages import N_
from myclaw_core.plugins.contain import one_line
from myclaw_core.policy.taint import typed_part
from myclaw_core.policy.types import Situation
from myclaw_core.runtime.calling import ModelCaller, TurnEndedError
from myclaw_core.runtime.channel import Channel, show_end
from myclaw_core.runtime.claims import claims_a_deed, did_something
from myclaw_core.runtime.model import ModelReply
from myclaw_core.runtime.prompt import trim_history
from myclaw_core.runtime.services import Services
from myclaw_core.runtime.steps import StepRunner
from myclaw_core.runtime.traces import new_trace
from myclaw_core.runtime.types import ExecutionTrace, Message, Outcome, Turn
from myclaw_core.synthesis.failed_goals import note_failure
from myclaw_core.synthesis.triggers import goal_of, trigger_of

__all__ = ["TurnRunner"]

MAX_INVALID_ROUNDS = 2


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
            raise UnavailableError(N_("no model: the provider named in [agent] is not there"))
        self._services = services
        self._turn = turn
        self._channel = channel
        trace = new_trace(turn, services.plugins, services.config.digest)
        self._recorder = services.recorder(trace)
        self._steps = StepRunner(services, turn, self._recorder, channel)
        self._messages = trim_history(list(history))
        self._had_history = bool(self._messages)
        self._caller = ModelCaller(services, turn, self._recorder, channel)
        self._invalid_rounds = 0

    @property
    def trace(self) -> ExecutionTrace:
        """Return the trace; it is closed once `run` has ended."""
        return self._recorder.trace

    @property
    def history(self) -> list[Message]:
        """Return the conversation so far, this turn included."""
        return self._messages

    async def run(self) -> None:
        """Run the turn to its end and close its trace, whatever happens.

        Raises:
            asyncio.CancelledError: The turn was cancelled; its trace is closed as `abandoned`.
            StoreError: The log cannot be written; the trace is found and closed at the next start.
            MyclawError: Something else went wrong; the trace is closed as `failed`.
        """
        await self._services.gateway.refresh()
        try:
            async with self._recorder.during(self._turn, self._services.signals, self._note_failure):
                self.trace.outcome = await self._ended()
        except (MyclawError, OSError):
            raise
        except Exception as error:
            text = N_(
                "the turn broke off: {error}; what was done is recorded ('myclaw audit show')", error=one_line(error)
            )
            raise MyclawError(text) from error
        finally:
            show_end(self._channel, self.trace)

    async def _note_failure(self, tx: LogTransaction) -> None:
        """Remember what a turn failed at for want of a skill."""
        if trigger_of(self.trace, self._turn) is not None:
            await note_failure(tx, self.trace, goal_of(self._turn), self._services.clock.now())

    async def _ended(self) -> Outcome:
        """Run the turn and return how it ended."""
        self._messages.append(Message(role="user", text=self._turn.text))
        try:
            with self._services.grants.during(self._turn.id, self._turn.yes_to):
                outcome = await self._loop()
        except TurnEndedError as ended:
            self._channel.notice(ended.notice)
            self.trace.ended_by = ended.by
            return ended.outcome
        self.trace.ended_by = "answer"
        return outcome

    async def _loop(self) -> Outcome:
        started_s = self._services.clock.monotonic()
        while True:
            self._check_limits(started_s)
            await self._require_served()
            reply = await self._caller.call(self._messages, self._seconds_left(started_s))
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
        if self._steps_taken() >= limits.steps or self._caller.calls > limits.steps:
            raise TurnEndedError("failed", N_("stopped: {n} steps are the limit of a turn", n=limits.steps), "steps")
        if self._seconds_left(started_s) <= 0:
            raise TurnEndedError("failed", N_("stopped: {s} s are the limit of a turn", s=limits.wall_s), "wall")

    def _steps_taken(self) -> int:
        """Return how many steps the model has asked for; those of a neuron belong to one of them."""
        return sum(not step.callers for step in self._recorder.trace.steps)

    async def _require_served(self) -> None:
        try:
            await require_served(self._services.log, self._turn.sender)
        except NotServedError as error:
            raise TurnEndedError("abandoned", error.text) from error

    def _seconds_left(self, started_s: float) -> float:
        """Return what is left of the turn's wall time; waiting for the person does not count."""
        waited_s = self._steps.waited_s + self._caller.waited_s
        return self._services.config.limits.wall_s - (self._services.clock.monotonic() - started_s - waited_s)

    async def _run_calls(self, reply: ModelReply) -> None:
        calls = reply.message.tool_calls
        room = self._services.config.limits.steps - self._steps_taken()
        try:
            outcome = await self._steps.run(calls[:room], reply.model, self._situation())
        except StoreError as error:
            raise TurnEndedError("failed", N_("stopped: {reason}", reason=error.text)) from error
        self._messages.extend(outcome.messages)
        self._recorder.trace.messages.extend(outcome.messages)
        if outcome.invalid:
            self._invalid_rounds += 1
            if self._invalid_rounds > MAX_INVALID_ROUNDS:
                notice = N_("stopped: the model gave invalid tool arguments {n} times", n=self._invalid_rounds)
                raise TurnEndedError("failed", notice, "invalid")
        if outcome.loop is not None:
            raise TurnEndedError("failed", N_("stopped: {reason}", reason=outcome.loop), "loop")

    def _finished(self, reply: ModelReply) -> Outcome:
        """Return the outcome of a turn whose model has nothing more to call."""
        trouble = {
            "max_tokens": N_(
                "the answer was cut at {n} tokens; raise [agent] max_output_tokens",
                n=self._services.config.agent.max_output_tokens,
            ),
            "refusal": N_("the model refused to answer"),
            "model_context_window_exceeded": N_("the conversation is too long for the model; start a new one"),
        }.get(reply.stop_reason)
        if trouble is not None:
            raise TurnEndedError("failed", trouble)
        steps = self._recorder.trace.steps
        if not self._turn.dry_run and claims_a_deed(reply.message.text) and not did_something(steps):
            self._recorder.trace.unverified = True
            self._channel.notice(
                N_("unverified: the answer says that something was done; no action of this turn did it")
            )
        wanted = [step for step in steps if any(effect.is_side_effect for effect in step.effects)] or steps
        if wanted and all(step.error is not None and step.error.kind == "denied" for step in wanted):
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
