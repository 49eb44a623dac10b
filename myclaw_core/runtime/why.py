"""How each action of a trace was decided and how it ended, whether the turn still runs or lies in the log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import evolve, frozen

from myclaw_core.approval.types import Approval
from myclaw_core.errors import UsageError
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import (
    ApprovalAnswered,
    ApprovalAsked,
    Event,
    StepDecided,
    StepEnded,
    StepIntended,
    TraceClosed,
)
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_, _, render
from myclaw_core.policy.report import decision_json, explain
from myclaw_core.policy.types import PolicyDecision
from myclaw_core.runtime.types import ActionStep, ExecutionTrace, StepState
from myclaw_core.types.text import Text, TextValue

__all__ = ["DecidedStep", "decided_in", "decided_on_record"]

_TOLD_BY = (StepDecided, ApprovalAsked, ApprovalAnswered, StepIntended, StepEnded, TraceClosed)

_ENDED: Mapping[StepState, Text] = {
    "decided": N_("decided"),
    "asked": N_("asked"),
    "intent": N_("intent"),
    "done": N_("done"),
    "failed": N_("failed"),
}
_ANSWERED = {
    "granted": N_("then: granted by {who}, {ending}"),
    "denied": N_("then: you said no"),
    "expired": N_("then: expired by {who}, {ending}"),
    "revoked": N_("then: revoked by {who}, {ending}"),
}


@frozen(kw_only=True)
class DecidedStep:
    """One action that was judged.

    Attributes:
        decision: What was decided then; nothing is judged again.
        answer: How the question about it ended, where there was one.
    """

    step: ActionStep
    decision: PolicyDecision
    answer: Approval | None = None

    def told(self) -> str:
        """Return the decision with the reason of every check, and how it ended, in the language of the person."""
        return f"{explain(self.decision)}\n{self._ending()}"

    def json(self) -> dict[str, Any]:
        """Return the same for programs."""
        step, answer = self.step, self.answer
        return {
            "step": step.index,
            **decision_json(self.decision),
            "answer": answer and _answer_json(answer),
            "state": step.state,
            "error": step.error and {"kind": step.error.kind, "message": str(step.error.message)},
        }

    def _ending(self) -> str:
        ending = self.step.error.message if self.step.error else _ENDED[self.step.state]
        if self.answer is None:
            return visible(_("then: {ending}", ending=ending))
        if self.answer.revision is not None:
            stage, words = self.answer.revision.stage, self.answer.revision.text
            return visible(_("then: you asked for a revision ({stage}): {words}", stage=stage, words=words))
        params: dict[str, TextValue] = {"who": self.answer.decided_by, "ending": ending}
        return visible(render(evolve(_ANSWERED[self.answer.verdict], params=params)))


def _answer_json(answer: Approval) -> dict[str, Any]:
    told = {"verdict": answer.verdict, "by": answer.decided_by, "note": answer.note}
    revision = answer.revision
    return told if revision is None else {**told, "revision": {"stage": revision.stage, "text": revision.text}}


def decided_in(trace: ExecutionTrace) -> list[DecidedStep]:
    """Return the actions of a trace that were judged, in order."""
    return _decided(trace.steps, trace.approvals)


async def decided_on_record(log: EventLog, trace_id: str) -> list[DecidedStep]:
    """Return the same from the log, also of a trace that is not closed.

    Raises:
        UsageError: The decisions were erased.
        StoreError: The log cannot be read, or is not what was written.
    """
    steps: dict[int, ActionStep] = {}
    approvals: list[Approval] = []
    events = [event for _head, event in await log.events(trace_id, *_TOLD_BY)]
    for event in events:
        if isinstance(event, TraceClosed):
            return decided_in(event.trace)
        if isinstance(event, ApprovalAnswered):
            approvals.append(event.approval)
        elif event is not None:
            _follow(steps, event)
    if not steps and None in events:
        raise UsageError(N_("the decisions of trace {trace} were erased", trace=trace_id))
    return _decided(steps.values(), approvals)


def _follow(steps: dict[int, ActionStep], event: Event) -> None:
    """Bring one step to where `event` says that it is."""
    if isinstance(event, StepDecided | StepEnded):
        steps[event.step.index] = event.step
    elif isinstance(event, ApprovalAsked) and event.step_index in steps:
        steps[event.step_index] = evolve(steps[event.step_index], state="asked", approval_id=event.request.id)
    elif isinstance(event, StepIntended) and event.step_index in steps:
        steps[event.step_index] = evolve(steps[event.step_index], state="intent")


def _decided(steps: Iterable[ActionStep], approvals: Iterable[Approval]) -> list[DecidedStep]:
    answers = {approval.request_id: approval for approval in approvals}
    return [
        DecidedStep(
            step=step,
            decision=step.decision,
            answer=answers.get(step.approval_id) if step.approval_id else None,
        )
        for step in steps
        if step.decision is not None
    ]
