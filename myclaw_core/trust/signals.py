"""What a closed trace says about each subject in it (seed 000, experiment A)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from attrs import evolve

from myclaw_core.messages import N_
from myclaw_core.runtime.types import CANCELLED, ActionStep, ExecutionTrace
from myclaw_core.trust.subject import RUNTIME_ACTOR, parent_of
from myclaw_core.trust.types import SignalContext, TraceSignals
from myclaw_core.types.text import Text
from myclaw_core.types.trust import TrustSubject

__all__ = ["DEFAULT_SIGNALS", "CollectSignals", "answer_to", "extract", "ran", "subjects_of"]

DEFAULT_SIGNALS = ("tool_success", "cost_efficiency", "constitution_clean", "human_approval_delta", "undo_flag")

CollectSignals = Callable[[ActionStep, ExecutionTrace, SignalContext], Mapping[str, float]]
"""The dispatcher's merged result of the hook `myclaw_signals` for one step."""

_NOT_RUN = frozenset({"denied", "validation", "unavailable"})
_NEUTRAL_APPROVAL = 0.5


def extract(
    trace: ExecutionTrace,
    collect: CollectSignals,
    context: SignalContext | None = None,
    report: Callable[[Text], None] = lambda problem: None,
) -> tuple[TraceSignals, ...]:
    """Return one entry a distinct subject among the steps that count, and one for `("runtime", outcome)` last.

    A step that a person denied gives approval evidence and nothing else; one that did not run for another reason, and
    one without all five default signals, gives nothing.

    Args:
        trace: The trace with its outcome set.
        collect: Asks the plugins.
        context: Medians and undos.
        report: Is told in one line of a value that was ignored.
    """
    context = context or SignalContext()
    merged: dict[TrustSubject, TraceSignals] = {}
    runtime: TrustSubject = (RUNTIME_ACTOR, trace.outcome or "interrupted")
    overall = _ideal(runtime)
    for step in trace.steps:
        if trace.dry_run and any(effect.is_side_effect for effect in step.effects):
            continue  # a neuron runs there too; what it would have done shows nothing
        said = _said_by(step, trace, collect, context, report)
        if said is None:
            continue
        overall = _worst(overall, evolve(said, subject=runtime, ran=True))
        parents = set[TrustSubject | None]()
        for subject in subjects_of(step):
            parent = parent_of(subject)
            entry = evolve(said, subject=subject, wider=parent not in parents)
            parents.add(parent)
            merged[subject] = _worst(merged[subject], entry) if subject in merged else entry
    return *merged.values(), evolve(overall, tool_success=float(trace.outcome == "success" and not trace.unverified))


def subjects_of(step: ActionStep) -> tuple[TrustSubject, ...]:
    """Return the distinct subjects of a step: everyone who acts, with each effect class."""
    return tuple(
        dict.fromkeys((caller.actor, effect.effect_class) for caller in step.acting for effect in step.effects)
    )


def answer_to(step: ActionStep, trace: ExecutionTrace) -> Literal["granted", "denied"] | None:
    """Return what a person answered about `step`; `None` where nobody was asked or nobody answered.

    A step that the answer to another one covered counts as not asked, and so does one whose question an earlier run had
    left: there the answer counts. A no that asks for a revision is no judgement on the action: it counts for nothing.
    """
    if step.approval_id is None:
        return None
    for approval in trace.approvals:
        if approval.request_id == step.approval_id and approval.scope == "once" and approval.note != "deferred":
            if approval.verdict == "granted":
                return "granted"
            if approval.verdict == "denied" and approval.decided_by != "core" and approval.revision is None:
                return "denied"
    return None


def _said_by(
    step: ActionStep,
    trace: ExecutionTrace,
    collect: CollectSignals,
    context: SignalContext,
    report: Callable[[Text], None],
) -> TraceSignals | None:
    """Return what one step says (its subject is still to be set), or `None` where it gives no sample."""
    answer = answer_to(step, trace)
    if not ran(step, trace):
        return _denied() if answer == "denied" else None
    values = dict(_sound(collect(step, trace, context), step, report))
    if any(name not in values for name in DEFAULT_SIGNALS):
        return None
    return TraceSignals(
        subject=("", ""),
        tool_success=values["tool_success"],
        cost_efficiency=values["cost_efficiency"],
        constitution_clean=values["constitution_clean"],
        human_approval_delta=values["human_approval_delta"],
        undo_flag=values["undo_flag"],
        extra={name: value for name, value in values.items() if name not in DEFAULT_SIGNALS},
        asked=answer is not None,
    )


def ran(step: ActionStep, trace: ExecutionTrace) -> bool:
    """Return whether a step was executed, or tried and failed; an outcome that a crash hid counts as tried."""
    if step.state not in {"intent", "done", "failed"}:
        return False
    if step.error is not None and step.error.kind in _NOT_RUN:
        return False
    if step.exec_result is not None:
        return True
    if step.error is not None:
        return step.error.message != CANCELLED  # what a neuron calls may be cancelled while the turn goes on
    return trace.outcome != "abandoned"


def _sound(
    values: Mapping[str, float], step: ActionStep, report: Callable[[Text], None]
) -> Iterable[tuple[str, float]]:
    for name, value in values.items():
        if isinstance(value, int | float) and 0.0 <= value <= 1.0:
            yield name, float(value)
        else:
            report(
                N_(
                    "signal {name} of step {step} ({tool}) is {value}, not in [0, 1]; it was ignored",
                    name=repr(name),
                    step=step.index,
                    tool=step.tool_name,
                    value=repr(value),
                )
            )


def _worst(left: TraceSignals, right: TraceSignals) -> TraceSignals:
    """Return the worst of every signal; for approval a denial, else a grant, else not asked."""
    ran = [entry for entry in (left, right) if entry.ran] or [left]
    answers = [entry.human_approval_delta for entry in (left, right) if entry.asked]
    names = {name for entry in ran for name in entry.extra}
    return evolve(
        left,
        tool_success=min(entry.tool_success for entry in ran),
        cost_efficiency=min(entry.cost_efficiency for entry in ran),
        constitution_clean=min(entry.constitution_clean for entry in ran),
        undo_flag=max(entry.undo_flag for entry in ran),
        human_approval_delta=min(answers, default=_NEUTRAL_APPROVAL),
        extra={name: min(entry.extra[name] for entry in ran if name in entry.extra) for name in sorted(names)},
        asked=bool(answers),
        ran=left.ran or right.ran,
        wider=left.wider or right.wider,
    )


def _ideal(subject: TrustSubject) -> TraceSignals:
    """Return the worst of no steps at all."""
    return TraceSignals(
        subject=subject,
        tool_success=1.0,
        cost_efficiency=1.0,
        constitution_clean=1.0,
        human_approval_delta=_NEUTRAL_APPROVAL,
        undo_flag=0.0,
    )


def _denied() -> TraceSignals:
    return evolve(_ideal(("", "")), tool_success=0.0, human_approval_delta=0.0, asked=True, ran=False)
