"""What would have happened with the promotion on, before it is for the first time."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from myclaw_core.testing import FakeClock
from myclaw_core.trust.backtest import BackTest, backtest, completes, effect_of
from myclaw_core.trust.decayed_mean import DecayedMean
from myclaw_core.trust.happenings import Happening, Order, Sample, Undo
from myclaw_core.trust.promotion import judge

PARENT = ("fs_write", "fs_write:*")
PHOTOS = ("fs_write", "fs_write:~/ws/photos/*")


class Life:
    """What happens to the notes, one thing after another."""

    def __init__(self, make: SimpleNamespace, clock: FakeClock) -> None:
        self.make, self.clock = make, clock
        self.told: list[Happening] = []

    def uses(self, times: int, every: timedelta = timedelta(days=1), subject: Any = None, **changes: Any) -> None:
        for _ in range(times):
            self.clock.advance(seconds=every.total_seconds())
            self.says(self.make.ideal(subject or self.make.NOTES, **changes))

    def says(self, signals: Any) -> None:
        self.told.append(Sample(at=self.clock.now(), trace_id=f"{len(self.told):04d}", signals=signals))

    def undoes(self, after: timedelta) -> None:
        last = self.told[-1]
        self.clock.advance(seconds=after.total_seconds())
        undo = Undo(
            at=self.clock.now(),
            trace_id=f"{len(self.told):04d}",
            subject=last.subject,
            undone_trace_id=last.trace_id,
            in_time=after <= timedelta(minutes=10),
        )
        self.told.append(undo)

    def again(self, **options: Any) -> BackTest:
        base = {"threshold": self.make.threshold(), "estimator": DecayedMean(), "now": self.clock.now()}
        return backtest(self.told, options.pop("subject", self.make.NOTES), **(base | options))


@pytest.fixture
def life(make: SimpleNamespace, clock: FakeClock) -> Life:
    return Life(make, clock)


def test_it_says_how_often_it_would_have_asked_and_what_would_have_run_wrongly(life: Life) -> None:
    """Of 41 good uses that were all asked about, 3 come before there are enough samples, and one is to be checked."""
    life.uses(41, every=timedelta(hours=17))
    found = life.again()
    assert (found.days, found.asked, found.would_ask, found.would_run_wrongly) == (30, 41, 4, 0)
    assert str(found.text) == (
        "in the last 30 days it would have asked 4 times instead of 41; "
        "actions you denied or undid, or that broke a law, and that would have run: 0"
    )


def test_one_in_twenty_five_would_still_be_asked_to_be_checked(life: Life) -> None:
    life.uses(28)
    assert life.again().would_ask == 4
    assert life.again(days=40).would_ask == 4


def test_what_is_older_than_the_days_is_as_it_was(life: Life) -> None:
    """Trust that was earned before the days begins them; nothing before is counted."""
    life.uses(10)
    life.uses(20, every=timedelta(days=1))
    found = life.again(days=19)
    assert (found.asked, found.would_ask) == (19, 0)


def test_a_denied_action_that_would_have_run_is_counted_and_ends_the_promotion(life: Life) -> None:
    life.uses(10)
    life.says(life.make.denied())
    life.uses(10)
    found = life.again()
    assert found.asked == 21
    assert found.would_run_wrongly == 1
    assert found.would_ask == 3 + 10 - 7


@pytest.mark.parametrize("after", [timedelta(minutes=5), timedelta(hours=5)])
def test_an_undone_action_that_would_have_run_is_counted_however_late_the_undo(life: Life, after: timedelta) -> None:
    life.uses(10)
    life.undoes(after)
    assert life.again().would_run_wrongly == 1


def test_a_denied_action_that_would_have_been_asked_is_not_counted(life: Life) -> None:
    life.uses(2)
    life.says(life.make.denied())
    assert (life.again().would_ask, life.again().would_run_wrongly) == (3, 0)


def test_what_was_not_asked_then_is_not_asked_now(life: Life) -> None:
    life.uses(10, asked=False, human_approval_delta=0.5)
    assert (life.again().asked, life.again().would_ask) == (0, 0)


def test_other_subjects_are_as_they_were(life: Life) -> None:
    life.uses(10, subject=PHOTOS)
    life.uses(4)
    found = life.again()
    assert (found.asked, found.would_ask) == (4, 1)
    life.says(life.make.denied(PHOTOS))
    life.uses(3)
    assert life.again().would_ask == 1 + 3


def test_it_does_not_depend_on_the_order_of_arrival(life: Life) -> None:
    life.uses(8)
    life.undoes(timedelta(minutes=5))
    life.uses(8)
    straight = life.again()
    life.told.reverse()
    assert life.again() == straight


def test_what_was_revoked_stays_so(life: Life) -> None:
    life.uses(10)
    life.clock.advance(hours=1)
    revoke = Order(kind="revoke", at=life.clock.now(), trace_id="r", subject=life.make.NOTES)
    life.told.append(revoke)
    life.uses(5)
    found = life.again()
    assert (found.asked, found.would_ask) == (15, 3 + 3)


def test_an_irreversible_kind_would_have_asked_each_time(life: Life) -> None:
    life.uses(10)
    assert life.again(reversibility="irreversible").would_ask == 10
    assert life.again(subject=("unknown", "cost_spend:spend")).asked == 0


@pytest.mark.parametrize(
    ("subject", "kind", "reversibility"),
    [
        (("fs_write", "fs_write:~/x/*"), "fs_write", "reversible"),
        (("neuron:tidy", "invoke"), "neuron_invoke", "reversible"),
        (("web_fetch", "network_out:example.org"), "network_out", "reversible_with_cost"),
        (("send", "outbound_message:telegram:42"), "outbound_message", "irreversible"),
    ],
)
def test_an_effect_is_as_reversible_as_its_kind_may_be(subject: Any, kind: str, reversibility: str) -> None:
    effect = effect_of(subject)
    assert (effect.kind, effect.reversibility) == (kind, reversibility)
    assert effect.effect_class == subject[1]
    assert effect_of(subject, "irreversible").reversibility == "irreversible"


def test_what_is_no_effect_has_no_back_test(life: Life) -> None:
    with pytest.raises(ValueError, match="no class of effects"):
        life.again(subject=("runtime", "success"))


async def test_the_book_lives_through_its_own_rows(open_book: Any, clock: FakeClock, make: SimpleNamespace) -> None:
    book = await open_book()
    for _ in range(12):
        clock.advance(days=1)
        trace = make.trace(clock.new_id(), clock.now())
        await book.bulk_update_from_trace(trace, [make.ideal(), make.ideal(PHOTOS)])
    found = await book.backtest(make.NOTES, make.threshold())
    assert (found.asked, found.would_ask, found.would_run_wrongly) == (12, 2, 0)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 40), st.sampled_from(["good", "failed", "denied", "undone"])), max_size=20))
def test_it_never_asks_more_often_than_it_did(make: SimpleNamespace, history: list[tuple[int, str]]) -> None:
    life = Life(make, FakeClock())
    for hours, what in history:
        life.clock.advance(hours=hours)
        changes = {"failed": {"tool_success": 0.0}, "undone": {"undo_flag": 1.0}}.get(what, {})
        life.says(make.denied() if what == "denied" else make.ideal(**changes))
    found = life.again()
    wrong = sum(item.signals.bad for item in life.told)
    assert 0 <= found.would_ask <= found.asked
    assert 0 <= found.would_run_wrongly <= wrong


# the card that completes the conditions


def test_the_card_that_completes_the_conditions_is_the_one_before_the_first_promotion(
    make: SimpleNamespace, clock: FakeClock
) -> None:
    record, effect, limit = make.Record(), make.effect(make.NOTES), make.threshold()
    told = []
    for _ in range(5):
        action = make.action(effect, clock.now())
        told.append(
            (
                completes(effect, action, record, record.estimator, limit, clock.now()),
                judge(effect, action, record, limit, clock.now()).promoted,
            )
        )
        record.add_sample(make.ideal(), clock.now())
        clock.advance(days=1)
    assert told == [(False, False), (False, False), (True, False), (False, True), (False, True)]


def test_an_action_that_never_runs_by_itself_completes_nothing(make: SimpleNamespace, clock: FakeClock) -> None:
    record, effect = make.Record(), make.effect(make.NOTES, reversibility="irreversible")
    for _ in range(10):
        assert not completes(
            effect, make.action(effect, clock.now()), record, record.estimator, make.threshold(), clock.now()
        )
        record.add_sample(make.ideal(), clock.now())
        clock.advance(days=1)


def test_a_question_that_only_checks_completes_nothing(make: SimpleNamespace, clock: FakeClock) -> None:
    record, effect, limit = make.Record(), make.effect(make.NOTES), make.threshold()
    for number in range(27):
        asked = number < 3
        record.add_sample(make.ideal(asked=asked, human_approval_delta=1.0 if asked else 0.5), clock.now())
        clock.advance(hours=12)
    action = make.action(effect, clock.now())
    assert judge(effect, action, record, limit, clock.now()).tutor
    assert not completes(effect, action, record, record.estimator, limit, clock.now())


def test_a_yes_that_makes_the_destination_known_completes_the_conditions(
    make: SimpleNamespace, clock: FakeClock
) -> None:
    """The kind has earned its trust elsewhere; only this place was never agreed to."""
    record, effect, limit = make.Record(), make.effect(PHOTOS), make.threshold()
    for _ in range(6):
        record.add_sample(make.ideal(), clock.now())
        clock.advance(days=1)
    action = make.action(effect, clock.now())
    assert completes(effect, action, record, record.estimator, limit, clock.now())
    costly = evolve(effect, reversibility="reversible_with_cost")
    assert not completes(costly, action, record, record.estimator, limit, clock.now())
