"""What is worth a second look in the trust record: moved scores, yeses without results, and other actors of a name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from attrs import frozen

from myclaw_core.messages import N_
from myclaw_core.trust.book import TrustBook
from myclaw_core.trust.estimator import Estimator
from myclaw_core.trust.happenings import Happening
from myclaw_core.trust.promotion import FLOORS_FROM, SUCCESS_FLOOR
from myclaw_core.trust.replay import fold
from myclaw_core.trust.state import Handover
from myclaw_core.trust.subject import RUNTIME_ACTOR
from myclaw_core.types.text import Text
from myclaw_core.types.trust import TrustScore, TrustSubject

__all__ = ["DRIFT_DAYS", "HIGH_APPROVAL", "Drift", "changed_actors", "drifts", "top_drift", "wishful", "wishful_text"]

DRIFT_DAYS = 7
HIGH_APPROVAL = 0.8
"""Approval rate from which a low success is noticed (the sycophancy pattern of seed 000)."""

_SHOWN = 5
_LEAST = 0.01


@frozen(kw_only=True)
class Drift:
    """How far the score of one subject moved in the days before `now`."""

    subject: TrustSubject
    before: float
    after: float

    @property
    def change(self) -> float:
        """Return after minus before."""
        return self.after - self.before

    @property
    def text(self) -> Text:
        """Return it as one line."""
        return N_(
            "trust in {subject} moved from {before:.2f} to {after:.2f} this week",
            subject=" ".join(self.subject),
            before=self.before,
            after=self.after,
        )


async def top_drift(book: TrustBook, now: datetime) -> list[Drift]:
    """Return the subjects that were used in the last days and whose score moved most, the largest move first.

    Raises:
        StoreError: The store cannot be read.
    """
    since = now - timedelta(days=DRIFT_DAYS)
    used = [
        subject
        for subject in book.subjects()
        if subject[0] != RUNTIME_ACTOR
        and not subject[1].endswith(":*")
        and (state := book.state(subject)) is not None
        and state.as_of is not None
        and state.as_of > since
    ]
    told = {subject: await book.events(subject) for subject in used}
    return drifts(told, book.estimator, now)[:_SHOWN]


def drifts(told: Mapping[TrustSubject, Sequence[Happening]], estimator: Estimator, now: datetime) -> list[Drift]:
    """Return how far each subject moved in the last days, the largest move first; what did not move is left out.

    Args:
        told: What counts for each subject.
        estimator: Turns it into scores.
    """
    since = now - timedelta(days=DRIFT_DAYS)
    found = []
    for subject, history in told.items():
        earlier = [one for one in history if one.at <= since]
        before, after = (
            estimator.score(fold(estimator.initial(subject), counted, estimator), at)
            for counted, at in ((earlier, since), (history, now))
        )
        found.append(Drift(subject=subject, before=before, after=after))
    moved = (drift for drift in found if abs(drift.change) >= _LEAST)
    return sorted(moved, key=lambda drift: (-abs(drift.change), drift.subject))


def wishful_text(score: TrustScore) -> Text:
    """Return a wishful subject as one line."""
    return N_(
        "{subject} is approved often ({approved:.2f}) and succeeds seldom ({success:.2f})",
        subject=" ".join(score.subject),
        approved=score.human_approval_rate,
        success=score.tool_success,
    )


def wishful(scores: Iterable[TrustScore]) -> list[TrustScore]:
    """Return the subjects that are approved often and succeed seldom, by subject."""
    return sorted(
        (
            score
            for score in scores
            if score.subject[0] != RUNTIME_ACTOR
            and score.n_samples >= FLOORS_FROM
            and score.human_approval_rate >= HIGH_APPROVAL
            and score.tool_success < SUCCESS_FLOOR
        ),
        key=lambda score: score.subject,
    )


def changed_actors(book: TrustBook, since: datetime) -> list[Text]:
    """Return a line for each actor that is another one since a moment, by actor."""
    states = (book.state(subject) for subject in book.subjects())
    changes = {
        (state.subject[0], state.handover.what): state.handover
        for state in states
        if state is not None and state.handover is not None and state.handover.at > since
    }
    return [_changed_text(actor, change) for (actor, _), change in sorted(changes.items(), key=lambda item: item[0])]


def _changed_text(actor: str, change: Handover) -> Text:
    if change.what == "body":
        return N_("{actor} has another body: what it earns begins anew", actor=actor)
    if change.what == "version":
        return N_(
            "{actor} has another version, {after} after {before}: half of what it earned counts",
            actor=actor,
            before=change.before,
            after=change.after,
        )
    return N_(
        "{actor} works with another model, {after} after {before}: half of what it earned counts",
        actor=actor,
        before=change.before,
        after=change.after,
    )
