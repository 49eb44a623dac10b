"""When a question is no longer needed: the promotion rule, policy check 6."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Literal, Protocol

from attrs import frozen

from myclaw_core.messages import N_
from myclaw_core.policy.types import Evidence
from myclaw_core.trust.state import SubjectView
from myclaw_core.trust.subject import parent_of
from myclaw_core.trust.thresholds import NEVER, clamped
from myclaw_core.trust.types import EarnedBy
from myclaw_core.types.effect import Autonomy, Effect, RiskBand, autonomy_le
from myclaw_core.types.text import Text, TextValue
from myclaw_core.types.trust import TrustSubject, TrustThreshold

__all__ = [
    "CHECKED_EVERY",
    "CLEAN_FLOOR",
    "FLOORS_FROM",
    "KNOWN_DAYS",
    "MIN_DAYS",
    "SUCCESS_FLOOR",
    "JudgedAction",
    "Promotion",
    "TrustRecord",
    "grants_needed",
    "is_revoked",
    "judge",
    "lacking",
    "recent_grants",
]

SUCCESS_FLOOR = 0.6
CLEAN_FLOOR = 0.8
KNOWN_DAYS = 90
CHECKED_EVERY = 25
"""One in so many promoted actions of a subject is asked in tutor form (seed 004 on automation bias)."""
MIN_DAYS = 2
FLOORS_FROM = 3
"""Samples from which a floor holds."""
_TELLS_OUTSIDE = frozenset({"network_out", "outbound_message", "cost_spend"})


class TrustRecord(Protocol):
    """The part of the book that the rule reads."""

    @property
    def problem(self) -> Text | None:
        """Return why the record does not check out, or `None`."""
        ...

    @property
    def unchecked(self) -> Text | None:
        """Return that a part of the record is still being checked, or `None`."""
        ...

    def view(self, subject: TrustSubject, now: datetime, by: EarnedBy | None = None) -> SubjectView | None:
        """Return how `subject` stands at `now` for who acts."""
        ...


class JudgedAction(Protocol):
    """The part of a `PlannedAction` that the rule reads."""

    @property
    def actor(self) -> str:
        """Return who would act."""
        ...

    @property
    def actor_version(self) -> str:
        """Return its version or the hash of its body, empty if unknown."""
        ...

    @property
    def model(self) -> str:
        """Return the model that proposed it, empty if unknown."""
        ...

    @property
    def autonomy(self) -> Autonomy:
        """Return the session's level."""
        ...

    @property
    def tainted(self) -> bool:
        """Return whether text from outside is in play."""
        ...

    @property
    def named(self) -> bool:
        """Return whether the person named every target in this turn."""
        ...


@frozen(kw_only=True)
class Promotion:
    """Whether one effect of an action may go without a question.

    Attributes:
        reason: The figures that allow it, or the first condition that is not met.
        evidence: What was read, either way.
        risk: Band of the threshold; `high` where there is none.
        tutor: Whether it is asked although all conditions are met, to be checked: one in 25.
    """

    promoted: bool
    reason: Text
    evidence: Evidence
    risk: RiskBand
    tutor: bool = False


def judge(
    effect: Effect, action: JudgedAction, book: TrustRecord, threshold: TrustThreshold | None, now: datetime
) -> Promotion:
    """Return whether trust lifts the question about one effect of `action`; pure given the record.

    Args:
        threshold: That of the effect's class; `None`, like a score of 1.0, never promotes.
        now: The moment for which trust is faded.
    """
    subject = (action.actor, effect.effect_class)
    by = EarnedBy(action.actor_version, action.model)
    own, parent = _viewed(book, subject, now, by), _viewed(book, parent_of(subject), now, by)
    limit = None if threshold is None else clamped(threshold)
    level, short_of = _level(own, parent, limit)
    grants = 0 if own is None else recent_grants(own)
    needed = grants_needed(effect)
    known = grants >= needed
    reason = _forbidden(effect, action, book, limit)
    if reason is None and limit is not None:
        reason = _ordered(effect, own, parent, limit)
    reason = reason or _went_wrong(effect, own, parent) or short_of or _below_floor(own, parent)
    if reason is None and not (known or action.named):
        reason = _unknown_destination(own, grants, needed)
    tutor = reason is None and own is not None and own.state.unasked >= CHECKED_EVERY - 1
    if tutor:
        reason = N_(
            "done by itself {n} times since you were last asked: this one is for you to check", n=CHECKED_EVERY - 1
        )
    evidence = _evidence(effect, action, own, parent, limit, level=level, known=known, tutor=tutor)
    return Promotion(
        promoted=reason is None,
        reason=reason or _praise(own, parent, evidence),
        evidence=evidence,
        risk=limit.risk_band if limit else "high",
        tutor=tutor,
    )


