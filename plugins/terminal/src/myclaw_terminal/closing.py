"""What was done in a turn, said plainly at its end and read from the trace alone."""

from __future__ import annotations

import math
from collections.abc import Collection
from uuid import UUID

from myclaw_core.messages import render
from myclaw_core.policy.types import Evidence, PolicyDecision
from myclaw_core.runtime.types import ActionStep, ExecutionTrace, Outcome, Usage
from myclaw_core.types.effect import worst_effect
from myclaw_terminal.inert import cut, inert, short_target
from myclaw_terminal.lines import Line, Style

__all__ = ["closing_lines"]

_TARGET_CHARS = 160
_OUTCOMES: dict[Outcome, str] = {
    "failed": "the turn failed",
    "abandoned": "the turn was stopped",
    "denied": "nothing was changed",
    "budget": "the turn ended: the budget is used up",
    "interrupted": "the turn was interrupted",
}


def closing_lines(trace: ExecutionTrace, undo: str) -> list[Line]:
    """Return the lines that close a turn; none for one that succeeded without a step.

    Args:
        undo: How an undo is written where this is read.
    """
    refused = {approval.request_id for approval in trace.approvals if approval.verdict == "denied"}
    lines = [_step_line(step, refused, undo) for step in trace.steps if not _only_read(step)]
    read = [step for step in trace.steps if _only_read(step)]
    if read:
        what = _named(read[0]) if len(read) == 1 else _counted([step.tool_name for step in read])
        lines.insert(0, _said("done", f"{what} (only read)", "dim"))
    if trace.outcome in _OUTCOMES:
        lines.append(Line(_OUTCOMES[trace.outcome], "warn"))
    if lines:
        lines.append(Line(_sums(trace), "dim"))
    return lines


def _step_line(step: ActionStep, refused: Collection[UUID], undo: str) -> Line:
    if step.approval_id in refused:
        return _said("not done", f"{_named(step)} – you said no", "bad")
    if step.error is not None:
        verb = "not done" if step.error.kind in ("denied", "validation") else "failed"
        return _said(verb, f"{_named(step)} – {inert(render(step.error.message))}", "bad")
    if step.state == "intent":
        return _said("outcome unknown", f"{_named(step)} ({_undo(step, undo)})", "bad")
    if step.state != "done":
        return _said("not done", _named(step), "warn")
    if step.decision is not None and step.decision.via == "trust_promoted":
        return _said("done by itself", _by_itself(step, step.decision, undo), "good")
    return _said("done", f"{_named(step)} ({_undo(step, undo)})")


def _named(step: ActionStep) -> str:
    return f"{inert(step.tool_name)} {_target(step)}".rstrip()


def _said(verb: str, text: str, style: Style = "") -> Line:
    return Line(text, style, label=f"{verb}:", indent=len(verb) + 2)


def _by_itself(step: ActionStep, decision: PolicyDecision, undo: str) -> str:
    return f"{inert(step.tool_name)} {_scope(step)} – {_history(decision)} ({_target(step)}; {_undo(step, undo)})"


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
    by_kind = {effect.kind: effect for effect in step.effects}
    if len(step.effects) == len(by_kind) == 2 and set(by_kind) == {"fs_delete", "fs_write"}:  # noqa: PLR2004 - a move
        gone, come = (cut(short_target(by_kind[kind].target), _TARGET_CHARS) for kind in ("fs_delete", "fs_write"))
        return f"{gone} → {come}"
    more = f" and {len(step.effects) - 1} more" if len(step.effects) > 1 else ""
    return cut(short_target(worst.target), _TARGET_CHARS) + more


def _undo(step: ActionStep, undo: str) -> str:
    return f"undo: {undo}" if step.undo_id else "cannot be undone"


def _only_read(step: ActionStep) -> bool:
    return step.state == "done" and step.error is None and not any(effect.is_side_effect for effect in step.effects)


def _counted(names: list[str]) -> str:
    counts = {name: names.count(name) for name in names}
    return ", ".join(inert(name) if n == 1 else f"{inert(name)} ×{n}" for name, n in counts.items())


def _sums(trace: ExecutionTrace) -> str:
    steps = len(trace.steps)
    cost_eur = sum(call.cost_eur for call in trace.model_calls)
    cost = f"{cost_eur:.4f} EUR" if cost_eur else "no cost"
    if any(call.cost_eur and call.usage == Usage() for call in trace.model_calls):  # nobody counted: the worst case
        cost = f"at most {math.ceil(cost_eur * 100) / 100:.2f} EUR"
    return f"{steps} {'step' if steps == 1 else 'steps'} · {cost} · {trace.wall_time_ms / 1000:.1f} s"
