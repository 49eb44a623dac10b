"""The lines that close a turn."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from attrs import evolve
from myclaw_terminal.closing import closing_lines
from myclaw_terminal.lines import layout

from myclaw_core.approval.types import Approval
from myclaw_core.runtime.types import ExecutionTrace, ModelCall, ToolError, Usage


def said(trace: ExecutionTrace) -> list[str]:
    """Return the closing lines unwrapped."""
    return [row for line in closing_lines(trace, undo="/undo") for row in layout(line, None)]


def test_a_turn_that_only_answered_closes_without_a_word(build: Any) -> None:
    """No noise."""
    assert said(build.trace()) == []


def test_plain_done_and_done_by_itself_are_told_apart(build: Any) -> None:
    """A promoted step says what earned it."""
    promoted = build.step(via="trust_promoted", evidence=(build.evidence(),))
    earned = "went well 40 times, last asked 3 days ago"
    assert said(build.trace(build.step(), promoted)) == [
        "done: fs_write /srv/notes/a.md (undo: /undo)",
        f"done by itself: fs_write /srv/notes/* – {earned} (/srv/notes/a.md; undo: /undo)",
        "2 steps · no cost · 1.2 s",
    ]


@pytest.mark.usefixtures("italian")
def test_the_lines_are_in_the_language_of_the_person(build: Any) -> None:
    """Whole sentences with their own counts; a label may be longer than the English one."""
    earned = build.evidence(n_samples=1)
    refused = build.step(approval_id=UUID(int=5))
    trace = build.trace(build.step(via="trust_promoted", evidence=(earned,)), refused)
    trace.approvals.append(
        Approval(
            request_id=UUID(int=5),
            trace_id=trace.id,
            verdict="denied",
            decided_at=trace.started_at,
            decided_by="cli:me",
        )
    )
    by_itself, not_done, sums = closing_lines(trace, undo="/undo")
    assert "è andato bene 1 volta, chiesto 3 giorni fa (/srv/notes/a.md; per annullare: /undo)" in by_itself.text
    assert layout(not_done, 40) == [
        "non è stato fatto: fs_write",
        " " * 19 + "/srv/notes/a.md – hai",
        " " * 19 + "detto di no",
    ]
    assert sums.text == "2 passi · nessun costo · 1.2 s"


def test_the_figures_are_those_that_decided(build: Any) -> None:
    """The parent's where the parent was promoted; never asked and today have their own words."""
    parent = build.evidence(level="parent", parent_n_samples=1, last_asked_days=None)
    other = build.evidence(effect_class="fs_write:/other/*", n_samples=99)
    today = build.evidence(last_asked_days=0.4)
    assert (
        "went well 1 time, never asked"
        in said(build.trace(build.step(via="trust_promoted", evidence=(other, parent))))[0]
    )
    assert "last asked today" in said(build.trace(build.step(via="trust_promoted", evidence=(today,))))[0]
    assert "– because (" in said(build.trace(build.step(via="trust_promoted")))[0]


def test_what_was_not_done_says_why(build: Any) -> None:
    """Denied, failed, never started and unknown are four things."""
    denied = build.step(state="failed", error=ToolError(kind="denied", message="you said no"), exec_result=None)
    failed = build.step(state="failed", error=ToolError(kind="exception", message="disk\x1b[2J full"), exec_result=None)
    waiting = build.step(state="asked", exec_result=None)
    unknown = build.step(state="intent", exec_result=None)
    assert said(build.trace(denied, failed, waiting, unknown, outcome="abandoned"))[:-1] == [
        "not done: fs_write /srv/notes/a.md – you said no",
        "failed: fs_write /srv/notes/a.md – disk␛[2J full",
        "not done: fs_write /srv/notes/a.md",
        "outcome unknown: fs_write /srv/notes/a.md (undo: /undo)",
        "the turn was stopped",
    ]


