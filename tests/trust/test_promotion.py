"""The promotion rule: fewer questions, and never a wrong action let through because of it."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from myclaw_core.policy.types import Evidence
from myclaw_core.testing import FakeClock
from myclaw_core.trust.decayed_mean import DecayedMean
from myclaw_core.trust.happenings import Order
from myclaw_core.trust.promotion import Promotion, judge
from myclaw_core.trust.state import Component, SubjectView
from myclaw_core.types.text import Text

FETCH = ("web_fetch", "network_out:example.org")
CHAT = ("send", "outbound_message:telegram:42")


def asked(make: SimpleNamespace, record: Any, clock: FakeClock, subject: Any = None, **changes: Any) -> Promotion:
    """Judge an action of `subject`; `changes` go to the effect, the action or the threshold by name."""
    subject = subject or make.NOTES
    effect_changes = {name: changes.pop(name) for name in ("reversibility",) if name in changes}
    limit = changes.pop("limit", make.threshold())
    effect = make.effect(subject, **effect_changes)
    action = make.action(effect, clock.now(), subject[0], **changes)
    return judge(effect, action, record, limit, clock.now())


def practise(make: SimpleNamespace, record: Any, clock: FakeClock, times: int, **options: Any) -> None:
    """Add `times` samples, one a day, the last one just now."""
    subject, every = options.pop("subject", make.NOTES), options.pop("every", timedelta(days=1))
    for _ in range(times):
        clock.advance(seconds=every.total_seconds())
        record.add_sample(make.ideal(subject, **options), clock.now())


def test_three_granted_days_promote_with_the_figures_that_decided(make: SimpleNamespace, clock: FakeClock) -> None:
    record = make.Record()
    practise(make, record, clock, 3)
    clock.advance(days=2)
    answer = asked(make, record, clock)
    assert answer.promoted
    assert str(answer.reason) == "went well 3 times, score 0.86 ≥ 0.60, last asked 2 days ago"
    assert (answer.evidence.level, answer.evidence.known, answer.risk) == ("subject", True, "low")
    assert answer.evidence.n_samples == 3
    assert answer.evidence.last_asked_days == pytest.approx(2)


def test_what_was_never_done_is_asked(make: SimpleNamespace, clock: FakeClock) -> None:
    answer = asked(make, make.Record(), clock)
    assert not answer.promoted
    assert str(answer.reason) == "it was never done before"
    assert answer.evidence.level == "none"


@pytest.mark.parametrize("score", [0.99, 1.0])
def test_an_irreversible_action_is_never_promoted(make: SimpleNamespace, clock: FakeClock, score: float) -> None:
    class Perfect(make.Record):  # type: ignore[misc, name-defined]
        def view(self, subject: Any, now: Any, by: Any = None) -> Any:
            seen = super().view(subject, now, by)
            return seen and evolve(seen, score=score)

    record = Perfect()
    practise(make, record, clock, 30)
    for limit in (make.threshold(), make.threshold(min_score=1.0)):
        answer = asked(make, record, clock, reversibility="irreversible", limit=limit)
        assert not answer.promoted
        assert "cannot be undone" in str(answer.reason)


@pytest.mark.parametrize("limit", [None, 1.0, float("nan"), -0.5, 1.5])
def test_an_unknown_threshold_is_never_met(make: SimpleNamespace, clock: FakeClock, limit: float | None) -> None:
    record = make.Record()
    practise(make, record, clock, 200)
    answer = asked(make, record, clock, limit=None if limit is None else make.threshold(min_score=limit))
    assert not answer.promoted
    assert (answer.evidence.min_score, answer.risk) == (1.0, "high" if limit is None else "low")


def test_two_samples_never_promote_however_far_apart_and_whatever_a_plugin_says(
    make: SimpleNamespace, clock: FakeClock
) -> None:
    for days in (0, 1, 30, 300):
        record = make.Record()
        practise(make, record, clock, 2, every=timedelta(days=days))
        answer = asked(make, record, clock, limit=make.threshold(0.0, 0))
        assert not answer.promoted
        assert str(answer.reason) == "2 of 3 samples"


def test_a_hundred_samples_of_one_day_do_not_promote(make: SimpleNamespace, clock: FakeClock) -> None:
    record = make.Record()
    practise(make, record, clock, 100, every=timedelta(minutes=1))
    assert str(asked(make, record, clock).reason) == "only on one day so far"
    clock.advance(days=1)
    practise(make, record, clock, 1)
    assert asked(make, record, clock).promoted


def test_promotion_comes_sooner_at_ten_uses_a_day_than_at_one(make: SimpleNamespace) -> None:
    def days_until(uses: int) -> float:
        record, clock = make.Record(), FakeClock()
        start = clock.now()
        while not asked(make, record, clock).promoted:
            practise(make, record, clock, 1, every=timedelta(days=1 / uses))
        return (clock.now() - start).total_seconds()

    assert days_until(10) < days_until(1)


@pytest.mark.parametrize(
    ("min_score", "min_samples"), [(0.60, 3), (0.65, 5), (0.72, 15)], ids=["low", "medium", "high"]
)
def test_each_band_is_reached_at_one_use_a_day_with_constant_paid_cost(
    make: SimpleNamespace, clock: FakeClock, min_score: float, min_samples: int
) -> None:
    record, limit = make.Record(), make.threshold(min_score, min_samples)
    for _ in range(40):
        practise(make, record, clock, 1, cost_efficiency=0.15)
        clock.advance(hours=23)
        if asked(make, record, clock, limit=limit).promoted:
            break
        clock.advance(hours=-23)
    assert asked(make, record, clock, limit=limit).promoted


def test_weekly_use_reaches_the_low_and_medium_band_and_never_the_high_one(
    make: SimpleNamespace, clock: FakeClock
) -> None:
    record = make.Record()
    reached: dict[str, int] = {}
    for use in range(1, 60):
        for band, limit in (("low", (0.60, 3)), ("medium", (0.65, 5)), ("high", (0.72, 15))):
            if band not in reached and asked(make, record, clock, limit=make.threshold(*limit)).promoted:
                reached[band] = use - 1
        record.add_sample(make.ideal(), clock.now())
        clock.advance(days=7)
    assert reached["low"] <= 6
    assert reached["medium"] <= 14
    assert "high" not in reached


def test_monthly_use_is_never_promoted(make: SimpleNamespace, clock: FakeClock) -> None:
    record = make.Record()
    for _ in range(40):
        practise(make, record, clock, 1, every=timedelta(days=30))
        assert not asked(make, record, clock).promoted


def test_silence_takes_a_promotion_away_and_never_gives_one(make: SimpleNamespace, clock: FakeClock) -> None:
    record = make.Record()
    practise(make, record, clock, 5)
    promoted = [asked(make, record, clock).promoted]
    for _ in range(60):
        clock.advance(days=1)
        promoted.append(asked(make, record, clock).promoted)
    assert promoted[0]
    assert promoted == sorted(promoted, reverse=True)
    assert not promoted[-1]


@pytest.mark.parametrize("bad", ["denied", "undone", "broke a law"])
def test_three_bad_samples_demote_at_once_whatever_the_history(
    make: SimpleNamespace, clock: FakeClock, bad: str
) -> None:
    record = make.Record()
    practise(make, record, clock, 300)
    assert asked(make, record, clock).promoted
    signals = {
        "denied": make.denied(),
        "undone": make.ideal(undo_flag=1.0),
        "broke a law": make.ideal(constitution_clean=0.0),
    }[bad]
    for _ in range(3):
        clock.advance(minutes=1)
        record.add_sample(signals, clock.now())
        answer = asked(make, record, clock)
        assert not answer.promoted
        assert str(answer.reason) == "one of the last 3 times was denied, undone or broke a law"


def test_a_denial_elsewhere_of_the_same_kind_slows_and_of_another_kind_does_not(
    make: SimpleNamespace, clock: FakeClock
) -> None:
    record = make.Record()
    practise(make, record, clock, 10)
    record.add_sample(make.denied(("fs_write", "fs_write:~/ws/photos/*")), clock.now())
    assert not asked(make, record, clock).promoted
    practise(make, record, clock, 3)
    assert asked(make, record, clock).promoted
    record.add_sample(make.denied(("fs_delete", "fs_delete:~/ws/notes/*")), clock.now())
    record.add_sample(make.denied(("other", make.NOTES[1])), clock.now())
    assert asked(make, record, clock).promoted


def test_what_went_wrong_elsewhere_is_said_of_the_kind(make: SimpleNamespace, clock: FakeClock) -> None:
    """The folder that is asked about has a clean record of its own."""
    record = make.Record()
    practise(make, record, clock, 300)
    record.add_sample(evolve(make.denied(), subject=("fs_write", "fs_write:~/ws/photos/*")), clock.now())
    said = "fs_write anywhere: one of the last 3 times was denied, undone or broke a law"
    assert str(asked(make, record, clock).reason) == said


def test_a_destination_never_approved_is_asked_at_any_score(make: SimpleNamespace, clock: FakeClock) -> None:
    record = make.Record()
    practise(make, record, clock, 300)
    elsewhere = ("fs_write", "fs_write:~/ws/photos/*")
    answer = asked(make, record, clock, elsewhere)
    assert (answer.promoted, str(answer.reason)) == (False, "this destination was never approved")
    assert answer.evidence.level == "parent"
    assert asked(make, record, clock, elsewhere, named=True).promoted


def test_a_denied_destination_has_to_be_approved_again(make: SimpleNamespace, clock: FakeClock) -> None:
    record = make.Record()
    practise(make, record, clock, 10)
    record.add_sample(make.denied(), clock.now())
    practise(make, record, clock, 5, asked=False, human_approval_delta=0.5)
    assert "approved 0 of 1 times" in str(asked(make, record, clock).reason)
    practise(make, record, clock, 1)
    assert asked(make, record, clock).promoted


def test_an_approval_is_forgotten_after_ninety_days(make: SimpleNamespace, clock: FakeClock) -> None:
    record = make.Record()
    practise(make, record, clock, 3)
    practise(make, record, clock, 18, every=timedelta(days=5), asked=False, human_approval_delta=0.5)
    assert asked(make, record, clock).promoted
    practise(make, record, clock, 1, asked=False, human_approval_delta=0.5)
    assert "within 90 days, this destination was approved 0 of 1 times" in str(asked(make, record, clock).reason)


def test_what_can_be_undone_at_a_cost_needs_two_approvals(make: SimpleNamespace, clock: FakeClock) -> None:
    record = make.Record()
    practise(make, record, clock, 9, asked=False, human_approval_delta=0.5)
    practise(make, record, clock, 1)
    assert asked(make, record, clock).promoted
    assert not asked(make, record, clock, reversibility="reversible_with_cost").promoted
    practise(make, record, clock, 1)
    assert asked(make, record, clock, reversibility="reversible_with_cost").promoted


@pytest.mark.parametrize("subject", [("memory", "memory_write:"), ("neuron:tidy", "invoke")])
def test_what_has_no_destination_needs_three_approvals(
    make: SimpleNamespace, clock: FakeClock, subject: tuple[str, str]
) -> None:
    record = make.Record()
    practise(make, record, clock, 9, subject=subject, asked=False, human_approval_delta=0.5)
    for grants in range(4):
        assert asked(make, record, clock, subject).promoted == (grants == 3)
        practise(make, record, clock, 1, subject=subject)


def test_a_good_mean_does_not_hide_failures(make: SimpleNamespace, clock: FakeClock) -> None:
    record = make.Record()
    for _ in range(10):
        practise(make, record, clock, 1)
        practise(make, record, clock, 1, tool_success=0.0)
    answer = asked(make, record, clock)
    assert answer.evidence.score > 0.60
    assert (answer.promoted, "succeeds too seldom" in str(answer.reason)) == (False, True)


def test_a_good_mean_does_not_hide_broken_laws(make: SimpleNamespace, clock: FakeClock) -> None:
    record = make.Record()
    practise(make, record, clock, 10, constitution_clean=0.5)
    answer = asked(make, record, clock)
    assert (answer.promoted, "broke laws too often" in str(answer.reason)) == (False, True)


def test_failures_elsewhere_of_the_same_kind_count_too(make: SimpleNamespace, clock: FakeClock) -> None:
    record = make.Record()
    practise(make, record, clock, 5)
    assert asked(make, record, clock).promoted
    practise(make, record, clock, 20, subject=("fs_write", "fs_write:~/ws/photos/*"), tool_success=0.0)
    practise(make, record, clock, 1)
    assert "succeeds too seldom" in str(asked(make, record, clock).reason)


def test_trust_counts_up_to_the_autonomy_that_the_threshold_names(make: SimpleNamespace, clock: FakeClock) -> None:
    record = make.Record()
    practise(make, record, clock, 10)
    limit = make.threshold(cap_autonomy="supervised")
    assert asked(make, record, clock, limit=limit).promoted
    assert not asked(make, record, clock, limit=limit, autonomy="full").promoted


def test_a_tainted_action_that_tells_the_outside_needs_its_target_named(
    make: SimpleNamespace, clock: FakeClock
) -> None:
    record = make.Record()
    practise(make, record, clock, 10, subject=FETCH)
    assert asked(make, record, clock, FETCH).promoted
    assert not asked(make, record, clock, FETCH, tainted=True).promoted
    assert asked(make, record, clock, FETCH, tainted=True, named=True).promoted


def test_a_tainted_action_that_stays_inside_is_judged_as_any_other(make: SimpleNamespace, clock: FakeClock) -> None:
    record = make.Record()
    practise(make, record, clock, 10)
    assert asked(make, record, clock, tainted=True).promoted


def test_a_message_goes_by_itself_only_to_whom_the_user_named(make: SimpleNamespace, clock: FakeClock) -> None:
    record = make.Record()
    practise(make, record, clock, 30, subject=CHAT)
    limit = make.threshold(0.72, 15)
    assert not asked(make, record, clock, CHAT, limit=limit).promoted
    assert asked(make, record, clock, CHAT, limit=limit, named=True).promoted


def test_nothing_is_promoted_from_a_record_that_does_not_check_out(make: SimpleNamespace, clock: FakeClock) -> None:
    record = make.Record()
    practise(make, record, clock, 10)
    record.problem = Text("row {seq} was changed", {"seq": 7})
    answer = asked(make, record, clock)
    assert (answer.promoted, str(answer.reason)) == (False, "the trust record does not check out: row 7 was changed")
    assert answer.evidence.n_samples == 10


def test_the_score_of_another_actor_does_not_count(make: SimpleNamespace, clock: FakeClock) -> None:
    record = make.Record()
    practise(make, record, clock, 300)
    assert str(asked(make, record, clock, ("fs_edit", make.NOTES[1])).reason) == "it was never done before"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(["read", "write elsewhere", "other actor"]), max_size=40))
def test_no_history_of_other_subjects_opens_a_destination(make: SimpleNamespace, history: list[str]) -> None:
    """Trust is not laundered: reads, other places and other actors never let a write here pass."""
    subjects = {
        "read": ("fs_write", "fs_read:~/ws/notes/*"),
        "write elsewhere": ("fs_write", "fs_write:~/ws/photos/*"),
        "other actor": ("fs_edit", make.NOTES[1]),
    }
    record, clock = make.Record(), FakeClock()
    for entry in history:
        practise(make, record, clock, 1, subject=subjects[entry], every=timedelta(hours=9))
    assert not asked(make, record, clock).promoted


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.timedeltas(timedelta(0), timedelta(days=3)), st.booleans()), max_size=30))
def test_the_denials_of_one_subject_never_move_an_unrelated_one(
    make: SimpleNamespace, history: list[tuple[timedelta, bool]]
) -> None:
    alone, beside, clock = make.Record(), make.Record(), FakeClock()
    for wait, is_denial in history:
        clock.advance(seconds=wait.total_seconds())
        if is_denial:
            beside.add_sample(make.denied(("fs_delete", "fs_delete:~/ws/notes/*")), clock.now())
            beside.add_sample(make.denied(("fs_edit", make.NOTES[1])), clock.now())
        else:
            alone.add_sample(make.ideal(), clock.now())
            beside.add_sample(make.ideal(), clock.now())
    assert alone.view(make.NOTES, clock.now()) == beside.view(make.NOTES, clock.now())
    assert asked(make, alone, clock).promoted == asked(make, beside, clock).promoted


UNASKED = {"asked": False, "human_approval_delta": 0.5}


def test_every_twenty_fifth_promoted_action_is_asked_to_be_checked(make: SimpleNamespace, clock: FakeClock) -> None:
    """The answer, whichever it is, begins the count again; what got no answer leaves it due."""
    record = make.Record()
    practise(make, record, clock, 3)
    for round_ in range(3):
        told = []
        for _ in range(25):
            answer = asked(make, record, clock)
            told.append(answer.promoted)
            assert answer.tutor == answer.evidence.tutor == (not answer.promoted)
            if answer.promoted:
                practise(make, record, clock, 1, every=timedelta(hours=6), **UNASKED)
        assert told == [True] * 24 + [False], round_
        assert asked(make, record, clock).tutor
        practise(make, record, clock, 1, every=timedelta(hours=6))
    assert asked(make, record, clock).promoted


def test_a_check_says_what_it_is_and_rests_on_all_conditions(make: SimpleNamespace, clock: FakeClock) -> None:
    record = make.Record()
    practise(make, record, clock, 3)
    practise(make, record, clock, 24, every=timedelta(hours=6), **UNASKED)
    answer = asked(make, record, clock)
    assert str(answer.reason) == "done by itself 24 times since you were last asked: this one is for you to check"
    assert (answer.evidence.level, answer.evidence.unasked) == ("subject", 24)
    record.add_sample(make.ideal(undo_flag=1.0, **UNASKED), clock.now())
    answer = asked(make, record, clock)
    assert (answer.tutor, "one of the last 3 times" in str(answer.reason)) == (False, True)


def test_steps_that_ran_for_another_reason_count_towards_the_check_and_denials_do_not(
    make: SimpleNamespace, clock: FakeClock
) -> None:
    """What the level let run was seen by nobody either."""
    record = make.Record()
    practise(make, record, clock, 10, **UNASKED)
    assert record.get(make.NOTES).unasked == 10
    record.add_sample(make.denied(), clock.now())
    assert record.get(make.NOTES).unasked == 0


class Fixed:
    """A record in which every subject stands as it was told."""

    problem = unchecked = None

    def __init__(self, make: SimpleNamespace, clock: FakeClock, **changes: Any) -> None:
        record = make.Record()
        practise(make, record, clock, 4)
        score = {name: changes.pop(name) for name in ("score", "effective_count") if name in changes}
        seen = record.view(make.NOTES, clock.now())
        self.seen = evolve(seen, **score, state=evolve(seen.state, **changes))

    def view(self, subject: Any, now: Any, by: Any = None) -> Any:
        return evolve(self.seen, at=now)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"score": 0.6}, None),
        ({"score": 0.5999}, "score 0.60 of 0.60"),
        ({"effective_count": 3.0}, None),
        ({"effective_count": 2.94}, "2.9 of 3 samples still count, older ones have faded"),
        ({"n_samples": 3}, None),
        ({"n_samples": 2}, "2 of 3 samples"),
        ({"n_samples": 3, "born": True}, "2 of 3 samples"),
        ({"n_samples": 4, "born": True}, None),
        ({"days": 2}, None),
        ({"tool_success": Component(0.6, 5)}, None),
        ({"tool_success": Component(0.599, 5)}, "it succeeds too seldom: 0.60 of 0.60"),
        ({"n_samples": 3, "tool_success": Component(0.5, 5)}, "it succeeds too seldom: 0.50 of 0.60"),
        ({"constitution_clean": Component(0.8, 5)}, None),
        ({"constitution_clean": Component(0.7, 5)}, "it broke laws too often: 0.70 of 0.80"),
        ({"recent": (True, False, False)}, "one of the last 3 times was denied, undone or broke a law"),
        ({"held": True}, "you chose to be asked about this"),
        ({"revoked": True}, None),
        ({"revoked": True, "n_samples": 2}, "you took the trust in this away, 2 of 3 new samples"),
        ({"unasked": 23}, None),
        ({"unasked": 24}, "done by itself 24 times since you were last asked: this one is for you to check"),
    ],
)
def test_each_condition_is_met_exactly_at_its_figure(
    make: SimpleNamespace, clock: FakeClock, changes: dict[str, Any], reason: str | None
) -> None:
    answer = asked(make, Fixed(make, clock, **changes), clock)
    assert (answer.promoted, None if answer.promoted else str(answer.reason)) == (reason is None, reason)


def test_a_perfect_score_does_not_meet_a_threshold_of_one(make: SimpleNamespace, clock: FakeClock) -> None:
    answer = asked(make, Fixed(make, clock, score=1.0), clock, limit=make.threshold(min_score=1.0))
    assert (answer.promoted, str(answer.reason)) == (False, f"{make.NOTES[1]} has no threshold, so it asks each time")


@pytest.mark.parametrize(
    ("hours", "words"),
    [(None, "never asked about this destination"), (1, "last asked less than a day ago"), (24, "last asked a day ago")],
)
def test_it_says_when_it_was_last_asked(make: SimpleNamespace, clock: FakeClock, hours: int | None, words: str) -> None:
    last_asked = None if hours is None else clock.now() + timedelta(days=4, hours=-hours)
    answer = asked(make, Fixed(make, clock, last_asked=last_asked, score=0.9), clock)
    assert str(answer.reason) == f"went well 4 times, score 0.90 ≥ 0.60, {words}"
    assert answer.evidence.last_asked_days == (None if hours is None else hours / 24)


def test_the_evidence_of_what_has_no_history_is_nothing(make: SimpleNamespace, clock: FakeClock) -> None:
    evidence = asked(make, make.Record(), clock, limit=None).evidence
    assert evidence == Evidence(
        effect_class=make.NOTES[1],
        score=0.0,
        n_samples=0,
        effective_count=0.0,
        parent_score=0.0,
        parent_n_samples=0,
        known=False,
        named=False,
        min_score=1.0,
        min_samples=0,
        actor="fs_write",
    )


def test_a_clock_that_went_backwards_was_asked_just_now(make: SimpleNamespace, clock: FakeClock) -> None:
    record = Fixed(make, clock)
    clock.advance(days=-2)
    assert asked(make, record, clock).evidence.last_asked_days == 0.0


@pytest.mark.parametrize("recent", ["good", "denied", "failed", "unlawful", "revoked", "held"])
def test_a_decision_on_the_parents_record_is_judged_again_from_its_evidence_alone(
    make: SimpleNamespace, clock: FakeClock, recent: str
) -> None:
    """In a clean home there is no record: the evidence holds every figure that the conditions read."""
    record, photos = make.Record(), ("fs_write", "fs_write:~/ws/photos/*")
    practise(make, record, clock, 5, subject=photos)
    practise(make, record, clock, 1)
    if recent in ("revoked", "held"):
        kind = "revoke" if recent == "revoked" else "hold"
        record.add(Order(kind=kind, at=clock.now(), trace_id="order", subject=make.NOTES))
    for _ in range(4 if recent in ("failed", "unlawful") else 1):
        signals = {
            "good": make.ideal(photos),
            "denied": make.denied(photos),
            "failed": make.ideal(photos, tool_success=0.0),
            "unlawful": make.ideal(photos, constitution_clean=0.5),
        }.get(recent, make.ideal(photos))
        record.add_sample(signals, clock.now())
    answer = asked(make, record, clock)

    again = asked(make, Told(make, answer.evidence), clock, named=answer.evidence.known)

    assert answer.promoted == (recent == "good")
    assert answer.evidence.level == again.evidence.level == "parent"
    assert again.promoted == answer.promoted
    assert answer.promoted or str(again.reason) == str(answer.reason)
    assert answer.evidence.estimator == record.estimator.id


class Told:
    """A record that knows only what the evidence of a decision says."""

    problem = unchecked = None

    def __init__(self, make: SimpleNamespace, evidence: Evidence) -> None:
        self._own = make.NOTES
        self._evidence = evidence

    def view(self, subject: Any, now: Any, by: Any = None) -> SubjectView | None:
        """Return the figures of the level that `subject` is."""
        prefix = "" if subject == self._own else "parent_"

        def told(name: str) -> Any:
            return getattr(self._evidence, prefix + name)

        state = evolve(
            DecayedMean().initial(subject),
            n_samples=told("n_samples"),
            days=told("days"),
            recent=told("recent_bad"),
            tool_success=Component(told("tool_success"), 1.0),
            constitution_clean=Component(told("constitution_clean"), 1.0),
            revoked=told("revoked"),
            held=told("held"),
            unasked=self._evidence.unasked,
        )
        return SubjectView(state, told("score"), told("effective_count"), self._evidence.estimator, now)
