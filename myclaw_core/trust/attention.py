"""What the person's attention was spent on, week by week: counted from the event log, nothing else."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, date, datetime, timedelta, tzinfo
from itertools import product
from statistics import median
from uuid import UUID

from attrs import Factory, define, frozen

from myclaw_core.approval.types import Approval, ApprovalRequest
from myclaw_core.codec import event_tag
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import ApprovalAnswered, ApprovalAsked, Event, TraceClosed, UndoApplied
from myclaw_core.runtime.types import ActionStep, ExecutionTrace
from myclaw_core.trust.signals import ran
from myclaw_core.types.trust import TrustSubject

__all__ = ["REGRET_WITHIN", "AttentionCounter", "Week", "first_monday", "reading_time_s", "recorded"]

REGRET_WITHIN = timedelta(hours=24)
"""How long after an action an undo, or a denial of another one like it, counts as regret."""

_WORDS_PER_MINUTE = 238
"""Silent reading of plain text (Brysbaert 2019)."""
_WEEK = timedelta(days=7)
_KINDS = frozenset(map(event_tag, (ApprovalAnswered, ApprovalAsked, TraceClosed, UndoApplied)))


@frozen(kw_only=True)
class Week:
    """One week, Monday to Sunday in the person's time zone.

    Attributes:
        starts_on: Its Monday.
        actions: Actions with a side effect that ran, or about which a person was asked.
        questions: Questions that were put to a person; one that the answer to another covered is none.
        by_itself: Actions that earned trust let run.
        regretted: Those of them that were undone, or whose like was denied, within `REGRET_WITHIN`.
        answers: Questions that a person answered.
        hasty_answers: Those of them that came sooner than the question can be read.
        median_decide_s: Median time from question to answer.
        tasks: Turns that succeeded.
        succeeded: Actions with a side effect that succeeded.
    """

    starts_on: date
    actions: int = 0
    questions: int = 0
    by_itself: int = 0
    regretted: int = 0
    answers: int = 0
    hasty_answers: int = 0
    median_decide_s: float | None = None
    tasks: int = 0
    succeeded: int = 0

    @property
    def questions_per_100_actions(self) -> float | None:
        """Return questions per 100 actions; `None` without any."""
        return _ratio(100 * self.questions, self.actions)

    @property
    def regret_rate(self) -> float | None:
        """Return the share of actions done by themselves that was regretted; `None` without any."""
        return _ratio(self.regretted, self.by_itself)

    @property
    def tasks_per_question(self) -> float | None:
        """Return tasks completed per question; `None` without any."""
        return _ratio(self.tasks, self.questions)

    @property
    def succeeded_per_question(self) -> float | None:
        """Return successful actions per question; `None` without any."""
        return _ratio(self.succeeded, self.questions)


def first_monday(now: datetime, weeks: int, zone: tzinfo) -> datetime:
    """Return when the first of the last `weeks` weeks began, the present one included."""
    monday = _monday(now, zone) - _WEEK * (weeks - 1)
    return datetime.combine(monday, datetime.min.time(), zone).astimezone(UTC)


async def recorded(log: EventLog, since: datetime) -> AsyncIterator[tuple[datetime, Event]]:
    """Yield what an `AttentionCounter` counts, with its time, from `since` on.

    Raises:
        StoreError: The log cannot be read.
    """
    seq = 0
    while heads := await log.heads(seq):
        for head in heads:
            at = datetime.fromisoformat(head.at)
            if head.type in _KINDS and at >= since and (event := await log.event(head)) is not None:
                yield at, event
        seq = heads[-1].seq


def reading_time_s(request: ApprovalRequest) -> float:
    """Return how long a question takes to read, in seconds: its words at the pace of plain text."""
    draft = request.draft
    told = (draft.summary, *draft.policy_reasons, *draft.action.args_preview.values(), *draft.action.targets)
    words = sum(len(str(part).split()) for part in told)
    return words * 60 / _WORDS_PER_MINUTE


@define
class _Tally:
    """One week while it is counted."""

    actions: int = 0
    questions: int = 0
    hasty_answers: int = 0
    tasks: int = 0
    succeeded: int = 0
    decide_s: list[float] = Factory(list)
    alone: list[_Alone] = Factory(list)


@frozen
class _Alone:
    """An action that was done by itself."""

    at: datetime
    step: tuple[UUID, int]
    subjects: tuple[TrustSubject, ...]


class AttentionCounter:
    """Counts what happened by week; what was taken in from files is left out: nobody was asked about it here.

    Args:
        zone: Where the person's weeks begin.
    """

    def __init__(self, zone: tzinfo) -> None:
        self._zone = zone
        self._weeks: Mapping[date, _Tally] = defaultdict(_Tally)
        self._asked: dict[UUID, ApprovalRequest] = {}
        self._undone: dict[tuple[UUID, int], datetime] = {}
        self._denied: Mapping[TrustSubject, list[datetime]] = defaultdict(list)

    def take(self, at: datetime, event: Event) -> None:
        """Count one event; they come in the order of the log.

        Args:
            at: When it was recorded.
        """
        match event:
            case ApprovalAsked():
                self._ask(event.request)
            case ApprovalAnswered():
                self._answer(event.approval)
            case UndoApplied() if event.reverted:
                self._undone.setdefault((event.original_trace_id, event.step_index), at)
            case TraceClosed() if not event.ingested:
                self._close(event.trace)

    def _ask(self, request: ApprovalRequest) -> None:
        self._asked[request.id] = request
        self._at(request.created_at).questions += 1

    def _answer(self, approval: Approval) -> None:
        request = self._asked.pop(approval.request_id, None)
        if request is None:
            return
        week = self._at(request.created_at)
        if approval.scope != "once" or approval.note == "unattended":
            week.questions -= 1
        elif approval.decided_by != "core" and approval.verdict in ("granted", "denied"):
            took_s = max((approval.decided_at - request.created_at).total_seconds(), 0.0)
            week.decide_s.append(took_s)
            week.hasty_answers += took_s < reading_time_s(request)
            if approval.verdict == "denied" and approval.revision is None:
                action = request.draft.action
                for caller, effect in product(action.acting, action.effects):
                    self._denied[caller.actor, effect.effect_class].append(approval.decided_at)

    def _close(self, trace: ExecutionTrace) -> None:
        if trace.closed_at is not None and trace.parent_trace_id is None:
            completed = trace.activity == "turn" and trace.outcome == "success" and not trace.unverified
            self._at(trace.closed_at).tasks += completed
        for step in trace.steps:
            if any(effect.is_side_effect for effect in step.effects):
                self._count(trace, step)

    def _count(self, trace: ExecutionTrace, step: ActionStep) -> None:
        happened = ran(step, trace)
        week = self._at(step.started_at)
        week.actions += happened or step.approval_id is not None
        week.succeeded += step.state == "done" and step.error is None
        if happened and step.decision is not None and step.decision.via == "trust_promoted":
            changing = [effect for effect in step.effects if effect.is_side_effect]
            subjects = tuple((caller.actor, each.effect_class) for caller, each in product(step.acting, changing))
            week.alone.append(_Alone(step.started_at, (trace.id, step.index), subjects))

    def weeks(self, now: datetime, count: int) -> tuple[Week, ...]:
        """Return the last `count` weeks, the present one last."""
        first = first_monday(now, count, self._zone).astimezone(self._zone).date()
        return tuple(self._week(first + _WEEK * number) for number in range(count))

    def _week(self, starts_on: date) -> Week:
        tally = self._weeks[starts_on]
        return Week(
            starts_on=starts_on,
            actions=tally.actions,
            questions=tally.questions,
            by_itself=len(tally.alone),
            regretted=sum(map(self._is_regretted, tally.alone)),
            answers=len(tally.decide_s),
            hasty_answers=tally.hasty_answers,
            median_decide_s=median(tally.decide_s) if tally.decide_s else None,
            tasks=tally.tasks,
            succeeded=tally.succeeded,
        )

    def _is_regretted(self, alone: _Alone) -> bool:
        undone = self._undone.get(alone.step)
        moments = [*([undone] if undone else []), *(at for subject in alone.subjects for at in self._denied[subject])]
        return any(timedelta() < at - alone.at <= REGRET_WITHIN for at in moments)

    def _at(self, moment: datetime) -> _Tally:
        return self._weeks[_monday(moment, self._zone)]


def _monday(moment: datetime, zone: tzinfo) -> date:
    day = moment.astimezone(zone).date()
    return day - timedelta(days=day.weekday())


def _ratio(part: float, whole: int) -> float | None:
    return part / whole if whole else None
