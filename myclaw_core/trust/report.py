"""Trust as people and programs read it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from myclaw_core.files.visible import visible
from myclaw_core.trust.happenings import Happening, Sample
from myclaw_core.trust.stamp import stamp
from myclaw_core.trust.state import SubjectView
from myclaw_core.trust.subject import RUNTIME_ACTOR
from myclaw_core.types.trust import TrustScore, TrustSubject

__all__ = ["happening_json", "record_line", "score_json", "subject_report", "trust_table"]

_COMPONENTS = ("tool_success", "human_approval_rate", "cost_efficiency", "constitution_clean", "undo_rate")
_LABELS: Mapping[str, str] = {
    "tool_success": "succeeded",
    "human_approval_rate": "answered with yes",
    "cost_efficiency": "within its usual cost",
    "constitution_clean": "broke no law",
    "undo_rate": "was not undone",
}
_LEGEND = "score: how well it went, 0 to 1, older times count less; samples: how often it was done"
_SPARKS = "▁▂▃▄▅▆▇█"


def trust_table(scores: Mapping[TrustSubject, TrustScore], *, prefix: str = "", whole_turns: bool = False) -> str:
    """Return one line a subject, highest score first.

    Args:
        scores: Scores faded to now.
        prefix: Only subjects whose actor or class starts with it.
        whole_turns: Whether to show the rows on how turns as a whole ended, too.
    """
    rows = [
        score
        for score in scores.values()
        if (whole_turns or score.subject[0] != RUNTIME_ACTOR)
        and (not prefix or score.subject[0].startswith(prefix) or score.subject[1].startswith(prefix))
    ]
    if not rows:
        return f"Nothing that starts with {prefix} has a score." if prefix else "No action has earned anything yet."
    rows.sort(key=lambda score: (-score.score, score.subject))
    lines = ["score  samples  last used   actor and class"]
    lines.extend(
        f"{score.score:5.3f}  {score.n_samples:7d}  {score.last_updated:%Y-%m-%d}  "
        f"{visible(score.subject[0])} {visible(score.subject[1])}"
        for score in rows
    )
    lines.extend(("", _LEGEND))
    return "\n".join(lines)


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
    if not isinstance(happening, Sample):
        return common | {"undone_trace_id": happening.undone_trace_id, "in_time": happening.in_time}
    signals = happening.signals
    return common | {
        "tool_success": signals.tool_success,
        "cost_efficiency": signals.cost_efficiency,
        "constitution_clean": signals.constitution_clean,
        "human_approval_delta": signals.human_approval_delta,
        "undo_flag": signals.undo_flag,
        "asked": signals.asked,
        "ran": signals.ran,
    }


def subject_report(score: TrustScore, view: SubjectView, history: Sequence[Happening], now: datetime) -> str:
    """Return one subject in full: components, what counts towards promotion, and its history."""
    state = view.state
    samples = f"{_counted(state.n_samples, 'sample')} on {_counted(state.days, 'day')}"
    lines = [
        f"{visible(score.subject[0])} {visible(score.subject[1])}",
        f"score {score.score:.3f} now; {samples}, worth {view.effective_count:.2f} today",
    ]
    lines.append("  each from 0 (never) to 1 (always):")
    lines.extend(f"    {_LABELS[name]:<22} {_good(score, name):.3f}" for name in _COMPONENTS)
    lines.append(f"  times you said yes to exactly this that still count: {len(state.grants)}")
    if any(state.recent):
        lines.append("  one of the last 3 times was denied, undone or broke a law: it asks")
    if state.last_asked is not None:
        lines.append(f"  last asked {_ago(now, state.last_asked)}")
    lines.append(f"history, oldest first (high is good, u: undone): {_sparkline(history)}")
    return "\n".join(lines)


def _good(score: TrustScore, component: str) -> float:
    """Return a component so that high is good."""
    value: float = getattr(score, component)
    return 1 - value if component == "undo_rate" else value


def record_line(subject: TrustSubject, view: SubjectView | None, now: datetime) -> str:
    """Return how a subject has done so far, as one line for an approval card."""
    name = f"{visible(subject[0])} {visible(subject[1])}"
    if view is None or view.state.n_samples == 0:
        return f"{name}: never done before"
    state = view.state
    asked = "never asked" if state.last_asked is None else f"last asked {_ago(now, state.last_asked)}"
    times = _counted(state.n_samples, "time")
    return f"{name}: score {view.score:.2f}, went well {state.n_good} of {times}, {asked}"


def _ago(now: datetime, then: datetime) -> str:
    days = (now - then).days
    return f"{_counted(days, 'day')} ago" if days > 0 else "today"


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _sparkline(history: Iterable[Happening]) -> str:
    marks = []
    for happening in history:
        if isinstance(happening, Sample):
            signals = happening.signals
            value = 0.0 if signals.bad else signals.tool_success
            marks.append(_SPARKS[round(value * (len(_SPARKS) - 1))])
        else:
            marks.append("u")
    return "".join(marks[-60:]) or "none"
