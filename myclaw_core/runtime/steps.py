"""The tool calls of one model message: judged first, asked together, then executed in order."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

from attrs import define, evolve, frozen

from myclaw_core.approval.gateway import Question
from myclaw_core.approval.types import Approval, Deferred, Sealed
from myclaw_core.constitution.types import ViolationReport
from myclaw_core.files.resolve import display_path
from myclaw_core.messages import N_
from myclaw_core.policy.grants import can_be_granted
from myclaw_core.policy.reach import lies_elsewhere
from myclaw_core.policy.types import PolicyDecision, Situation
from myclaw_core.redact import redact_value
from myclaw_core.runtime.channel import Channel, Status
from myclaw_core.runtime.executor import Executor
from myclaw_core.runtime.holding import Holder
from myclaw_core.runtime.loops import LoopDetector
from myclaw_core.runtime.neuron_run import NeuronRunner
from myclaw_core.runtime.neuron_world import Surroundings
from myclaw_core.runtime.planning import Planned, Planner
from myclaw_core.runtime.prompt import outside_block
from myclaw_core.runtime.recorder import TraceRecorder
from myclaw_core.runtime.services import Services
from myclaw_core.runtime.storable import masked_args, storable_line
from myclaw_core.runtime.types import ActionStep, Message, ToolCall, ToolError, Turn
from myclaw_core.trust.signals import subjects_of
from myclaw_core.types.action import PURE_CLASS
from myclaw_core.types.canonical import digest_of
from myclaw_core.types.effect import Autonomy, Verdict, autonomy_le, lower_level
from myclaw_core.types.text import Text

__all__ = ["CallsOutcome", "StepRunner"]

_OWN_WORDS = frozenset({"validation", "denied"})
"""Errors of calls that the core itself did not let begin: what it says of them comes from nobody else."""

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


@define(kw_only=True)
class _Judged:
    """One call on its way; `error` ends it without running."""

    call: ToolCall
    around: Surroundings
    step: ActionStep
    planned: Planned | None = None
    error: ToolError | None = None
    violation: ViolationReport | None = None


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
        self._loops = LoopDetector()
        self._waited_s = 0.0

    @property
    def waited_s(self) -> float:
        """Return the seconds that the person was waited for."""
        return self._waited_s + self._neurons.waited_s

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
        await self._ask(judged)
        messages = []
        loop = None
        for item in judged:
            step = await self._finish(item)
            messages.append(_tool_message(item.call, step))
            loop = loop or self._observe(item.call, step)
        invalid = any(item.error is not None and item.error.kind == "validation" for item in judged)
        return CallsOutcome(messages=tuple(messages), invalid=invalid, loop=loop)

    async def _run_inner(self, call: ToolCall, around: Surroundings) -> ActionStep:
        """Take one call of a neuron through the turn: a step of the same trace."""
        judged = await self._judge_all([call], around)
        await self._ask(judged)
        return await self._finish(judged[0])

    async def _judge_all(self, calls: Sequence[ToolCall], around: Surroundings) -> list[_Judged]:
        first = len(self._recorder.trace.steps)
        judged = [await self._judge(call, first + offset, around) for offset, call in enumerate(calls)]
        await self._recorder.decided([item.step for item in judged])
        return judged

    async def _judge(self, call: ToolCall, index: int, around: Surroundings) -> _Judged:
        problem = self._services.validator.problem(call, internal=around.internal)
        if problem is not None:
            invalid = ToolError(kind="validation", message=storable_line(problem), retryable=True)
            return _Judged(call=call, around=around, step=self._unjudged_step(call, index, around), error=invalid)
        decided = await self._planner.decide(call, partial(self._evaluate, call, around.situation))
        return _Judged(
            call=call,
            around=around,
            step=self._step(call, index, decided.decision, around.situation),
            planned=decided.planned,
            error=decided.error,
            violation=_denied_violation(decided.decision),
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

    async def _ask(self, judged: Sequence[_Judged]) -> None:
        asked = [item for item in judged if item.error is None and _asks(item)]
        if self._turn.dry_run:
            asked = [item for item in asked if _runs_dry(item.step)]
        if not asked:
            return
        self._status(Status(phase="waiting", tool=asked[0].step.tool_name))
        before_s = self._services.clock.monotonic()
        frame = asked[0].around.frame
        with frame.wall.waiting() if frame else nullcontext():
            questions = [await self._question(item) for item in asked]
            approvals = await self._services.gateway.ask(questions, self._turn, self._channel)
        self._waited_s += self._services.clock.monotonic() - before_s
        for item, approval in zip(asked, approvals, strict=True):
            item.step = evolve(item.step, state="asked", approval_id=approval.request_id)
            if approval.verdict != "granted":
                item.error = ToolError(kind="denied", message=_refusal(approval))
                if approval.verdict == "denied" and item.step.decision is not None:
                    item.violation = item.step.decision.violation
        self._recorder.answered([item.step for item in asked], approvals)

    async def _question(self, item: _Judged) -> Question:
        decision = item.step.decision
        if decision is None or decision.draft is None:  # pragma: no cover - `_asks` has checked it
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

    async def _finish(self, item: _Judged) -> ActionStep:
        """Execute one judged call, or record why it does not run."""
        if item.error is None:
            item.error = await self._judge_again(item)
        if item.error is not None:
            step = evolve(item.step, state="failed", error=item.error)
            await self._recorder.ended(step, item.violation)
            return step
        if self._turn.dry_run and not _runs_dry(item.step):
            return item.step
        self._status(_doing(item.step))
        tool = self._services.tools.get(item.call.tool)
        if tool is not None and tool.outbox is not None:
            return await self._holder.hold(item.call, item.step)
        return await self._executor.execute(item.call, item.step, item.planned, item.around)

    def _status(self, status: Status) -> None:
        self._channel.status(evolve(status, beside=self._left is not None))

    async def _judge_again(self, item: _Judged) -> ToolError | None:
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
            await self._ask([item])
        elif now.verdict == was.verdict and now.grant_ids != was.grant_ids:
            item.step = evolve(item.step, decision=now)
        return item.error

    def _observe(self, call: ToolCall, step: ActionStep) -> Text | None:
        result: Any = [step.error and str(step.error.message), step.exec_result and step.exec_result.text]
        return self._loops.observe(f"{call.tool}:{step.args_digest}", digest_of(result), failed=step.error is not None)

    def _step(self, call: ToolCall, index: int, decision: PolicyDecision, situation: Situation) -> ActionStep:
        action = decision.action
        return ActionStep(
            index=index,
            tool_name=call.tool,
            args=action.args_preview,
            args_digest=action.args_digest,
            actor=action.actor,
            actor_version=action.actor_version,
            model=situation.model,
            state="decided",
            kind=decision.kind,
            effect_class=decision.effect_class,
            effects=decision.effects,
            started_at=self._services.clock.now(),
            tainted=situation.tainted,
            decision=decision,
            callers=action.callers,
        )

    def _unjudged_step(self, call: ToolCall, index: int, around: Surroundings) -> ActionStep:
        """Return the step of a call that never reached the policy."""
        preview, callers = masked_args(call.args), around.situation.callers
        return ActionStep(
            index=index,
            tool_name=call.tool,
            args=preview,
            args_digest=digest_of(preview),
            actor=callers[-1].actor if callers else call.tool,
            actor_version=callers[-1].version if callers else "",
            model=around.situation.model,
            state="decided",
            kind="fs_read",
            effect_class=PURE_CLASS,
            effects=(),
            started_at=self._services.clock.now(),
            callers=callers,
        )


def _runs_dry(step: ActionStep) -> bool:
    """Return whether a step runs in a dry run too: it reads, or calls a neuron, whose calls are judged one by one."""
    return not any(effect.changes for effect in step.effects)


def _doing(step: ActionStep) -> Status:
    """Return what is shown while a step runs: the neuron at work, and what it calls."""
    detail = ", ".join(_targets(step))
    if not step.callers:
        return Status(phase="tool", tool=step.tool_name, detail=detail[:120])
    return Status(phase="tool", tool=step.callers[-1].actor, detail=f"{step.tool_name} {detail}".strip()[:120])


def _asks(item: _Judged) -> bool:
    decision = item.step.decision
    return decision is not None and decision.verdict == "approve_required"


def _denied_violation(decision: PolicyDecision) -> ViolationReport | None:
    return decision.violation if decision.verdict == "deny" else None


def _refusal(approval: Approval) -> Text:
    if approval.deferred_until is not None:
        return N_(
            "this needs the person's approval and nobody is there to answer; it was not done, and the question was "
            "left for the person to answer later"
        )
    if approval.note == "unattended":
        return N_("this needs the person's approval and nobody is there to answer; it was not done")
    if approval.verdict == "denied":
        return N_("the person said no; it was not done")
    if approval.note == "timeout":
        return N_("no approval (timeout); it was not done")
    if approval.note == "elsewhere":
        return N_("the question was answered elsewhere; it was not done here")
    return N_("no approval (no answer); it was not done")


def _targets(step: ActionStep) -> list[str]:
    return [display_path(effect.target) for effect in step.effects]


def _tool_message(call: ToolCall, step: ActionStep) -> Message:
    """Return what the model reads about a step; tool output is outside text, the core's own words are not."""
    output = step.exec_result.text if step.exec_result else ""
    if step.exec_result is not None and step.error is None:
        return Message(role="tool", text=outside_block(call.tool, output), tool_call_id=call.id, outside=True)
    if step.error is None and step.decision is not None:
        text = f"dry run: judged as {step.decision.verdict}, not executed; go on as if it had been done"
        return Message(role="tool", text=text, tool_call_id=call.id)
    message = "\n".join(filter(None, (str(step.error.message) if step.error else "it did not run", output)))
    outside = step.exec_result is not None or (step.error is not None and step.error.kind not in _OWN_WORDS)
    text = outside_block(call.tool, message) if outside else message
    return Message(role="tool", text=text, tool_call_id=call.id, outside=outside, is_error=True)