def _viewed(book: TrustRecord, subject: TrustSubject | None, now: datetime, by: EarnedBy) -> SubjectView | None:
    return None if subject is None else book.view(subject, now, by)


def _forbidden(effect: Effect, action: JudgedAction, book: TrustRecord, limit: TrustThreshold | None) -> Text | None:
    """Return the rule by which no record, however good, would help."""
    if book.problem is not None:
        return N_("the trust record does not check out: {problem}", problem=book.problem)
    if book.unchecked is not None:
        return book.unchecked
    if effect.reversibility == "irreversible":
        return N_("it cannot be undone, so it asks each time")
    if limit is None or limit.min_score >= NEVER:
        return N_("{effect_class} has no threshold, so it asks each time", effect_class=effect.effect_class)
    if not autonomy_le(action.autonomy, limit.cap_autonomy):
        return N_("trust counts up to the autonomy level {cap} only", cap=limit.cap_autonomy)
    if effect.kind in _TELLS_OUTSIDE and action.tainted and not action.named:
        return N_("text from outside is in play and you did not name {target}", target=effect.target)
    if effect.kind == "outbound_message" and not action.named:
        return N_("you did not name {target} in this message", target=effect.target)
    return None


def _ordered(effect: Effect, own: SubjectView | None, parent: SubjectView | None, limit: TrustThreshold) -> Text | None:
    """Return what the person ordered that still holds."""
    if own is not None and own.state.held:
        return N_("you chose to be asked about this")
    if parent is not None and parent.state.held:
        return N_("you chose to be asked about {kind} anywhere", kind=effect.kind)
    if own is not None and is_revoked(own, limit):
        n, least = own.state.earned, limit.min_samples
        return N_("you took the trust in this away, {n} of {min} new samples", n=n, min=least)
    if parent is not None and is_revoked(parent, limit):
        n, least = parent.state.earned, limit.min_samples
        return N_("you took the trust in {kind} away, {n} of {min} new samples", kind=effect.kind, n=n, min=least)
    return None


def is_revoked(view: SubjectView, limit: TrustThreshold) -> bool:
    """Return whether its trust was taken away and is not earned anew yet."""
    return view.state.revoked and view.state.earned < limit.min_samples


def _went_wrong(effect: Effect, own: SubjectView | None, parent: SubjectView | None) -> Text | None:
    sums_up = parent or own
    if sums_up is None or not any(sums_up.state.recent):
        return None
    if own is not None and any(own.state.recent):
        return N_("one of the last 3 times was denied, undone or broke a law")
    return N_("{kind} anywhere: one of the last 3 times was denied, undone or broke a law", kind=effect.kind)


def _level(
    own: SubjectView | None, parent: SubjectView | None, limit: TrustThreshold | None
) -> tuple[Literal["subject", "parent", "none"], Text | None]:
    """Return the level that meets the threshold of its own, or what the wider one is short of."""
    if limit is None or (own is None and parent is None):
        return "none", N_("it was never done before")
    short_of = None
    if own is not None:
        short_of = lacking(own, limit)
        if short_of is None:
            return "subject", None
    if parent is not None:
        short_of = lacking(parent, limit)
        if short_of is None:
            return "parent", None
    return "none", short_of


def lacking(view: SubjectView, limit: TrustThreshold) -> Text | None:
    """Return what one level is short of by itself, or `None`."""
    state = view.state
    if state.earned < limit.min_samples:
        return N_("{n} of {min} samples", n=state.earned, min=limit.min_samples)
    if state.days < MIN_DAYS:
        return N_("only on one day so far")
    if view.effective_count < limit.min_samples:
        return N_(
            "{count:.1f} of {min} samples still count, older ones have faded",
            count=view.effective_count,
            min=limit.min_samples,
        )
    if view.score < limit.min_score:
        return N_("score {score:.2f} of {min:.2f}", score=view.score, min=limit.min_score)
    return None


