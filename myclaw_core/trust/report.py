"""Trust as people and programs read it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from myclaw_core.columns import columns
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_, _, n_, render
from myclaw_core.trust.conditions import Condition, Outlook
from myclaw_core.trust.happenings import Happening, Order, Sample, Undo
from myclaw_core.trust.rows import content_of
from myclaw_core.trust.stamp import stamp
from myclaw_core.trust.state import SubjectView
from myclaw_core.trust.subject import RUNTIME_ACTOR
from myclaw_core.types.text import Text
from myclaw_core.types.trust import TrustScore, TrustSubject

__all__ = [
    "begins_with",
    "happening_json",
    "outlook_json",
    "outlook_report",
    "record_line",
    "score_json",
    "subject_report",
    "trust_table",
]

_COMPONENTS = ("tool_success", "human_approval_rate", "cost_efficiency", "constitution_clean", "undo_rate")
_LABELS: Mapping[str, Text] = {
    "tool_success": N_("succeeded"),
    "human_approval_rate": N_("answered with yes"),
    "cost_efficiency": N_("within its usual cost"),
    "constitution_clean": N_("broke no law"),
    "undo_rate": N_("was not undone"),
}
_SPARKS = "▁▂▃▄▅▆▇█"


def trust_table(scores: Mapping[TrustSubject, TrustScore], *, prefix: str = "", whole_turns: bool = False) -> str:
    """Return one line a subject, highest score first, in the language of the person.

    Args:
        scores: Scores faded to now.
        prefix: Only subjects whose actor or class starts with it.
        whole_turns: Whether to show the rows on how turns as a whole ended, too.
    """
    rows = [
        score
        for score in scores.values()
        if (whole_turns or score.subject[0] != RUNTIME_ACTOR) and begins_with(score, prefix)
    ]
    if not rows:
        if prefix:
            return _("Nothing that starts with {prefix} has a score.", prefix=prefix)
        return _("No action has earned anything yet.")
    rows.sort(key=lambda score: (-score.score, score.subject))
    headings = (_("score"), _("samples"), _("last used"), _("actor and class"))
    legend = _(
        "score: how well it went, 0 to 1, older times count less; "
        "samples: how often it was done, and one for the birth of a neuron"
    )
    return "\n".join((*columns([headings, *map(_cells, rows)], right={0, 1}), "", legend))


def begins_with(score: TrustScore, prefix: str) -> bool:
    """Return whether actor or class of a score starts with `prefix`."""
    return any(name.startswith(prefix) for name in score.subject)


def _cells(score: TrustScore) -> tuple[str, ...]:
    return f"{score.score:.3f}", str(score.n_samples), f"{score.last_updated:%Y-%m-%d}", _named(score.subject)


def _named(subject: TrustSubject) -> str:
    return f"{visible(subject[0])} {visible(subject[1])}"


def score_json(score: TrustScore) -> dict[str, Any]:
    """Return a score for programs."""
    return {
        "actor": score.subject[0],
        "effect_class": score.subject[1],
        "score": score.score,
        "n_samples": score.n_samples,
        **{name: getattr(score, name) for name in _COMPONENTS},
        "last_updated": stamp(score.last_updated),
        "window": score.window,
    }


def happening_json(happening: Happening) -> dict[str, Any]:
    """Return one thing that counted for a subject, for programs."""
    common = {"at": stamp(happening.at), "kind": happening.kind, "trace_id": happening.trace_id}
    content = content_of(happening)
    signals: dict[str, Any] = content.pop("signals", {})
    return common | signals | content


def subject_report(score: TrustScore, view: SubjectView, history: Sequence[Happening], now: datetime) -> str:
    """Return one subject in full: components, what counts towards promotion, and its history."""
    state = view.state
    lines = [_("each from 0 (never) to 1 (always):")]
    lines.extend("  " + line for line in columns([_component(score, name) for name in _COMPONENTS]))
    lines.append(_("times you said yes to exactly this that still count: {n}", n=len(state.grants)))
    if any(state.recent):
        lines.append(_("one of the last 3 times was denied, undone or broke a law: it asks"))
    if state.last_asked is not None:
        lines.append(_last_asked(now, state.last_asked))
    marks = _sparkline(history) or _("none")
    told = _("history, oldest first (high is good, u: undone, r: trust taken away): {marks}", marks=marks)
    return "\n".join((_named(score.subject), _summary(score, view), *("  " + line for line in lines), told))


def _summary(score: TrustScore, view: SubjectView) -> str:
    days = n_("{n} day", "{n} days", view.state.days)
    return n_(
        "score {score:.3f} now; {n} sample on {days}, that count as {worth:.2f} today",
        "score {score:.3f} now; {n} samples on {days}, that count as {worth:.2f} today",
        view.state.n_samples,
        score=score.score,
        days=days,
        worth=view.effective_count,
    )


def _component(score: TrustScore, name: str) -> tuple[str, str]:
    return render(_LABELS[name]), f"{_good(score, name):.3f}"


def _good(score: TrustScore, component: str) -> float:
    """Return a component so that high is good."""
    value: float = getattr(score, component)
    return 1 - value if component == "undo_rate" else value


def outlook_report(outlook: Outlook) -> str:
    """Return what holds and what does not before an action runs without a question."""
    promotion = outlook.promotion
    reason = visible(render(promotion.reason))
    head = _("the next one runs by itself: {reason}", reason=reason)
    if not promotion.promoted:
        head = _("the next one asks, unless you name its target in your message: {reason}", reason=reason)
    return "\n".join(
        (
            head,
            _("one of these must hold:"),
            *_condition_lines(outlook.either),
            _("and each of these:"),
            *_condition_lines(outlook.conditions),
        )
    )


def _condition_lines(conditions: Sequence[Condition]) -> list[str]:
    rows = [
        (_("yes") if one.holds else _("no"), visible(render(one.about)), visible(render(one.found)))
        for one in conditions
    ]
    return [f"  {line}" for line in columns(rows)]


def outlook_json(outlook: Outlook) -> dict[str, Any]:
    """Return the same for programs."""
    promotion, threshold = outlook.promotion, outlook.threshold
    return {
        "runs_by_itself": promotion.promoted,
        "to_be_checked": promotion.tutor,
        "reason": str(promotion.reason),
        "min_score": threshold.min_score,
        "min_samples": threshold.min_samples,
        "risk": promotion.risk,
        "either": [_condition_json(one) for one in outlook.either],
        "conditions": [_condition_json(one) for one in outlook.conditions],
    }


def _condition_json(condition: Condition) -> dict[str, Any]:
    return {
        "name": condition.name,
        "holds": condition.holds,
        "about": str(condition.about),
        "found": str(condition.found),
    }


def record_line(subject: TrustSubject, view: SubjectView | None, now: datetime) -> str:
    """Return how a subject has done so far, as one line for an approval card."""
    name = _named(subject)
    if view is None or view.state.n_samples == 0:
        return _("{subject}: never done before", subject=name)
    state = view.state
    done = state.n_samples - state.born
    if not done:
        return _("{subject}: never done before; its birth score is {score:.2f}", subject=name, score=view.score)
    return n_(
        "{subject}: score {score:.2f}, went well {good} of {n} time, {asked}",
        "{subject}: score {score:.2f}, went well {good} of {n} times, {asked}",
        done,
        subject=name,
        score=view.score,
        good=state.n_good,
        asked=_("never asked") if state.last_asked is None else _last_asked(now, state.last_asked),
    )


def _last_asked(now: datetime, then: datetime) -> str:
    days = (now - then).days
    return n_("last asked {n} day ago", "last asked {n} days ago", days) if days > 0 else _("last asked today")


def _sparkline(history: Iterable[Happening]) -> str:
    marks = []
    for happening in history:
        if isinstance(happening, Sample):
            signals = happening.signals
            value = 0.0 if signals.bad else signals.tool_success
            marks.append(_SPARKS[round(value * (len(_SPARKS) - 1))])
        elif isinstance(happening, Undo):
            marks.append("u")
        elif isinstance(happening, Order) and happening.kind == "revoke":
            marks.append("r")
    return "".join(marks[-60:])
