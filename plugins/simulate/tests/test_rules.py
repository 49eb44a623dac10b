"""What each rule asks about: nothing is learned that was not granted, and trust is earned as the agent earns it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from attrs import evolve
from myclaw_simulate.days import Task
from myclaw_simulate.deeds import Deed, case_of
from myclaw_simulate.earned import Earned
from myclaw_simulate.records import RecordedCall, RecordedEffect
from myclaw_simulate.rules import BASELINES, Done, Rule

from myclaw_core.testing import FakeClock

START = FakeClock().now()
WRITE = {"kind": "fs_write", "target": "notes/a.md", "reversibility": "reversible"}


def deed(at: datetime = START, *, tool: str = "fs_write", payload: str = "x", prompt: str = "", **change: Any) -> Deed:
    """Return a wanted deed; `kind`, `target`, `reversibility`, `root` and `tainted` may be given."""
    effect = RecordedEffect(**{name: change.get(name, value) for name, value in WRITE.items()})
    call = RecordedCall(tool=tool, args={"root": change.get("root", "")}, effects=(effect,))
    case = case_of(call, prompt, payload, at, tainted=change.get("tainted", False))
    return Deed(case=case, wanted=True, denied=False, undone=False, fails=False)


def did(rule: Rule, done: Deed) -> bool:
    """Let a rule live through one task; return whether it asked."""
    turn = Task(at=done.case.now, cost_usd=0.02, deeds=(done,))
    asked = rule.asks(done)
    rule.learn(turn, [Done(deed=done, asked=asked)])
    return asked


def asked_daily(rule: Rule, days: int, **change: Any) -> list[bool]:
    return [did(rule, deed(START + timedelta(days=day), **change)) for day in range(days)]


def baseline(name: str) -> Rule:
    return BASELINES[name][1]()


def test_always_ask_asks_always() -> None:
    assert all(asked_daily(baseline("always_ask"), 5))


def test_one_yes_to_a_tool_stands_for_ever_and_a_no_does_not() -> None:
    rule = baseline("tool_for_ever")
    assert did(rule, evolve(deed(), denied=True))
    assert did(rule, deed())
    assert not did(rule, deed(target="elsewhere/b.md", reversibility="irreversible"))
    assert did(rule, deed(tool="fs_delete"))


def test_one_yes_to_a_call_stands_for_the_very_same_call() -> None:
    rule = baseline("exact_call")
    assert did(rule, deed())
    assert not did(rule, deed())
    assert did(rule, deed(payload="y"))
    assert did(rule, deed(target="notes/b.md"))


@pytest.fixture
def rule(earned: Callable[[], Earned]) -> Earned:
    """The rule that earns trust, at its beginning."""
    return earned()


def test_what_went_well_on_enough_days_is_not_asked_about_any_more(rule: Earned) -> None:
    assert asked_daily(rule, 6) == [True, True, True, False, False, False]
    (score,) = rule.scores(START + timedelta(days=6)).values()
    assert score > 0.6


def test_another_place_is_asked_about_and_then_known(rule: Earned) -> None:
    asked_daily(rule, 6)
    later = START + timedelta(days=6)
    assert did(rule, deed(later, target="lists/b.md"))
    assert not did(rule, deed(later + timedelta(hours=1), target="lists/b.md"))
    assert not did(rule, deed(later + timedelta(hours=2), target="new/c.md", prompt="Write new/c.md"))


@pytest.mark.parametrize("bad", ["denied", "undone"])
def test_one_denial_or_undo_asks_again(rule: Earned, bad: str) -> None:
    asked_daily(rule, 6)
    later = START + timedelta(days=6)
    change = {"target": "new/b.md"} if bad == "denied" else {}
    did(rule, evolve(deed(later, **change), **{bad: True}))
    assert did(rule, deed(later + timedelta(hours=1)))


@pytest.mark.parametrize(
    "change",
    [
        {"reversibility": "irreversible"},
        {"kind": "cost_spend", "target": "3 EUR", "reversibility": "irreversible"},
        {"kind": "config_change", "target": "policy.roots"},
        {"kind": "neuron_spawn", "target": "sorter"},
        {"kind": "shell_exec", "target": "sh -c 'rm x'", "reversibility": "reversible_with_cost", "root": "~/site"},
        {
            "kind": "network_out",
            "target": "https://a.example/",
            "reversibility": "reversible_with_cost",
            "tainted": True,
        },
        {"kind": "outbound_message", "target": "mail:a@a.example", "reversibility": "reversible_with_cost"},
        {"target": "/etc/hosts"},
        {"target": "neurons/sorter/body.py"},
    ],
)
def test_some_things_are_asked_about_however_well_they_went(rule: Earned, change: dict[str, Any]) -> None:
    """What cannot be undone, what has no threshold, what cannot be read, and what leaves the house unnamed."""
    assert all(asked_daily(rule, 40, **change))


def test_a_message_to_somebody_who_is_named_is_earned(rule: Earned) -> None:
    named = {
        "kind": "outbound_message",
        "target": "mail:a@a.example",
        "reversibility": "reversible_with_cost",
        "prompt": "Tell a@a.example",
    }
    assert not asked_daily(rule, 30, **named)[-1]
    named["prompt"] = "Tell her"
    assert did(rule, deed(START + timedelta(days=30), **named))


def test_what_costs_less_than_the_median_of_30_days_earns_more(earned: Callable[[], Earned]) -> None:
    """The median is worked out each night, as the agent does; what costs nothing is as good as it can be."""
    scores = []
    for last_usd in (0.0, 0.01, 0.02, 2.0):
        rule = earned()
        for day, cost_usd in enumerate([0.02] * 8 + [last_usd]):
            done = deed(START + timedelta(days=day))
            rule.learn(Task(at=done.case.now, cost_usd=cost_usd, deeds=(done,)), [Done(deed=done, asked=True)])
        scores.append(rule.scores(START + timedelta(days=9))["fs_write fs_write:*"])
    assert scores[0] > scores[1] > scores[2] == scores[3]
