"""What was done in a turn, said plainly at its end and read from the trace alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from uuid import UUID

from myclaw_core.approval.types import Approval
from myclaw_core.messages import N_, _, n_, render
from myclaw_core.policy.types import Evidence, PolicyDecision
from myclaw_core.runtime.types import ActionStep, ExecutionTrace, Outcome, Usage
from myclaw_core.shown.inert import cut, inert, short_target
from myclaw_core.shown.said import Said
from myclaw_core.types.effect import worst_effect
from myclaw_core.types.text import Text

__all__ = ["closing"]

_TARGET_CHARS = 160
_OUTCOMES: dict[Outcome, Text] = {
    "failed": N_("the turn failed"),
    "abandoned": N_("the turn was stopped"),
    "denied": N_("nothing was changed"),
    "budget": N_("the turn ended: the budget is used up"),
    "interrupted": N_("the turn was interrupted"),
}


def closing(trace: ExecutionTrace, undo: str) -> list[Said]:
    """Return the lines that close a turn; none for one that succeeded without a step.

    Args:
        undo: How an undo is written where this is read.
    """
    refused = {approval.request_id: approval for approval in trace.approvals if approval.verdict == "denied"}
    told = [step for step in trace.steps if not _only_read(step)]
    lines = [(trace.dry_run and _would_be(step)) or _step_line(step, refused, undo) for step in told]
    read = [step for step in trace.steps if _only_read(step)]
    if read:
        what = _named(read[0]) if len(read) == 1 else _counted([step.tool_name for step in read])
        lines.insert(0, Said(_("done:"), _("{what} (only read)", what=what), "dim"))
    if trace.outcome in _OUTCOMES:
        lines.append(Said("", render(_OUTCOMES[trace.outcome]), "warn"))
    if lines:
        lines.append(Said("", _sums(trace), "dim"))
    return lines


def _step_line(step: ActionStep, refused: Mapping[UUID, Approval], undo: str) -> Said:
    no = refused.get(step.approval_id) if step.approval_id else None
    if no is not None and no.revision is not None:
        return Said(_("not done:"), _("{what} – you asked for a revision", what=_named(step)), "warn")
    if no is not None:
        return Said(_("not done:"), _("{what} – you said no", what=_named(step)), "bad")
    if step.error is not None:
        label = _("not done:") if step.error.kind in ("denied", "validation") else _("failed:")
        return Said(label, f"{_named(step)} – {inert(render(step.error.message))}", "bad")
    if step.state == "intent":
        return Said(_("outcome unknown:"), _named(step) + _undo_hint(step, undo), "bad")
    if step.state != "done":
        return Said(_("not done:"), _named(step), "warn")
    if step.decision is not None and step.decision.via == "trust_promoted":
        return Said(_("done by itself:"), _by_itself(step, step.decision, undo), "good")
    granted = step.approval_id is None and step.decision is not None and step.decision.grant_ids
    return Said(_("done as granted:") if granted else _("done:"), _named(step) + _undo_hint(step, undo))


def _would_be(step: ActionStep) -> Said | None:
    """Return what becomes of a step outside of a dry run; `None` for one that was not held back by it."""
    if step.state != "decided" or step.decision is None:
        return None
    if step.decision.verdict == "allow":
        return Said(_("would be done:"), _named(step))
    return Said(_("would be asked:"), f"{_named(step)} – {inert(render(step.decision.reason))}", "warn")


def _named(step: ActionStep) -> str:
    tool, target = _tool(step), _target(step)
    if step.tool_name == "neuron_design":
        return _("begin to design a neuron for: {goal}", goal=target)
    if step.kind == "neuron_spawn":
        return _("let the neuron {name} in", name=target)
    return tool if target == step.tool_name else f"{tool} {target}".rstrip()


def _tool(step: ActionStep) -> str:
    """Return the tool of a step, after the neuron that called it."""
    by = f"{step.callers[-1].actor}: " if step.callers else ""
    return inert(f"{by}{step.tool_name}")


def _by_itself(step: ActionStep, decision: PolicyDecision, undo: str) -> str:
    if step.kind == "neuron_invoke":
        return f"{_named(step)} – {_history(decision)}"
    return f"{_tool(step)} {_scope(step)} – {_history(decision)} ({_target(step)}; {_undo(step, undo)})"


def _history(decision: PolicyDecision) -> str:
    of_class = [evidence for evidence in decision.evidence if evidence.effect_class == decision.effect_class]
    judged = min(of_class or decision.evidence, key=_count, default=None)
    if judged is None:
        return inert(render(decision.reason))
    count, last_asked = _count(judged), _last_asked(judged)
    return n_("went well {n} time, {last_asked}", "went well {n} times, {last_asked}", count, last_asked=last_asked)


def _count(judged: Evidence) -> int:
    return judged.parent_n_samples if judged.level == "parent" else judged.n_samples


def _last_asked(evidence: Evidence) -> str:
    days = evidence.last_asked_days
    if days is None:
        return _("never asked")
    if days < 1:
        return _("last asked today")
    return n_("last asked {n} day ago", "last asked {n} days ago", int(days))


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
    target = cut(short_target(worst.target), _TARGET_CHARS)
    more = len({(effect.kind, effect.target) for effect in step.effects}) - 1  # a command can run several programs
    return n_("{target} and {n} more", "{target} and {n} more", more, target=target) if more else target


def _undo_hint(step: ActionStep, undo: str) -> str:
    """Return how a step is taken back; nothing for a neuron that ran: what it called is, one by one."""
    if step.tool_name == "neuron_design":
        return ""
    if step.kind == "neuron_spawn":
        command = "/neurons" if undo.startswith("/") else "myclaw neurons"
        told = _("to remove it: {command}", command=f"{command} remove {_target(step)}")
        return f" ({told})"
    return "" if step.kind == "neuron_invoke" else f" ({_undo(step, undo)})"


def _undo(step: ActionStep, undo: str) -> str:
    return _("undo: {command}", command=undo) if step.undo_id else _("cannot be undone")


def _only_read(step: ActionStep) -> bool:
    return step.state == "done" and step.error is None and not any(effect.is_side_effect for effect in step.effects)


def _counted(names: list[str]) -> str:
    counts = {name: names.count(name) for name in names}
    return ", ".join(inert(name) if n == 1 else f"{inert(name)} ×{n}" for name, n in counts.items())


def _sums(trace: ExecutionTrace) -> str:
    steps = n_("{n} step", "{n} steps", len(trace.steps))
    cost_eur = sum(call.cost_eur for call in trace.model_calls)
    cost = f"{cost_eur:.4f} EUR" if cost_eur else _("no cost")
    if any(call.cost_eur and call.usage == Usage() for call in trace.model_calls):  # nobody counted: the worst case
        cost = _("at most {n:.2f} EUR", n=math.ceil(cost_eur * 100) / 100)
    return f"{steps} · {cost} · {trace.wall_time_ms / 1000:.1f} s"