def test_a_dry_run_says_what_would_become_of_each_step(build: Any) -> None:
    """Done, or asked with the reason; a stopped turn that was no dry run does not."""
    allowed = build.step(state="decided", via="autonomy_full", exec_result=None)
    asked = build.step(state="decided", exec_result=None)
    asked = evolve(asked, decision=evolve(asked.decision, verdict="approve_required"))
    assert said(build.trace(allowed, asked, dry_run=True))[:-1] == [
        "would be done: fs_write /srv/notes/a.md",
        "would be asked: fs_write /srv/notes/a.md – because",
    ]
    assert said(build.trace(asked, outcome="abandoned"))[0] == "not done: fs_write /srv/notes/a.md"


def test_a_command_that_runs_several_programs_is_named_once(build: Any) -> None:
    """Each program is an effect, the command is one."""
    effects = [build.effect("a | b", kind="shell_exec", scope=f"{name} @ /srv/notes") for name in "ab"]
    assert said(build.trace(build.step(*effects)))[0] == "done: fs_write a | b (undo: /undo)"


def test_reads_are_counted_in_one_line(build: Any) -> None:
    """They change nothing."""
    read = build.step(build.effect(kind="fs_read"), tool_name="fs_read", undo_id=None)
    listed = build.step(build.effect(kind="fs_read"), tool_name="fs_list", undo_id=None)
    assert said(build.trace(read, listed, read))[0] == "done: fs_read ×2, fs_list (only read)"


def test_several_effects_and_no_undo_are_said(build: Any) -> None:
    """The worst effect is named."""
    step = build.step(build.effect(), build.effect("/srv/b", reversibility="irreversible"), undo_id=None)
    assert said(build.trace(step))[0] == "done: fs_write /srv/b and 1 more (cannot be undone)"


def test_the_cost_is_that_of_the_model_calls(build: Any) -> None:
    """In EUR, as the ledger booked it."""
    call = ModelCall(
        id=UUID(int=1),
        provider="p",
        model="m",
        purpose="answer",
        tier="frontier",
        usage=Usage(input_tokens=9),
        cost_usd=0.02,
        cost_eur=0.0125,
        started_at=build.trace().started_at,
        wall_time_ms=1,
    )
    trace = build.trace(build.step(), model_calls=[call, evolve(call, id=UUID(int=2))])
    assert said(trace)[-1] == "1 step · 0.0250 EUR · 1.2 s"
    stopped = evolve(call, usage=Usage(), error="cancelled")
    stopped_turn = build.trace(model_calls=[call, stopped], outcome="abandoned")
    assert said(stopped_turn)[-1] == "0 steps · at most 0.03 EUR · 1.2 s"


def test_a_no_of_the_person_is_said_as_theirs_and_ends_nothing(build: Any) -> None:
    """What the model reads about it stays out."""
    error = ToolError(kind="denied", message="the person said no; it was not done")
    step = build.step(state="failed", error=error, exec_result=None, undo_id=None, approval_id=UUID(int=5))
    trace = build.trace(step, outcome="denied")
    answer = Approval(
        request_id=UUID(int=5), trace_id=trace.id, verdict="denied", decided_at=trace.started_at, decided_by="cli:me"
    )
    trace.approvals.append(answer)
    assert said(trace)[:-1] == [
        "not done: fs_write /srv/notes/a.md – you said no",
        "nothing was changed",
    ]


def test_a_move_names_both_ends_and_a_single_read_its_file(build: Any) -> None:
    """Not one of two, and not only the tool."""
    moved = build.step(build.effect("/srv/a", kind="fs_delete"), build.effect("/srv/b"), tool_name="fs_move")
    read = build.step(build.effect("/srv/c", kind="fs_read"), tool_name="fs_read", undo_id=None)
    assert said(build.trace(moved, read))[:-1] == [
        "done: fs_read /srv/c (only read)",
        "done: fs_move /srv/a → /srv/b (undo: /undo)",
    ]


def test_the_undo_is_written_as_it_works_where_it_is_read(build: Any) -> None:
    """There is no slash command after one message from the shell."""
    lines = closing_lines(build.trace(build.step()), undo="myclaw undo")
    assert layout(lines[0], None) == ["done: fs_write /srv/notes/a.md (undo: myclaw undo)"]


def test_a_turn_that_failed_without_a_step_says_so(build: Any) -> None:
    """One reason and the sums."""
    assert said(build.trace(outcome="budget")) == [
        "the turn ended: the budget is used up",
        "0 steps · no cost · 1.2 s",
    ]
