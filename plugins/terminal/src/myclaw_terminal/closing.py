"""What was done in a turn, said plainly at its end and read from the trace alone."""

from __future__ import annotations

from myclaw_core.policy.types import Evidence, PolicyDecision
from myclaw_core.runtime.types import ActionStep, ExecutionTrace, Outcome
from myclaw_core.types.effect import worst_effect
from myclaw_terminal.inert import cut, inert, short_target
from myclaw_terminal.lines import Line, Style

__all__ = ["closing_lines"]

_TARGET_CHARS = 160
_OUTCOMES: dict[Outcome, str] = {
    "failed": "the turn failed",
    "abandoned": "the turn was stopped",
    "denied": "the turn ended: an action was not allowed",
    "budget": "the turn ended: the budget is used up",
    "interrupted": "the turn was interrupted",
}


def closing_lines(trace: ExecutionTrace) -> list[Line]:
    """Return the lines that close a turn; none for one that succeeded without a step."""
    lines = [_step_line(step) for step in trace.steps if not _only_read(step)]
    read = [step.tool_name for step in trace.steps if _only_read(step)]
    if read:
        lines.insert(0, _said("done", f"{_counted(read)} (only read)", "dim"))
    if trace.outcome in _OUTCOMES:
        lines.append(Line(_OUTCOMES[trace.outcome], "warn"))
    if lines:
        lines.append(Line(_sums(trace), "dim"))
    return lines


def _step_line(step: ActionStep) -> Line:
    what = f"{inert(step.tool_name)} {_target(step)}".rstrip()
    if step.error is not None:
        verb = "not done" if step.error.kind in ("denied", "validation") else "failed"
        return _said(verb, f"{what} – {inert(step.error.message)}", "bad")
    if step.state == "intent":
        return _said("outcome unknown", f"{what} ({_undo(step)})", "bad")
    if step.state != "done":
        return _said("not done", what, "warn")
    if step.decision is not None and step.decision.via == "trust_promoted":
        return _said("done by itself", _by_itself(step, step.decision), "good")
    return _said("done", f"{what} ({_undo(step)})")


def _said(verb: str, text: str, style: Style = "") -> Line:
    return Line(text, style, label=f"{verb}:", indent=len(verb) + 2)


def _by_itself(step: ActionStep, decision: PolicyDecision) -> str:
    return f"{inert(step.tool_name)} {_scope(step)} – {_history(decision)} ({_target(step)}; {_undo(step)})"


def _history(decision: PolicyDecision) -> str:
    of_class = [evidence for evidence in decision.evidence if evidence.effect_class == decision.effect_class]
    judged = next(iter(of_class or decision.evidence), None)
    if judged is None:
        return inert(str(decision.reason))
    count = judged.parent_n_samples if judged.level == "parent" else judged.n_samples
    return f"went well {count} {'time' if count == 1 else 'times'}, {_last_asked(judged)}"


def _last_asked(evidence: Evidence) -> str:
    days = evidence.last_asked_days
    if days is None:
        return "never asked"
    if days < 1:
        return "last asked today"
    return f"last asked {int(days)} {'day' if int(days) == 1 else 'days'} ago"


def _scope(step: ActionStep) -> str:
    worst = worst_effect(step.effects)
    scope = worst.scope if worst and worst.scope else step.effect_class
    return cut(short_target(scope), _TARGET_CHARS)


def _target(step: ActionStep) -> str:
    worst = worst_effect(step.effects)
    if worst is None:
        return ""
    more = f" and {len(step.effects) - 1} more" if len(step.effects) > 1 else ""
    return cut(short_target(worst.target), _TARGET_CHARS) + more


def _undo(step: ActionStep) -> str:
    return "undo: /undo" if step.undo_id else "cannot be undone"


def _only_read(step: ActionStep) -> bool:
    return step.state == "done" and step.error is None and not any(effect.is_side_effect for effect in step.effects)


def _counted(names: list[str]) -> str:
    counts = {name: names.count(name) for name in names}
    return ", ".join(inert(name) if n == 1 else f"{inert(name)} ×{n}" for name, n in counts.items())


def _sums(trace: ExecutionTrace) -> str:
    steps = len(trace.steps)
    cost_eur = sum(call.cost_eur for call in trace.model_calls)
    cost = f"{cost_eur:.4f} EUR" if cost_eur else "no cost"
    return f"{steps} {'step' if steps == 1 else 'steps'} · {cost} · {trace.wall_time_ms / 1000:.1f} s"
