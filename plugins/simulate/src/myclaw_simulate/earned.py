"""Earned trust as the agent has it: the core's signals, estimators, thresholds and rule, over a record in memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from statistics import median
from uuid import UUID

from myclaw_core.approval.types import Approval
from myclaw_core.policy.checks import check_trust
from myclaw_core.runtime.types import ActionStep, ExecutionTrace, ToolError, ToolResult
from myclaw_core.trust.estimator import Estimator
from myclaw_core.trust.happenings import Sample
from myclaw_core.trust.promotion import Promotion, judge
from myclaw_core.trust.signals import CollectSignals, extract
from myclaw_core.trust.states import MemoryTrust
from myclaw_core.trust.subject import RUNTIME_ACTOR, parent_of
from myclaw_core.trust.thresholds import Thresholds
from myclaw_core.trust.types import SignalContext
from myclaw_core.types.action import PlannedAction
from myclaw_core.types.effect import Effect
from myclaw_simulate.days import Task
from myclaw_simulate.deeds import Deed
from myclaw_simulate.rules import Done

__all__ = ["Earned"]

_LASTS = timedelta(minutes=2)
_MEDIAN_OVER = timedelta(days=30)
_FAILED = ToolError(kind="exception", message="it failed")
_DENIED = ToolError(kind="denied", message="the person said no")
_RESULT = ToolResult(text="")


class Earned:
    """Asks where trust does not answer.

    Args:
        estimator: Turns samples into scores.
        thresholds: What a class must reach.
        signals: What the plugins say about a step.
    """

    def __init__(self, estimator: Estimator, thresholds: Thresholds, signals: CollectSignals) -> None:
        self._record = MemoryTrust(estimator)
        self._thresholds = thresholds
        self._signals = signals
        self._costs: dict[str, list[tuple[datetime, float]]] = defaultdict(list)
        self._medians: dict[str, float] = {}
        self._day = ""
        self._turns = 0

    def asks(self, deed: Deed) -> bool:
        """Return whether trust leaves a question open."""
        asked = [index for index, item in enumerate(deed.case.items) if item.effect.is_side_effect]
        return any(opinion.verdict != "allow" for opinion in check_trust(deed.case, asked, self._promotion))

    def learn(self, turn: Task, done: Sequence[Done]) -> None:
        """Close the trace of a task and take in its samples."""
        if not done:
            return
        self._turns += 1
        trace = _trace(self._turns, turn, done)
        context = SignalContext(median_cost_usd=self._night(turn.at), undone_steps=_undone(done))
        closed_at = turn.at + _LASTS
        for said in extract(trace, self._signals, context):
            if said.subject[0] != RUNTIME_ACTOR:
                self._record.add(Sample(at=closed_at, trace_id=str(trace.id), signals=said))
        for effect_class in {step.effect_class for step in trace.steps}:
            self._costs[effect_class].append((closed_at, turn.cost_usd))

    def scores(self, now: datetime) -> Mapping[str, float]:
        """Return the faded score of each actor and kind of side effect."""
        parents = (subject for subject in self._record if parent_of(subject) is None)
        return {" ".join(subject): view.score for subject in parents if (view := self._record.view(subject, now))}

    def _promotion(self, effect: Effect, action: PlannedAction, now: datetime) -> Promotion:
        threshold = self._thresholds.for_effect(effect.effect_class, effect.reversibility)
        return judge(effect, action, self._record, threshold, now)

    def _night(self, now: datetime) -> Mapping[str, float]:
        """Return the median cost of each class over 30 days, worked out anew once a day."""
        day = now.date().isoformat()
        if day != self._day:
            self._day = day
            since = now - _MEDIAN_OVER
            recent = {name: [cost for at, cost in costs if at >= since] for name, costs in self._costs.items()}
            self._medians = {name: median(costs) for name, costs in sorted(recent.items()) if costs}
        return self._medians


def _trace(number: int, turn: Task, done: Sequence[Done]) -> ExecutionTrace:
    trace_id = UUID(int=number)
    trace = ExecutionTrace(
        id=trace_id,
        session_id="simulated",
        channel="simulated",
        sender="simulated:person",
        autonomy="supervised",
        started_at=turn.at,
        steps=[_step(index, turn.at, each) for index, each in enumerate(done)],
        approvals=[_approval(index, trace_id, turn.at, each) for index, each in enumerate(done) if each.asked],
        cost_usd=turn.cost_usd,
        outcome="success",
    )
    trace.closed_at = turn.at + _LASTS
    return trace


def _step(index: int, at: datetime, done: Done) -> ActionStep:
    action = done.deed.case.action
    works = done.ran and not done.deed.fails
    return ActionStep(
        index=index,
        tool_name=action.tool_name,
        args={},
        args_digest=action.args_digest,
        actor=action.actor,
        actor_version="",
        model="",
        state="done" if works else "failed",
        kind=action.kind,
        effect_class=action.effect_class,
        effects=action.effects,
        started_at=at,
        tainted=action.tainted,
        approval_id=_request(index) if done.asked else None,
        exec_result=_RESULT if works else None,
        error=None if works else (_FAILED if done.ran else _DENIED),
    )


def _approval(index: int, trace_id: UUID, at: datetime, done: Done) -> Approval:
    return Approval(
        request_id=_request(index),
        trace_id=trace_id,
        verdict="granted" if done.granted else "denied",
        decided_by="simulated:person",
        decided_at=at,
    )


def _request(index: int) -> UUID:
    return UUID(int=index + 1)


def _undone(done: Sequence[Done]) -> frozenset[int]:
    return frozenset(index for index, each in enumerate(done) if each.ran and each.deed.undone)
