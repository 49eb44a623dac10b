"""What a subject still lacks before its actions run without a question, condition by condition."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from attrs import frozen

from myclaw_core.messages import N_
from myclaw_core.trust.backtest import effect_of
from myclaw_core.trust.promotion import (
    CLEAN_FLOOR,
    FLOORS_FROM,
    KNOWN_DAYS,
    MIN_DAYS,
    SUCCESS_FLOOR,
    Promotion,
    TrustRecord,
    grants_needed,
    is_revoked,
    judge,
    lacking,
    recent_grants,
)
from myclaw_core.trust.state import SubjectView
from myclaw_core.trust.subject import RUNTIME_ACTOR, parent_of
from myclaw_core.trust.thresholds import NEVER, Thresholds
from myclaw_core.types.effect import Autonomy, Effect, Reversibility, autonomy_le
from myclaw_core.types.text import Text
from myclaw_core.types.trust import TrustSubject, TrustThreshold

__all__ = ["Condition", "Outlook", "best_of", "ordinary_effect", "outlook"]

_LEVEL: Autonomy = "supervised"


@frozen(kw_only=True)
class Condition:
    """One thing that must hold.

    Attributes:
        name: What programs call it.
        about: What must hold.
        found: What was found.
    """

    name: str
    about: Text
    found: Text
    holds: bool


@frozen(kw_only=True)
class Outlook:
    """What would become of the next ordinary action of a subject: nothing from outside in play, its target not named.

    Attributes:
        either: The score and the samples of the subject and of its parent, of which one is enough.
        conditions: What must hold besides.
    """

    promotion: Promotion
    threshold: TrustThreshold
    either: tuple[Condition, ...]
    conditions: tuple[Condition, ...]


@frozen(kw_only=True)
class _Ordinary:
    """An action of whoever earned what is there."""

    actor: str
    actor_version: str
    model: str
    autonomy: Autonomy = _LEVEL
    tainted: bool = False
    named: bool = False


def outlook(subject: TrustSubject, book: TrustRecord, thresholds: Thresholds, now: datetime) -> Outlook | None:
    """Return what `subject` lacks at `now`; `None` where no action is one of it: for `runtime`, a parent, no history.

    The action is taken to be as reversible as its kind can be.
    """
    effect, own = ordinary_effect(subject), book.view(subject, now)
    if effect is None or own is None:
        return None
    wider = parent_of(subject)
    parent = None if wider is None else book.view(wider, now)
    threshold = thresholds.for_effect(effect.effect_class, effect.reversibility)
    action = _Ordinary(actor=subject[0], actor_version=own.state.version, model=own.state.model)
    levels = [("subject", own, N_("here")), ("parent", parent, N_("anywhere"))]
    return Outlook(
        promotion=judge(effect, action, book, threshold, now),
        threshold=threshold,
        either=tuple(_level(name, view, where, threshold) for name, view, where in levels if view is not None),
        conditions=tuple(_conditions(effect, book, own, parent, threshold)),
    )


def best_of(subject: TrustSubject) -> Reversibility | None:
    """Return how far the subject's actions can be taken back at best; `None` for the best that its kind may have.

    A command in the sandbox is undone from a snapshot.
    """
    return "reversible_with_cost" if subject[1].startswith("shell_exec:") else None


def ordinary_effect(subject: TrustSubject) -> Effect | None:
    """Return the effect of an ordinary action of `subject`; `None` where no action is one of it."""
    actor, effect_class = subject
    if actor == RUNTIME_ACTOR or effect_class.endswith(":*"):
        return None
    try:
        return effect_of(subject, best_of(subject))
    except ValueError:
        return None


def _level(name: str, view: SubjectView, where: Text, threshold: TrustThreshold) -> Condition:
    state = view.state
    found = N_(
        "score {score:.2f} (at least {min_score:.2f}), samples {n} (at least {min_n}), "
        "worth {worth:.1f} today (likewise), days {days} (at least {min_days})",
        score=view.score,
        min_score=threshold.min_score,
        n=state.earned,
        min_n=threshold.min_samples,
        worth=view.effective_count,
        days=state.days,
        min_days=MIN_DAYS,
    )
    about = N_("score, samples and days, {where}", where=where)
    return Condition(name=name, about=about, found=found, holds=lacking(view, threshold) is None)


def _conditions(
    effect: Effect, book: TrustRecord, own: SubjectView, parent: SubjectView | None, threshold: TrustThreshold
) -> Iterator[Condition]:
    yield _reversible(threshold)
    yield _floor("tool_success", N_("it succeeds often enough"), SUCCESS_FLOOR, own, parent)
    yield _floor("constitution_clean", N_("it breaks laws seldom enough"), CLEAN_FLOOR, own, parent)
    grants, needed = recent_grants(own), grants_needed(effect)
    yield Condition(
        name="known",
        about=N_("you approved exactly this in the last {days} days", days=KNOWN_DAYS),
        found=N_("times since it last went wrong: {n} (at least {min})", n=grants, min=needed),
        holds=grants >= needed,
    )
    wrong = sum((parent or own).state.recent)
    yield Condition(
        name="recent",
        about=N_("of the last 3 times anywhere none was denied, undone or broke a law"),
        found=N_("{n} of them", n=wrong),
        holds=not wrong,
    )
    yield _orders(own, parent, threshold)
    yield Condition(
        name="level",
        about=N_("trust counts at the level {level}", level=_LEVEL),
        found=N_("it counts up to {cap}", cap=threshold.cap_autonomy),
        holds=autonomy_le(_LEVEL, threshold.cap_autonomy),
    )
    yield Condition(
        name="record",
        about=N_("the trust record checks out"),
        found=book.problem or book.unchecked or N_("it does"),
        holds=book.problem is None and book.unchecked is None,
    )


def _reversible(threshold: TrustThreshold) -> Condition:
    holds = threshold.min_score < NEVER
    return Condition(
        name="reversible",
        about=N_("it can be undone, and its class has a threshold"),
        found=N_("yes") if holds else N_("no, so it asks each time"),
        holds=holds,
    )


def _floor(name: str, about: Text, least: float, own: SubjectView, parent: SubjectView | None) -> Condition:
    counted = [view for view in (own, parent) if view is not None and view.state.n_samples >= FLOORS_FROM]
    lowest = min((getattr(view.state, name).mean for view in counted), default=None)
    few = N_("fewer than {n} samples, so it holds", n=FLOORS_FROM)
    found = few if lowest is None else N_("{value:.2f} (at least {min:.2f})", value=lowest, min=least)
    return Condition(name=name, about=about, found=found, holds=lowest is None or lowest >= least)


def _orders(own: SubjectView, parent: SubjectView | None, threshold: TrustThreshold) -> Condition:
    views = [view for view in (own, parent) if view is not None]
    found = None
    if any(view.state.held for view in views):
        found = N_("you chose to be asked")
    elif any(is_revoked(view, threshold) for view in views):
        found = N_("you took the trust away; it has to be earned anew")
    return Condition(
        name="orders",
        about=N_("you did not order otherwise"),
        found=found or N_("you did not"),
        holds=found is None,
    )