def _below_floor(own: SubjectView | None, parent: SubjectView | None) -> Text | None:
    """Return the signal that a good mean would hide."""
    for view in (own, parent):
        if view is None or view.state.n_samples < FLOORS_FROM:
            continue
        success, clean = view.state.tool_success.mean, view.state.constitution_clean.mean
        if success < SUCCESS_FLOOR:
            return N_("it succeeds too seldom: {value:.2f} of {min:.2f}", value=success, min=SUCCESS_FLOOR)
        if clean < CLEAN_FLOOR:
            return N_("it broke laws too often: {value:.2f} of {min:.2f}", value=clean, min=CLEAN_FLOOR)
    return None


def grants_needed(effect: Effect) -> int:
    """Return how often a person must have approved exactly this."""
    if effect.kind == "neuron_invoke" or not effect.scope:
        return 3
    return 2 if effect.reversibility == "reversible_with_cost" else 1


def recent_grants(own: SubjectView) -> int:
    """Return how often a person approved exactly this since it last went wrong, within the days that count."""
    oldest = own.at - timedelta(days=KNOWN_DAYS)
    return sum(at >= oldest for at in own.state.grants)


def _unknown_destination(own: SubjectView | None, grants: int, needed: int) -> Text:
    if own is None or own.state.last_asked is None:
        return N_("this destination was never approved")
    return N_(
        "since it last went wrong, and within {days} days, this destination was approved {n} of {needed} times",
        n=grants,
        needed=needed,
        days=KNOWN_DAYS,
    )


def _praise(own: SubjectView | None, parent: SubjectView | None, evidence: Evidence) -> Text:
    view = own if evidence.level == "subject" else parent
    if view is None:  # pragma: no cover - a level that met the threshold was read
        raise AssertionError("nothing was read")
    figures: dict[str, TextValue] = {"n": view.state.n_good, "score": view.score, "min": evidence.min_score}
    if evidence.last_asked_days is None:
        return N_("went well {n} times, score {score:.2f} ≥ {min:.2f}, never asked about this destination", **figures)
    days = int(evidence.last_asked_days)
    if days == 0:
        return N_("went well {n} times, score {score:.2f} ≥ {min:.2f}, last asked less than a day ago", **figures)
    if days == 1:
        return N_("went well {n} times, score {score:.2f} ≥ {min:.2f}, last asked a day ago", **figures)
    return N_("went well {n} times, score {score:.2f} ≥ {min:.2f}, last asked {days} days ago", days=days, **figures)


def _evidence(
    effect: Effect,
    action: JudgedAction,
    own: SubjectView | None,
    parent: SubjectView | None,
    limit: TrustThreshold | None,
    *,
    level: Literal["subject", "parent", "none"],
    known: bool,
    tutor: bool,
) -> Evidence:
    read = own or parent
    return Evidence(
        effect_class=effect.effect_class,
        **_figures(own),
        **{f"parent_{name}": figure for name, figure in _figures(parent).items()},
        estimator=read.estimator if read else "",
        known=known,
        named=action.named,
        min_score=limit.min_score if limit else NEVER,
        min_samples=limit.min_samples if limit else 0,
        level=level,
        last_asked_days=None if own is None else _days_since(own.state.last_asked, own.at),
        unasked=own.state.unasked if own else 0,
        tutor=tutor,
        actor=action.actor,
    )


def _days_since(then: datetime | None, now: datetime) -> float | None:
    return None if then is None else max((now - then).total_seconds(), 0.0) / 86_400


def _figures(view: SubjectView | None) -> dict[str, Any]:
    """Return what one level was judged by; nothing where it has no history."""
    if view is None:
        return {"score": 0.0, "n_samples": 0, "effective_count": 0.0}
    state = view.state
    return {
        "score": view.score,
        "n_samples": state.n_samples,
        "effective_count": view.effective_count,
        "days": state.days,
        "recent_bad": state.recent,
        "tool_success": state.tool_success.mean,
        "constitution_clean": state.constitution_clean.mean,
        "revoked": state.revoked,
        "held": state.held,
    }
