"""What a subject lacks is what the promotion rule says it lacks, condition by condition."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from myclaw_defaults.thresholds import threshold_for

from myclaw_core.trust.conditions import Outlook, best_of, outlook
from myclaw_core.trust.happenings import Order
from myclaw_core.trust.report import outlook_json, outlook_report
from myclaw_core.trust.thresholds import Thresholds
from myclaw_core.types.text import Text
from myclaw_core.types.trust import TrustSubject

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
DAY = timedelta(days=1)
HOME = ("fs_write", "fs_write:~/ws/notes/*")
ELSEWHERE = ("fs_write", "fs_write:~/photos/*")
SHELL = ("shell", "shell_exec:make @ ~/ws")
THRESHOLDS = Thresholds(threshold_for, "~/ws")


def seen(record: Any, subject: TrustSubject = HOME, at: datetime = START) -> Outlook:
    found = outlook(subject, record, THRESHOLDS, at)
    assert found is not None
    return found


def unmet(found: Outlook) -> set[str]:
    """Return the names of what does not hold."""
    return {one.name for one in (*found.either, *found.conditions) if not one.holds}


def record_of(make: SimpleNamespace, *signals: Any, every: timedelta = DAY) -> tuple[Any, datetime]:
    record, at = make.Record(), START
    for one in signals:
        record.add_sample(one, at)
        at += every
    return record, at


HISTORIES = st.lists(
    st.tuples(
        st.sampled_from([HOME, ELSEWHERE]),
        st.sampled_from([timedelta(minutes=1), DAY, 20 * DAY, 70 * DAY]),
        st.fixed_dictionaries(
            {
                "tool_success": st.sampled_from([0.0, 1.0, 1.0, 1.0]),
                "constitution_clean": st.sampled_from([0.0, 0.5, 1.0, 1.0, 1.0]),
                "undo_flag": st.sampled_from([0.0, 0.0, 0.0, 1.0]),
                "human_approval_delta": st.sampled_from([0.0, 1.0, 1.0, 1.0]),
                "asked": st.booleans(),
            }
        ),
        st.sampled_from([None, None, None, None, "revoke", "hold", "restore"]),
    ),
    min_size=1,
    max_size=12,
)


@given(history=HISTORIES, wait=st.sampled_from([timedelta(0), DAY, 40 * DAY, 100 * DAY]))
def test_all_hold_exactly_where_the_next_action_runs_by_itself_or_is_to_be_checked(
    make: SimpleNamespace, history: Sequence[Any], wait: timedelta
) -> None:
    record, at = make.Record(), START
    for number, (subject, pause, values, order) in enumerate(history):
        record.add_sample(make.ideal(subject, **values), at)
        if order:
            record.add(Order(kind=order, at=at + timedelta(seconds=1), trace_id=f"o{number}", subject=subject))
        at += pause
    found = outlook(HOME, record, THRESHOLDS, at + wait)
    if found is None:
        assert record.get(HOME) is None
        return

    holds = any(one.holds for one in found.either) and all(one.holds for one in found.conditions)

    assert holds == (found.promotion.promoted or found.promotion.tutor)


def test_three_good_days_are_enough_for_a_file_in_the_workspace(make: SimpleNamespace) -> None:
    record, at = record_of(make, *[make.ideal(HOME)] * 3)

    found = seen(record, at=at)

    assert unmet(found) == set()
    assert outlook_report(found).startswith("the next one runs by itself: went well 3 times")
    assert outlook_json(found)["runs_by_itself"] is True
    assert [str(one.found) for one in found.either] == [
        "score 0.88 (at least 0.60), samples 3 (at least 3), worth 3.3 today (likewise), days 3 (at least 2)",
        "score 0.88 (at least 0.60), samples 3 (at least 3), worth 3.3 today (likewise), days 3 (at least 2)",
    ]


@pytest.mark.parametrize(
    ("signals", "lacks"),
    [
        ({}, {"subject", "parent"}),
        ({"tool_success": 0.0}, {"subject", "parent", "tool_success"}),
        ({"constitution_clean": 0.5}, {"subject", "parent", "constitution_clean"}),
        ({"asked": False, "human_approval_delta": 0.5}, {"subject", "parent", "known"}),
        ({"undo_flag": 1.0}, {"subject", "parent", "known", "recent"}),
    ],
)
def test_what_is_lacking_is_named(make: SimpleNamespace, signals: dict[str, Any], lacks: set[str]) -> None:
    """All on one day, so that no level has what it needs."""
    record, at = record_of(make, *[make.ideal(HOME, **signals)] * 3, every=timedelta(minutes=1))

    found = seen(record, at=at)

    assert unmet(found) == lacks
    assert outlook_report(found).startswith("the next one asks, unless you name its target in your message: ")


@pytest.mark.parametrize(("kind", "said"), [("revoke", "you took the trust away"), ("hold", "you chose to be asked")])
def test_what_the_person_ordered_is_a_condition(make: SimpleNamespace, kind: Any, said: str) -> None:
    record, at = record_of(make, *[make.ideal(HOME)] * 4)
    record.add(Order(kind=kind, at=at, trace_id="order", subject=HOME))

    (orders,) = [one for one in seen(record, at=at).conditions if one.name == "orders"]

    assert not orders.holds
    assert str(orders.found).startswith(said)


def test_a_command_is_judged_as_one_that_a_snapshot_takes_back(make: SimpleNamespace) -> None:
    """It needs two approvals of exactly this and the figures of the high band."""
    record, at = record_of(make, make.ideal(SHELL))

    found = seen(record, SHELL, at)

    assert best_of(SHELL) == "reversible_with_cost"
    assert (found.threshold.min_samples, found.promotion.risk) == (15, "high")
    assert "times since it last went wrong: 1 (at least 2)" in map(str, (one.found for one in found.conditions))


def test_what_cannot_be_undone_is_asked_each_time(make: SimpleNamespace) -> None:
    mail = ("mail", "outbound_message:a@b.example")
    record, at = record_of(make, *[make.ideal(mail)] * 30)

    assert "reversible" in unmet(seen(record, mail, at))


@pytest.mark.parametrize(
    "subject",
    [("fs_write", "fs_write:*"), ("runtime", "success"), ("fs_write", "frobnicate:x"), ("nobody", "fs_write:~/x/*")],
)
def test_where_no_action_is_one_of_the_subject_there_is_nothing_to_say(
    make: SimpleNamespace, subject: TrustSubject
) -> None:
    """A parent, `runtime`, a kind of a later version, one without a history."""
    record, at = record_of(
        make, make.ideal(HOME), make.ideal(("runtime", "success")), make.ideal(("fs_write", "frobnicate:x"))
    )

    assert outlook(subject, record, THRESHOLDS, at) is None


def test_a_record_that_does_not_check_out_is_a_condition(make: SimpleNamespace) -> None:
    record, at = record_of(make, *[make.ideal(HOME)] * 4)
    record.problem = Text("row 3 was changed")

    assert unmet(seen(record, at=at)) == {"record"}


def test_people_read_it_in_their_language(in_quotes: None, make: SimpleNamespace) -> None:
    """Programs in English."""
    record, at = record_of(make, *[make.ideal(HOME)] * 2)
    found = seen(record, at=at)
    found = evolve(found, promotion=evolve(found.promotion, promoted=True))

    assert all("‹" in line for line in outlook_report(found).splitlines())
    assert "‹" not in str(outlook_json(found))
