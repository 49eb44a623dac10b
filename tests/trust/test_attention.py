"""What attention was spent on is counted from events, week by week."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from myclaw_sqlite.event_store import SqliteEventStore

from myclaw_core.approval.types import ApprovalRequest
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import ApprovalAnswered, ApprovalAsked, PluginFault, TraceClosed, UndoApplied
from myclaw_core.policy.types import PolicyDecision
from myclaw_core.runtime.types import ToolError, ToolResult
from myclaw_core.synthesis.types import Revision
from myclaw_core.testing import FakeClock
from myclaw_core.trust.attention import AttentionCounter, Week, first_monday, reading_time_s, recorded
from myclaw_core.trust.attention_report import AttentionReport, attention_json, attention_text
from myclaw_core.types.action import ApprovalRequestDraft
from myclaw_core.types.text import Text

MONDAY = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
ROME = ZoneInfo("Europe/Rome")
NOTES = ("fs_write", "fs_write:~/ws/notes/*")
DONE = ToolResult(text="done")


class Diary:
    """Tells a counter what happened; times are given from Monday on."""

    def __init__(self, make: SimpleNamespace) -> None:
        self.make = make
        self.counter = AttentionCounter(UTC)
        self._ids = 0

    def new_id(self) -> UUID:
        self._ids += 1
        return UUID(int=self._ids)

    def asked(self, after: timedelta, *, words: int = 10) -> ApprovalRequest:
        """Put a question of so many words."""
        at, make = MONDAY + after, self.make
        action = make.action(make.effect(NOTES, target="t"), at)
        draft = ApprovalRequestDraft(
            action=action,
            effect_class=action.effect_class,
            summary=Text(" ".join(["word"] * (words - 1))),
            risk="low",
            policy_reasons=(),
        )
        request = ApprovalRequest(
            id=self.new_id(),
            draft=draft,
            channel="cli",
            sender="cli:me",
            created_at=at,
            expires_at=at + HOUR,
            not_before=at + timedelta(seconds=3),
        )
        self.counter.take(at, ApprovalAsked(trace_id=UUID(int=1), step_index=0, request=request))
        return request

    def answered(self, request: ApprovalRequest, after_s: float, **changes: Any) -> None:
        clock = FakeClock(request.created_at + timedelta(seconds=after_s))
        approval = self.make.approval(clock, UUID(int=1), **({"request_id": request.id} | changes))
        self.counter.take(clock.now(), ApprovalAnswered(trace_id=UUID(int=1), approval=approval))

    def closed(self, after: timedelta, *steps: Any, ingested: bool = False, **changes: Any) -> UUID:
        at = MONDAY + after
        trace = self.make.trace(self.new_id(), at, steps=list(steps), **changes)
        self.counter.take(at, TraceClosed(trace_id=trace.id, trace=trace, signals=(), ingested=ingested))
        return UUID(int=self._ids)

    def undone(self, trace_id: UUID, after: timedelta, *, reverted: bool = True) -> None:
        undo = UndoApplied(
            trace_id=self.new_id(),
            original_trace_id=trace_id,
            step_index=0,
            undo_id=UUID(int=9),
            reverted=reverted,
            within_window=True,
        )
        self.counter.take(MONDAY + after, undo)

    def step(self, after: timedelta = timedelta(0), via: str = "trust_promoted", **changes: Any) -> Any:
        """Return a step that was done because of `via`."""
        at, make = MONDAY + after, self.make
        action = make.action(make.effect(NOTES), at)
        decision = PolicyDecision(
            verdict="allow",
            via=via,  # type: ignore[arg-type]
            reason=Text("why"),
            reasons=(),
            action=action,
            effects=action.effects,
            kind=action.kind,
            effect_class=action.effect_class,
        )
        return make.step(NOTES, at, **({"decision": decision, "exec_result": DONE} | changes))

    def week(self) -> Week:
        (week,) = self.counter.weeks(MONDAY, 1)
        return week


@pytest.fixture
def diary(make: SimpleNamespace) -> Diary:
    """Return an empty diary."""
    return Diary(make)


def test_questions_per_100_actions_are_questions_over_what_ran_or_was_asked(diary: Diary) -> None:
    """A denied action was asked about; one that the policy denied by itself was no action of anybody."""
    diary.answered(diary.asked(HOUR), 20)
    refused = ToolError(kind="denied", message=Text("no"))
    diary.closed(
        2 * HOUR,
        diary.step(),
        diary.step(index=1),
        diary.step(index=2, approval_id=UUID(int=5), state="failed", exec_result=None, error=refused),
        diary.step(index=3, state="failed", exec_result=None, error=refused),
    )

    week = diary.week()

    assert (week.questions, week.actions, week.succeeded, week.tasks) == (1, 3, 2, 1)
    assert week.questions_per_100_actions == pytest.approx(100 / 3)
    assert (week.tasks_per_question, week.succeeded_per_question) == (1.0, 2.0)


def test_reading_is_no_action(diary: Diary, make: SimpleNamespace) -> None:
    read = ("fs_read", "fs_read:~/ws/*")
    diary.closed(HOUR, make.step(read, MONDAY, exec_result=DONE))

    assert (diary.week().actions, diary.week().succeeded) == (0, 0)


def test_what_the_answer_to_another_question_covered_and_what_nobody_saw_is_no_question(diary: Diary) -> None:
    diary.answered(diary.asked(HOUR), 30)
    diary.answered(diary.asked(HOUR), 30, scope="batch")
    diary.answered(diary.asked(HOUR), 0, granted=False, decided_by="core", note="unattended", verdict="expired")
    diary.answered(diary.asked(HOUR), 1800, decided_by="core", note="timeout", verdict="expired")

    week = diary.week()

    assert (week.questions, week.answers) == (2, 1)


def test_the_median_time_to_decide_is_from_question_to_answer(diary: Diary) -> None:
    for seconds in (10, 20, 300):
        diary.answered(diary.asked(HOUR), seconds)

    assert diary.week().median_decide_s == 20


def test_an_answer_is_hasty_where_it_came_sooner_than_its_words_can_be_read(diary: Diary) -> None:
    """119 words are half a minute at 238 words a minute."""
    request = diary.asked(HOUR, words=119)
    assert reading_time_s(request) == pytest.approx(30)

    diary.answered(request, 29)
    diary.answered(diary.asked(HOUR, words=119), 31)

    assert (diary.week().hasty_answers, diary.week().answers) == (1, 2)


@pytest.mark.parametrize(
    ("hours", "reverted", "regretted"), [(0.1, True, 1), (24, True, 1), (25, True, 0), (1, False, 0)]
)
def test_an_action_done_by_itself_is_regretted_where_it_is_undone_within_a_day(
    diary: Diary, hours: float, reverted: bool, regretted: int
) -> None:
    trace_id = diary.closed(HOUR, diary.step(HOUR))
    diary.undone(trace_id, HOUR + hours * HOUR, reverted=reverted)

    week = diary.week()

    assert (week.by_itself, week.regretted, week.regret_rate) == (1, regretted, float(regretted))


@pytest.mark.parametrize(
    ("hours", "granted", "regretted"), [(1, False, 1), (30, False, 0), (1, True, 0), (-2, False, 0)]
)
def test_an_action_done_by_itself_is_regretted_where_the_like_is_denied_within_a_day(
    diary: Diary, hours: float, granted: bool, regretted: int
) -> None:
    diary.answered(diary.asked(3 * HOUR + hours * HOUR), 20, granted=granted)
    diary.closed(3 * HOUR, diary.step(3 * HOUR))

    assert diary.week().regretted == regretted


def test_a_revision_is_an_answer_and_no_regret(diary: Diary) -> None:
    """It took time to decide; it says nothing against what was done by itself."""
    revision = Revision(stage="draft", text="shorter")
    diary.answered(diary.asked(4 * HOUR), 20, granted=False, revision=revision)
    diary.closed(3 * HOUR, diary.step(3 * HOUR))

    assert (diary.week().regretted, diary.week().questions) == (0, 1)


def test_what_a_person_allowed_is_not_done_by_itself(diary: Diary) -> None:
    """Nor what a level allowed."""
    trace_id = diary.closed(HOUR, diary.step(via="grant"), diary.step(index=1, via="autonomy_full"))
    diary.undone(trace_id, 2 * HOUR)

    week = diary.week()

    assert (week.by_itself, week.regretted, week.regret_rate) == (0, 0, None)


@pytest.mark.parametrize(
    "changes",
    [
        {"outcome": "failed"},
        {"unverified": True},
        {"activity": "nightly"},
        {"parent_trace_id": UUID(int=77)},
        {"ingested": True},
    ],
)
def test_only_turns_that_succeeded_are_tasks(diary: Diary, changes: dict[str, Any]) -> None:
    """Not an undo, not nightly work, not what was taken in from a file, not one that claims what no step did."""
    diary.closed(HOUR, **changes)

    assert diary.week().tasks == 0


def test_what_was_taken_in_from_files_is_left_out(diary: Diary) -> None:
    diary.closed(HOUR, diary.step(), ingested=True)

    assert diary.week() == Week(starts_on=date(2026, 1, 5))


def test_without_questions_or_actions_no_ratio_is_given(diary: Diary) -> None:
    """Nothing is divided by nothing, and nothing is shown as a zero that was not measured."""
    week = diary.week()

    assert week.questions_per_100_actions is None
    assert (week.regret_rate, week.tasks_per_question, week.succeeded_per_question) == (None, None, None)
    assert "–" in attention_text(AttentionReport(weeks=[week]))


def test_a_week_begins_on_monday_where_the_person_lives(make: SimpleNamespace) -> None:
    """Half past midnight on Monday in Rome is still Sunday in UTC."""
    late = datetime(2026, 1, 11, 23, 30, tzinfo=UTC)
    assert first_monday(late, 1, UTC) == datetime(2026, 1, 5, tzinfo=UTC)
    assert first_monday(late, 1, ROME) == datetime(2026, 1, 11, 23, 0, tzinfo=UTC)

    diary = Diary(make)
    diary.counter = AttentionCounter(ROME)
    diary.asked(late - MONDAY)

    before, week = diary.counter.weeks(late, 2)
    assert (before.questions, week.questions, week.starts_on) == (0, 1, date(2026, 1, 12))


def test_weeks_across_a_change_of_summer_time_are_seven_days_each(make: SimpleNamespace) -> None:
    diary = Diary(make)
    diary.counter = AttentionCounter(ROME)

    weeks = diary.counter.weeks(datetime(2026, 4, 8, tzinfo=UTC), 4)

    assert [week.starts_on for week in weeks] == [date(2026, 3, 16) + number * timedelta(7) for number in range(4)]


@given(seconds=st.lists(st.floats(0, 3600), max_size=8), batch=st.integers(0, 3))
def test_counts_never_contradict_each_other(make: SimpleNamespace, seconds: Sequence[float], batch: int) -> None:
    diary = Diary(make)
    for taken in seconds:
        diary.answered(diary.asked(HOUR), taken)
    for _ in range(batch):
        diary.answered(diary.asked(HOUR), 1, scope="batch")

    week = diary.week()

    assert (week.questions, week.answers) == (len(seconds), len(seconds))
    assert 0 <= week.hasty_answers <= week.answers
    assert (week.median_decide_s is None) == (not seconds)


@pytest.fixture
async def log(tmp_path: Path, clock: FakeClock) -> AsyncIterator[EventLog]:
    """Return an open, empty log."""
    log = EventLog(SqliteEventStore(tmp_path / "events.db"), bytes(32), clock)
    await log.open()
    yield log
    await log.close()


async def test_only_what_is_counted_is_read_from_the_log(
    log: EventLog, clock: FakeClock, make: SimpleNamespace
) -> None:
    """And only since the first week began."""
    for days in (0, 8):
        clock.advance(days=days)
        trace = make.trace(clock.new_id(), clock.now())
        async with log.transaction() as tx:
            await tx.append(PluginFault(plugin="demo", hook="load", detail="no"))
            await tx.append(TraceClosed(trace_id=trace.id, trace=trace, signals=()))

    found = [event async for _, event in recorded(log, first_monday(clock.now(), 1, UTC))]

    assert [event.trace_id for event in found] == [trace.id]


def test_the_report_is_a_table_for_people_and_plain_figures_for_programs(in_quotes: None, diary: Diary) -> None:
    diary.answered(diary.asked(HOUR), 12)
    diary.closed(2 * HOUR, diary.step())
    report = AttentionReport(weeks=diary.counter.weeks(MONDAY, 2))

    head, empty, row, *rest = attention_text(report).splitlines()

    assert head.split()[0].startswith("‹")
    assert empty.split() == ["2025-12-29", "0", "0", "–", "–", "0/0", "0", "0", "–", "–"]
    assert row.split() == ["2026-01-05", "1", "1", "100.0", "12.0", "0/1", "1", "0", "(0%)", "1.0", "1.0"]
    assert all(line.startswith("‹") for line in rest if line)
    first, second = attention_json(report)["weeks"]
    assert first["questions_per_100_actions"] is None
    assert (second["starts_on"], second["questions"], second["median_decide_s"]) == ("2026-01-05", 1, 12.0)
