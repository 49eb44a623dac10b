"""From a closed trace to one sample a subject."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from attrs import evolve

from myclaw_core.approval.types import Approval
from myclaw_core.runtime.types import ActionStep, ExecutionTrace, ToolError, ToolResult
from myclaw_core.synthesis.types import Revision
from myclaw_core.testing import FakeClock
from myclaw_core.trust.signals import extract, subjects_of
from myclaw_core.trust.types import SignalContext, TraceSignals
from myclaw_core.types.action import Caller
from myclaw_core.types.effect import Effect
from myclaw_core.types.text import Text
from myclaw_core.types.trust import TrustSubject

GOOD = {
    "tool_success": 1.0,
    "cost_efficiency": 1.0,
    "constitution_clean": 1.0,
    "human_approval_delta": 0.5,
    "undo_flag": 0.0,
}
NOTES: TrustSubject = ("fs_write", "fs_write:~/ws/notes/*")
PHOTOS: TrustSubject = ("fs_write", "fs_write:~/ws/photos/*")


def step(index: int = 0, *subjects: TrustSubject, **changes: Any) -> ActionStep:
    """Return a step that was done, with one effect a subject."""
    wanted = subjects or (NOTES,)
    effects = tuple(
        Effect(
            kind=effect_class.partition(":")[0],  # type: ignore[arg-type]
            scope=effect_class.partition(":")[2],
            target="t",
            reversibility="reversible",
        )
        for _, effect_class in wanted
    )
    base: dict[str, Any] = {
        "index": index,
        "tool_name": wanted[0][0],
        "args": {},
        "args_digest": f"digest-{index}",
        "actor": wanted[0][0],
        "actor_version": "1",
        "model": "m",
        "state": "done",
        "kind": "fs_write",
        "effect_class": wanted[0][1],
        "effects": effects,
        "started_at": FakeClock().now(),
        "exec_result": ToolResult(text="ok"),
    }
    return ActionStep(**(base | changes))


def refused(index: int, *subjects: TrustSubject, **changes: Any) -> ActionStep:
    """Return a step that did not run because somebody or something said no."""
    base: dict[str, Any] = {"state": "failed", "error": ToolError(kind="denied", message="no"), "exec_result": None}
    return step(index, *subjects, **(base | changes))


def approval(number: int, verdict: Any = "granted", by: str = "cli:me") -> Approval:
    return Approval(
        request_id=UUID(int=number),
        trace_id=UUID(int=1),
        verdict=verdict,
        decided_by=by,
        decided_at=FakeClock().now(),
    )


@pytest.fixture
def trace(make: SimpleNamespace, clock: FakeClock) -> ExecutionTrace:
    made: ExecutionTrace = make.trace(UUID(int=1), clock.now())
    return made


def said(trace: ExecutionTrace, *of: Mapping[str, float]) -> dict[TrustSubject, TraceSignals]:
    """Extract, where the plugins say `of[i]` about step i, or everything good."""

    def collect(step: ActionStep, trace: ExecutionTrace, context: SignalContext) -> Mapping[str, float]:
        return {**GOOD, **(of[step.index] if step.index < len(of) else {})}

    return {signals.subject: signals for signals in extract(trace, collect)}


def test_every_distinct_subject_gets_one_entry_and_the_runtime_one(trace: ExecutionTrace) -> None:
    trace.steps = [step(0, NOTES, PHOTOS), step(1, NOTES), step(2, ("fs_read", "fs_read:~/ws/*"))]
    assert list(said(trace)) == [NOTES, PHOTOS, ("fs_read", "fs_read:~/ws/*"), ("runtime", "success")]
    assert subjects_of(trace.steps[0]) == (NOTES, PHOTOS)


def test_several_steps_of_one_subject_count_once_with_the_worst_of_each_signal(trace: ExecutionTrace) -> None:
    trace.steps = [step(0), step(1), step(2)]
    found = said(trace, {"tool_success": 0.0}, {"cost_efficiency": 0.2, "undo_flag": 1.0}, {"constitution_clean": 0.5})
    worst = found[NOTES]
    assert (worst.tool_success, worst.cost_efficiency, worst.constitution_clean, worst.undo_flag) == (0, 0.2, 0.5, 1)
    assert (worst.asked, worst.human_approval_delta) == (False, 0.5)


def test_of_approvals_a_denial_counts_before_a_grant_and_a_grant_before_no_question(trace: ExecutionTrace) -> None:
    trace.approvals = [approval(1), approval(2, "denied")]
    granted = {"human_approval_delta": 1.0}
    trace.steps = [step(0), step(1, approval_id=UUID(int=1))]
    entry = said(trace, {}, granted)[NOTES]
    assert (entry.asked, entry.human_approval_delta, entry.granted, entry.good) == (True, 1.0, True, True)
    trace.steps.append(refused(2, approval_id=UUID(int=2)))
    entry = said(trace, {}, granted)[NOTES]
    assert (entry.asked, entry.human_approval_delta, entry.ran) == (True, 0.0, True)
    assert entry.bad


def test_a_step_that_a_person_denied_gives_approval_evidence_only(trace: ExecutionTrace) -> None:
    trace.approvals = [approval(1, "denied")]
    trace.steps = [refused(0, approval_id=UUID(int=1))]
    entry = said(trace)[NOTES]
    assert (entry.ran, entry.asked, entry.human_approval_delta) == (False, True, 0.0)
    assert (entry.tool_success, entry.undo_flag) == (0.0, 0.0)


def test_a_no_that_asks_for_a_revision_is_no_judgement_on_the_action(trace: ExecutionTrace) -> None:
    """Neither approval nor denial: the step says nothing, like one that nobody was asked about."""
    wanted = Revision(stage="draft", text="shorter")
    trace.approvals = [evolve(approval(1, "denied"), revision=wanted)]
    trace.steps = [refused(0, approval_id=UUID(int=1))]
    assert list(said(trace)) == [("runtime", "success")]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"approval_id": UUID(int=1)},
        {"approval_id": UUID(int=2)},
        {"approval_id": UUID(int=3)},
        {"error": ToolError(kind="validation", message="x")},
        {"error": ToolError(kind="unavailable", message="x")},
        {"state": "decided", "error": None},
        {"state": "asked", "error": None},
    ],
    ids=["policy", "expired", "nobody there", "granted, then refused", "invalid", "no undo", "decided", "asked"],
)
def test_a_step_that_did_not_run_for_another_reason_gives_no_sample(
    trace: ExecutionTrace, changes: dict[str, Any]
) -> None:
    trace.approvals = [approval(1, "expired", "core"), approval(2, "denied", "core"), approval(3)]
    trace.steps = [refused(0, **changes)]
    assert list(said(trace)) == [("runtime", "success")]


def test_a_failed_step_counts_as_tried(trace: ExecutionTrace) -> None:
    trace.steps = [refused(0, error=ToolError(kind="timeout", message="too slow"))]
    assert said(trace, {"tool_success": 0.0})[NOTES].tool_success == 0.0


def test_a_step_that_was_cancelled_gives_no_sample_and_one_that_a_crash_hid_does(trace: ExecutionTrace) -> None:
    trace.steps = [step(0, state="intent", exec_result=None)]
    trace.outcome = "interrupted"
    assert NOTES in said(trace)
    trace.outcome = "abandoned"
    assert NOTES not in said(trace)
    trace.steps = [refused(0, error=ToolError(kind="exception", message="cancelled"))]
    assert NOTES not in said(trace)
    trace.steps = [refused(0, error=ToolError(kind="exception", message="no such file")), step(1, PHOTOS)]
    assert {NOTES, PHOTOS} <= set(said(trace))


def test_the_runtime_has_the_worst_of_all_steps_and_the_outcome(trace: ExecutionTrace) -> None:
    trace.approvals = [approval(1, "denied")]
    trace.steps = [step(0), step(1, PHOTOS), refused(2, approval_id=UUID(int=1))]
    entry = said(trace, {"cost_efficiency": 0.3}, {"tool_success": 0.0})["runtime", "success"]
    assert (entry.tool_success, entry.cost_efficiency, entry.human_approval_delta, entry.ran) == (1.0, 0.3, 0.0, True)
    trace.outcome = "failed"
    assert said(trace)["runtime", "failed"].tool_success == 0.0


def test_without_the_default_signals_there_is_no_sample(trace: ExecutionTrace) -> None:
    trace.steps = [step(0)]
    found = extract(trace, lambda step, trace, context: {"tool_success": 1.0})
    assert [signals.subject for signals in found] == [("runtime", "success")]


@pytest.mark.parametrize("value", [math.nan, -0.1, 1.1, math.inf, "1", None])
def test_a_value_out_of_range_is_ignored_and_reported(trace: ExecutionTrace, value: Any) -> None:
    trace.steps = [step(0)]
    problems: list[Text] = []
    found = extract(trace, lambda *_: GOOD | {"polish": value}, report=problems.append)
    assert found[0].extra == {}
    assert len(problems) == 1
    assert "'polish'" in str(problems[0])
    problems.clear()
    assert len(extract(trace, lambda *_: GOOD | {"tool_success": value}, report=problems.append)) == 1
    assert len(problems) == 1


def test_extra_signals_are_kept_with_their_worst_value(trace: ExecutionTrace) -> None:
    trace.steps = [step(0), step(1)]
    found = said(trace, {"polish": 0.9}, {"polish": 0.4, "speed": 1.0})
    assert found[NOTES].extra == {"polish": 0.4, "speed": 1.0}


def test_plugins_see_the_medians_and_undos(trace: ExecutionTrace) -> None:
    trace.steps = [step(0)]
    context = SignalContext(median_cost_usd={NOTES[1]: 0.1}, undone_steps=frozenset({0}))
    seen = []

    def collect(step: ActionStep, trace: ExecutionTrace, context: SignalContext) -> Mapping[str, float]:
        seen.append(context)
        return GOOD

    extract(trace, collect, context)
    assert seen == [context]


def test_the_same_trace_says_the_same_twice(trace: ExecutionTrace) -> None:
    trace.steps = [step(0, NOTES, PHOTOS), step(1)]
    assert said(trace) == said(trace)


def test_a_trace_without_steps_says_only_how_it_ended(trace: ExecutionTrace) -> None:
    trace.outcome = "budget"
    assert said(trace) == {
        ("runtime", "budget"): TraceSignals(
            subject=("runtime", "budget"),
            tool_success=0.0,
            cost_efficiency=1.0,
            constitution_clean=1.0,
            human_approval_delta=0.5,
            undo_flag=0.0,
        )
    }


def test_of_the_effects_of_one_step_and_kind_only_the_first_counts_for_the_parent(trace: ExecutionTrace) -> None:
    """A command of five programs is not five times done; a later step of its own counts again."""
    trace.steps = [step(0, NOTES, PHOTOS)]
    assert [entry.wider for entry in said(trace, GOOD).values()][:2] == [True, False]

    trace.steps = [step(0, NOTES, PHOTOS), step(1, PHOTOS)]
    assert [entry.wider for entry in said(trace, GOOD, GOOD).values()][:2] == [True, True]


def test_what_came_through_neurons_counts_for_each_of_them_and_their_call_for_the_called_one() -> None:
    """The tool that did it gains nothing; a neuron that stands in the chain twice counts once."""
    chain = (Caller(actor="neuron:a", version="1"), Caller(actor="neuron:b", version="2"), Caller(actor="neuron:a"))
    written = step(actor="neuron:b", callers=chain[:2])
    called = step(
        1, ("neuron:b", "invoke"), actor="neuron:b", kind="neuron_invoke", callers=chain[:1], effect_class="invoke"
    )

    assert subjects_of(written) == (("neuron:a", NOTES[1]), ("neuron:b", NOTES[1]))
    assert [subject[0] for subject in subjects_of(called)] == ["neuron:b"]
    assert len(subjects_of(step(actor="neuron:a", callers=chain))) == 2


def test_what_a_dry_run_pretends_shows_nothing(trace: ExecutionTrace) -> None:
    """A neuron runs there too, but what it wrote was only judged."""
    trace.dry_run = True
    trace.steps.append(step())
    assert [subject[0] for subject in said(trace)] == ["runtime"]


def test_what_is_read_in_a_dry_run_was_really_read(trace: ExecutionTrace) -> None:
    trace.dry_run = True
    trace.steps.append(step(0, ("fs_read", "fs_read:~/ws/notes/*"), kind="fs_read"))
    trace.steps.append(step(1))
    assert [subject[0] for subject in said(trace)] == ["fs_read", "runtime"]
