"""One tool call as a turn of its own, in which no model is asked."""

from __future__ import annotations

from myclaw_core.approval.types import Deferred
from myclaw_core.policy.taint import typed_part
from myclaw_core.policy.types import Situation
from myclaw_core.runtime.channel import Channel, show_end
from myclaw_core.runtime.services import Services
from myclaw_core.runtime.steps import StepRunner
from myclaw_core.runtime.traces import new_trace
from myclaw_core.runtime.types import ActionStep, ExecutionTrace, Outcome, ToolCall, Turn

__all__ = ["SingleCall"]


class SingleCall:
    """Judges, asks about, runs and records one call, like any that a model proposes; make a new one for each.

    It may be the call of an internal tool. Where nobody is there to answer its question, that is left for later.

    Args:
        services: The agent's parts.
        turn: Who calls, with which rights; `text` is what they typed.
        channel: Where status and questions go.
        call: The call.
        situation: What surrounds it; made from the turn where `None`.
        left: The question of an earlier run that is put again with it.
    """

    def __init__(
        self,
        services: Services,
        turn: Turn,
        channel: Channel,
        call: ToolCall,
        *,
        situation: Situation | None = None,
        left: Deferred | None = None,
    ) -> None:
        self._services = services
        self._turn = turn
        self._channel = channel
        self._call = call
        self._situation = situation or _situation(turn, channel)
        self._is_beside = left is not None
        self._recorder = services.recorder(new_trace(turn, services.plugins, services.config.digest))
        self._steps = StepRunner(services, turn, self._recorder, channel, left)

    @property
    def trace(self) -> ExecutionTrace:
        """Return the trace; it is closed once `run` has ended."""
        return self._recorder.trace

    @property
    def step(self) -> ActionStep | None:
        """Return the step of the call, as far as it has come; `None` before it was judged."""
        return self.trace.steps[0] if self.trace.steps else None

    async def run(self) -> None:
        """Run the call where it may run, and close the trace, whatever happens.

        Raises:
            asyncio.CancelledError: It was cancelled; the trace is closed as `abandoned`.
            StoreError: The log cannot be written; the trace is found and closed at the next start.
        """
        await self._services.gateway.refresh()
        try:
            async with self._recorder.during(self._turn, self._services.signals):
                self.trace.outcome = await self._act()
        finally:
            show_end(self._channel, self.trace, beside=self._is_beside)

    async def _act(self) -> Outcome:
        await self._services.neurons.refresh()
        with self._services.grants.during(self._turn.id, self._turn.yes_to):
            await self._steps.run([self._call], self._situation.model, self._situation, internal=True)
        step = self.trace.steps[0]
        if step.error is None:
            return "success"
        return "denied" if step.error.kind == "denied" else "failed"


def _situation(turn: Turn, channel: Channel) -> Situation:
    return Situation(
        roots=turn.roots,
        cwd=turn.cwd,
        typed_text=typed_part(turn.text),
        attended=turn.attended and channel.attended,
    )
