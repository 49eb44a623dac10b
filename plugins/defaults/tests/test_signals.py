"""The five signals, from one step and its trace alone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from myclaw_defaults.plugin import myclaw_signals
from myclaw_defaults.signals import five_signals

from myclaw_core.approval.types import Approval
from myclaw_core.constitution.types import ViolationReport
from myclaw_core.runtime.types import ActionStep, ExecutionTrace, ToolError, ToolResult
from myclaw_core.trust.signals import DEFAULT_SIGNALS
from myclaw_core.trust.types import SignalContext
from myclaw_core.types.text import Text

AT = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
CLASS = "fs_write:~/ws/notes/*"


def step(**changes: Any) -> ActionStep:
    base: dict[str, Any] = {
        "index": 0,
        "tool_name": "fs_write",
        "args": {},
        "args_digest": "d",
        "actor": "fs_write",
        "actor_version": "1",
        "model": "m",
        "state": "done",
        "kind": "fs_write",
        "effect_class": CLASS,
        "effects": (),
        "started_at": AT,
        "exec_result": ToolResult(text="ok"),
    }
    return ActionStep(**(base | changes))


def trace(*steps: ActionStep, laws: tuple[Any, ...] = (), verdict: Any = None, **changes: Any) -> ExecutionTrace:
    violations = [ViolationReport(law=law, rule="r", reason=Text("r"), action_digest="d", at=AT) for law in laws]
    approvals = []
    if verdict is not None:
        approvals = [
            Approval(request_id=UUID(int=9), trace_id=UUID(int=1), verdict=verdict, decided_by="cli:me", decided_at=AT)
        ]
    base: dict[str, Any] = {
        "id": UUID(int=1),
        "session_id": "s",
        "channel": "cli",
        "sender": "cli:me",
        "autonomy": "supervised",
        "started_at": AT,
    }
    return ExecutionTrace(**base, steps=list(steps), violations=violations, approvals=approvals, **changes)


def signals(a_step: ActionStep, a_trace: ExecutionTrace, **context: Any) -> dict[str, float]:
    return dict(five_signals(a_step, a_trace, SignalContext(**context)))


def test_hook_myclaw_signals() -> None:
    """The hook gives exactly the five default signals."""
    found = myclaw_signals(step(), trace(step()), SignalContext())
    assert set(found) == set(DEFAULT_SIGNALS)
    assert found["tool_success"] == 1.0


@pytest.mark.parametrize(
    ("changes", "value"),
    [
        ({}, 1.0),
        ({"exec_result": None}, 0.0),
        ({"exec_result": None, "error": ToolError(kind="exception", message="x")}, 0.0),
        ({"error": ToolError(kind="timeout", message="x")}, 0.0),
    ],
)
def test_a_step_succeeded_when_it_has_a_result_and_no_error(changes: dict[str, Any], value: float) -> None:
    assert signals(step(**changes), trace())["tool_success"] == value


@pytest.mark.parametrize(
    ("cost", "median", "value"),
    [
        (0.0, None, 1.0),
        (0.1, None, 0.5),
        (0.0, 0.0, 1.0),
        (0.1, 0.0, 0.0),
        (0.05, 0.2, 0.75),
        (0.2, 0.2, 0.0),
        (0.9, 0.2, 0.0),
    ],
)
def test_cost_is_measured_against_the_median_of_the_class(cost: float, median: float | None, value: float) -> None:
    medians = {} if median is None else {CLASS: median}
    found = signals(step(), trace(cost_usd=cost), median_cost_usd=medians)["cost_efficiency"]
    assert found == pytest.approx(value)


@pytest.mark.parametrize(
    ("laws", "value"),
    [
        ((), 1.0),
        (("law.0",), 0.0),
        (("law.1",), 0.0),
        (("law.2",), 0.0),
        (("law.3",), 0.5),
        (("law.4",), 0.5),
        (("law.3", "law.1"), 0.0),
    ],
)
def test_a_broken_law_counts_by_its_weight(laws: tuple[str, ...], value: float) -> None:
    assert signals(step(), trace(laws=laws))["constitution_clean"] == value


def test_a_question_of_law_2_that_was_granted_broke_nothing() -> None:
    asked = step(approval_id=UUID(int=9))
    assert signals(asked, trace(asked, laws=("law.2",), verdict="granted"))["constitution_clean"] == 1.0
    assert signals(asked, trace(asked, laws=("law.2",), verdict="denied"))["constitution_clean"] == 0.0
    assert signals(asked, trace(asked, laws=("law.1",), verdict="granted"))["constitution_clean"] == 0.0


def test_the_same_call_granted_once_does_not_excuse_that_it_was_refused_before() -> None:
    """A violation names its call by digest only."""
    granted, refused = step(approval_id=UUID(int=9)), step(index=1)
    assert signals(granted, trace(refused, granted, laws=("law.2",), verdict="granted"))["constitution_clean"] == 0.0


@pytest.mark.parametrize(("verdict", "value"), [("granted", 1.0), ("denied", 0.0), ("expired", 0.5), (None, 0.5)])
def test_approval_is_one_nil_or_neutral(verdict: str | None, value: float) -> None:
    asked = step(approval_id=UUID(int=9))
    assert signals(asked, trace(asked, verdict=verdict))["human_approval_delta"] == value


def test_an_undone_step_is_flagged() -> None:
    assert signals(step(index=2), trace(), undone_steps=frozenset({2}))["undo_flag"] == 1.0
    assert signals(step(index=1), trace(), undone_steps=frozenset({2}))["undo_flag"] == 0.0
