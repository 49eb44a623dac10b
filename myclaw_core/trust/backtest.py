"""What would have happened had a subject been promoted: shown before it is for the first time."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from attrs import evolve, frozen

from myclaw_core.messages import N_
from myclaw_core.trust.estimator import Estimator
from myclaw_core.trust.happenings import Answer, Happening, Sample, Undo
from myclaw_core.trust.promotion import JudgedAction, TrustRecord, judge
from myclaw_core.trust.replay import settled
from myclaw_core.trust.state import SubjectView
from myclaw_core.trust.states import MemoryTrust
from myclaw_core.trust.subject import parent_of
from myclaw_core.trust.types import EarnedBy, TraceSignals
from myclaw_core.types.effect import BEST_REVERSIBILITY, EFFECT_KINDS, Autonomy, Effect, Reversibility
from myclaw_core.types.text import Text
from myclaw_core.types.trust import TrustSubject, TrustThreshold

__all__ = ["BACKTEST_DAYS", "BackTest", "backtest", "completes", "effect_of"]

BACKTEST_DAYS = 30


@frozen(kw_only=True)
class BackTest:
    """The last days of one subject, lived through again with the promotion on.

    Attributes:
        days: How many days.
        asked: Samples about which a person was asked then.
        would_ask: Samples about which they would have been asked.
        would_run_wrongly: Samples that they denied or undid, or that broke a law, and that would have run unasked.
    """

    subject: TrustSubject
    days: int
    asked: int
    would_ask: int
    would_run_wrongly: int

    @property
    def text(self) -> Text:
        """Return it as one line for people."""
        return N_(
            "in the last {days} days it would have asked {would_ask} times instead of {asked}; "
            "actions you denied or undid, or that broke a law, and that would have run: {wrong}",
            days=self.days,
            would_ask=self.would_ask,
            asked=self.asked,
            wrong=self.would_run_wrongly,
        )


@frozen(kw_only=True)
class _Assumed:
    """An action as a sample knows it: what was named or tainted then is not kept, so neither is assumed."""

    actor: str
    actor_version: str = ""
    model: str = ""
    autonomy: Autonomy = "supervised"
    tainted: bool = False
    named: bool = False


def backtest(
    history: Iterable[Happening],
    subject: TrustSubject,
    *,
    threshold: TrustThreshold,
    estimator: Estimator,
    now: datetime,
    reversibility: Reversibility | None = None,
    days: int = BACKTEST_DAYS,
) -> BackTest:
    """Live through the last days of `subject` again, with every action that its record allows done by itself.

    What was asked then and would not have been counts as not asked from then on; what was denied or undone and would
    have run counts as undone. Everything else is as it was, before these days and for other subjects.

    Args:
        history: Everything that counts for the subject and for all others of its parent, in any order
            (`TrustBook.events` of the parent where there is one).
        threshold: What the subject must reach.
        estimator: Turns samples into scores.
        now: The end of the days.
        reversibility: Of the subject's actions; the best that its kind may have where `None`.
        days: How many.
    """
    effect, since = effect_of(subject, reversibility), now - timedelta(days=days)
    counted = settled(history)
    undone = {one.undone_trace_id for one in counted if isinstance(one, Undo) and one.subject == subject}
    memory = MemoryTrust(estimator)
    asked = would_ask = would_run_wrongly = 0
    for item in counted:
        if not isinstance(item, Sample) or item.subject != subject or not since < item.at <= now:
            memory.add(*_once_settled(item))
            continue
        would_run = judge(effect, _actor_of(item), memory, threshold, item.at).promoted
        asked += item.signals.asked
        would_ask += item.signals.asked and not would_run
        would_run_wrongly += would_run and (item.signals.bad or item.trace_id in undone)
        memory.add(evolve(item, signals=_unasked(item.signals)) if would_run else item)
    return BackTest(subject=subject, days=days, asked=asked, would_ask=would_ask, would_run_wrongly=would_run_wrongly)


def completes(
    effect: Effect,
    action: JudgedAction,
    book: TrustRecord,
    estimator: Estimator,
    threshold: TrustThreshold,
    now: datetime,
) -> bool:
    """Return whether a yes to this action, if it goes well, lets the next one like it run by itself.

    That is when the back-test belongs on its card, with the answer "keep asking".

    Args:
        effect: The effect that is asked about.
        action: What would happen.
        book: The record.
        estimator: What the record is made with.
        threshold: That of the effect's class.
        now: The moment.
    """
    here = judge(effect, action, book, threshold, now)
    if here.promoted or here.tutor:
        return False
    subject = (action.actor, effect.effect_class)
    done = TraceSignals(
        subject=subject,
        tool_success=1.0,
        cost_efficiency=1.0,
        constitution_clean=1.0,
        human_approval_delta=1.0,
        undo_flag=0.0,
        asked=True,
    )
    return judge(effect, action, _Sooner(book, estimator, done), threshold, now).promoted


def effect_of(subject: TrustSubject, reversibility: Reversibility | None = None) -> Effect:
    """Return an effect of the subject's class, whatever its target.

    Args:
        reversibility: How far it can be taken back; the best that its kind may have where `None`.

    Raises:
        ValueError: The subject does something of no known kind, as `runtime` does.
    """
    named, _, scope = subject[1].partition(":")
    kind = next((one for one in EFFECT_KINDS if one == ("neuron_invoke" if named == "invoke" else named)), None)
    if kind is None:
        raise ValueError(f"{subject[1]} is no class of effects")
    best = BEST_REVERSIBILITY.get(kind, "irreversible")
    return Effect(kind=kind, scope=scope, target=scope, reversibility=reversibility or best)


@frozen
class _Sooner:
    """A record to which one more sample has come."""

    book: TrustRecord
    estimator: Estimator
    signals: TraceSignals

    @property
    def problem(self) -> Text | None:
        return self.book.problem

    @property
    def unchecked(self) -> Text | None:
        return self.book.unchecked

    def view(self, subject: TrustSubject, now: datetime, by: EarnedBy | None = None) -> SubjectView | None:
        seen = self.book.view(subject, now, by)
        if subject not in (self.signals.subject, parent_of(self.signals.subject)):
            return seen
        at = seen.at if seen else now
        state = self.estimator.update(seen.state if seen else self.estimator.initial(subject), self.signals, at)
        score, count = self.estimator.score(state, at), self.estimator.effective_count(state, at)
        return SubjectView(state, score, count, self.estimator.id, at)


def _once_settled(item: Happening) -> Iterable[Happening]:
    """Return what is left to count of what samples already tell."""
    if isinstance(item, Undo):
        return (evolve(item, in_time=False),)
    return () if isinstance(item, Answer) else (item,)


def _actor_of(sample: Sample) -> _Assumed:
    return _Assumed(actor=sample.subject[0], actor_version=sample.by.actor_version, model=sample.by.model)


def _unasked(signals: TraceSignals) -> TraceSignals:
    """Return what a sample says had nobody been asked: what was denied would have run, and been undone."""
    undo_flag = 1.0 if signals.asked and not signals.granted else signals.undo_flag
    return evolve(signals, asked=False, human_approval_delta=0.5, ran=True, undo_flag=undo_flag)
