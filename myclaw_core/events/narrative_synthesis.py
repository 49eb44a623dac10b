"""What became of a synthesis and of the judges, as people read it in a trace."""

from __future__ import annotations

from myclaw_core.events.types import JudgeCalibrated, SynthesisAdvanced, SynthesisEnded, SynthesisRequested
from myclaw_core.events.words import shortened, word
from myclaw_core.messages import _, n_, render

__all__ = ["advanced", "calibrated", "ended", "requested"]


def requested(event: SynthesisRequested) -> list[str]:
    """Return what is wanted, by whom, and what it may cost."""
    request = event.request
    lines = [
        _("a neuron is wanted: {goal}", goal=shortened(request.goal)),
        _(
            "for {sender}, because of trace {trace}, at most {eur:.2f} EUR",
            sender=event.sender,
            trace=str(request.trace_id),
            eur=request.budget_cents / 100,
        ),
    ]
    if event.proposal is not None:
        lines.append(_("seen again and again: {pattern}", pattern=shortened(event.proposal.pattern)))
    return lines


def advanced(event: SynthesisAdvanced) -> list[str]:
    """Return what is to be done next, and what became of the stage before."""
    first = n_(
        "synthesis: next is {stage}, {n} retry, {eur:.2f} EUR",
        "synthesis: next is {stage}, {n} retries, {eur:.2f} EUR",
        event.retries,
        stage=word(event.stage),
        eur=event.cost_eur,
    )
    return [first, render(event.note)]


def ended(event: SynthesisEnded) -> list[str]:
    """Return how it ended, what it cost, and what the draft was worth."""
    result = event.result
    reason = shortened(result.rejection_reason or "")
    match result.outcome:
        case "born":
            first = _("neuron {name} was born", name=result.neuron_name or "")
        case "abandoned":
            first = _("no neuron was made: {reason}", reason=reason)
        case "rejected_direction":
            first = _("the direction was refused: {reason}", reason=reason)
    spent = n_(
        "{n} retry, {eur:.2f} EUR in all",
        "{n} retries, {eur:.2f} EUR in all",
        result.retries_used,
        eur=result.cost_cents / 100,
    )
    reward = result.final_reward
    return [first, spent, *([] if reward is None else [_("R of the last draft: {total:.2f}", total=reward.total)])]


def calibrated(event: JudgeCalibrated) -> list[str]:
    """Return who was measured with which model, and how well it did."""
    found = event.calibration
    first = _(
        "{kind} {name} ({rubric}) with {model}: {auc:.2f} on {n} items",
        kind=word(found.kind),
        name=found.name,
        rubric=found.rubric,
        model=found.model,
        auc=found.auc,
        n=found.n,
    )
    each = [_("{language}: {auc:.2f}", language=name, auc=auc) for name, auc in sorted(found.by_language.items())]
    return [first, *each]
