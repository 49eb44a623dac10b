"""The tool calls of one model message: judged first, asked together, then executed in order."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from attrs import evolve, frozen

from myclaw_core.approval.types import Deferred
from myclaw_core.files.resolve import display_path
from myclaw_core.messages import N_
from myclaw_core.policy.types import PolicyDecision, Situation
from myclaw_core.runtime.asking import Asker
from myclaw_core.runtime.channel import Channel
from myclaw_core.runtime.executor import Executor
from myclaw_core.runtime.holding import Holder
from myclaw_core.runtime.judged import Judged, judged_step, runs_dry, unjudged_step
from myclaw_core.runtime.loops import LoopDetector
from myclaw_core.runtime.neuron_run import NeuronRunner
from myclaw_core.runtime.neuron_world import Surroundings
from myclaw_core.runtime.planning import Planner
from myclaw_core.runtime.recorder import TraceRecorder
from myclaw_core.runtime.services import Services
from myclaw_core.runtime.step_words import doing, tool_message
from myclaw_core.runtime.storable import storable_line
from myclaw_core.runtime.types import ActionStep, Message, ToolCall, ToolError, Turn
from myclaw_core.types.canonical import digest_of
from myclaw_core.types.effect import Autonomy, Verdict, lower_level
from myclaw_core.types.text import Text

__all__ = ["CallsOutcome", "StepRunner"]

_STRICTNESS: dict[Verdict, int] = {"allow": 0, "approve_required": 1, "deny": 2}


@frozen(kw_only=True)
class CallsOutcome:
    """What became of the calls of one message.

    Attributes:
        messages: One tool message a call, in order.
        invalid: Whether a call failed validation.
        loop: What repeats, if the turn goes in circles.
    """

    messages: tuple[Message, ...]
    invalid: bool
    loop: Text | None


class StepRunner:
    """Runs the calls of one turn.

    Args:
        services: The agent's parts.
        recorder: Books this turn.
        channel: Where status and questions go.
        left: The question of an earlier run whose call is all there is to run.
    """

    def __init__(
        self, services: Services, turn: Turn, recorder: TraceRecorder, channel: Channel, left: Deferred | None = None
    ) -> None:
        self._services = services
        self._turn = turn
        self._recorder = recorder
        self._channel = channel
        self._left = left
        self._planner = Planner(services, turn)
        self._holder = Holder(services, turn, recorder, channel)
        self._neurons = NeuronRunner(services, turn, recorder, channel, self._run_inner)
        self._executor = Executor(services, turn, recorder, self._planner, self._neurons)
        self._asker = Asker(services, turn, recorder, channel, left)
        self._loops = LoopDetector()

    @property
    def waited_s(self) -> float:
        """Return the seconds that the person was waited for."""
        return self._asker.waited_s + self._neurons.waited_s

    async def run(
        self, calls: Sequence[ToolCall], model: str, situation: Situation, *, internal: bool = False
    ) -> CallsOutcome:
        """Judge, ask and execute `calls`; return what the model reads next.

        Args:
            internal: Whether the core itself calls.

        Raises:
            StoreError: The log cannot be written: nothing more may run.
        """
        around = Surroundings(situation=evolve(situation, model=model), internal=internal)
        judged = await self._judge_all(calls, around)
        await self._asker.ask(judged)
        messages = []
        loop = None
        for item in judged:
            step = await self._finish(item)
            messages.append(tool_message(item.call, step))
            loop = loop or self._observe(item.call, step)
        invalid = any(item.error is not None and item.error.kind == "validation" for item in judged)
        return CallsOutcome(messages=tuple(messages), invalid=invalid, loop=loop)

    async def _run_inner(self, call: ToolCall, around: Surroundings) -> ActionStep:
        """Take one call of a neuron through the turn: a step of the same trace."""
        judged = await self._judge_all([call], around)
        _require_target(judged[0])
        await self._asker.ask(judged)
        return await self._finish(judged[0])

    async def _judge_all(self, calls: Sequence[ToolCall], around: Surroundings) -> list[Judged]:
        first = len(self._recorder.trace.steps)
        judged = [await self._judge(call, first + offset, around) for offset, call in enumerate(calls)]
        await self._recorder.decided([item.step for item in judged])
        return judged

    async def _judge(self, call: ToolCall, index: int, around: Surroundings) -> Judged:
        problem = self._services.validator.problem(call, internal=around.internal)
        if problem is not None:
            invalid = ToolError(kind="validation", message=storable_line(problem), retryable=True)
            step = unjudged_step(call, index, around.situation, self._services.clock.now())
            return Judged(call=call, around=around, step=step, error=invalid)
        decided = await self._planner.decide(call, partial(self._evaluate, call, around.situation))
        decision = decided.decision
        return Judged(
            call=call,
            around=around,
            step=judged_step(call, index, decision, around.situation, self._services.clock.now()),
            planned=decided.planned,
            error=decided.error,
            violation=decision.violation if decision.verdict == "deny" else None,
        )

    async def _evaluate(self, call: ToolCall, situation: Situation, irreversible: Text | None = None) -> PolicyDecision:
        return await self._services.policy.evaluate(
            call,
            self._recorder.trace,
            self._turn.sender,
            await self._level(),
            situation,
            irreversible=irreversible,
        )

    async def _level(self) -> Autonomy:
        """Return the level of a decision: that of the turn, or the standing one where that has fallen meanwhile."""
        level = self._turn.autonomy
        return lower_level(level, await self._services.levels.now()) if self._turn.level_stands else level

    async def _finish(self, item: Judged) -> ActionStep:
        """Execute one judged call, or record why it does not run."""
        if item.error is None:
            item.error = await self._judge_again(item)
        if item.error is not None:
            step = evolve(item.step, state="failed", error=item.error)
            await self._recorder.ended(step, item.violation)
            return step
        if self._turn.dry_run and not runs_dry(item.step):
            return item.step
        self._channel.status(evolve(doing(item.step), beside=self._left is not None))
        tool = self._services.tools.get(item.call.tool)
        if tool is not None and tool.outbox is not None:
            return await self._holder.hold(item.call, item.step)
        return await self._executor.execute(item.call, item.step, item.planned, item.around)

    async def _judge_again(self, item: Judged) -> ToolError | None:
        """Judge just before execution; the verdict may only have become stricter."""
        was = item.step.decision
        if was is None:
            return None
        if was.kind == "neuron_invoke":
            await self._services.neurons.refresh()
        irreversible = item.planned.irreversible if item.planned else None
        now = await self._evaluate(item.call, item.around.situation, irreversible)
        if now.verdict == "deny":
            return ToolError(kind="denied", message=now.reason)
        if _STRICTNESS[now.verdict] > _STRICTNESS[was.verdict]:
            item.step = evolve(item.step, decision=now)
            await self._asker.ask([item])
        elif now.verdict == was.verdict and now.grant_ids != was.grant_ids:
            item.step = evolve(item.step, decision=now)
        return item.error

    def _observe(self, call: ToolCall, step: ActionStep) -> Text | None:
        result: Any = [step.error and str(step.error.message), step.exec_result and step.exec_result.text]
        return self._loops.observe(f"{call.tool}:{step.args_digest}", digest_of(result), failed=step.error is not None)


def _require_target(item: Judged) -> None:
    """Let a call not run that means another file than the manifest was compared with: a link has changed since."""
    target = item.around.target
    if target and item.error is None and any(effect.target != target for effect in item.step.effects):
        text = N_("{path} has just come to lead elsewhere; it was not done", path=display_path(target))
        item.error = ToolError(kind="denied", message=text)
