"""No plugin can loosen a verdict, whatever it answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve
from drawn import (
    STRICTNESS,
    AnyRecord,
    households,
    policy_of,
    records,
    relaxed,
    situations,
    thorough,
    thresholds,
    trusting,
)
from hook_bench import STEP, TRACE, bench, raising
from household import CALLS, Household, KnownCall
from hypothesis import given
from hypothesis import strategies as st
from myclaw_defaults.signals import five_signals
from myclaw_defaults.thresholds import threshold_for
from oracle import WORKSPACE, Rights, Settings

from myclaw_core.constitution.engine import Constitution
from myclaw_core.constitution.rule import Rule
from myclaw_core.policy.types import Finding
from myclaw_core.runtime.types import ToolError
from myclaw_core.trust.promotion import judge
from myclaw_core.trust.signals import DEFAULT_SIGNALS
from myclaw_core.trust.thresholds import Thresholds
from myclaw_core.trust.types import SignalContext
from myclaw_core.types.text import Text
from myclaw_core.types.trust import TrustThreshold


@pytest.fixture(scope="module")
def household(tmp_path_factory: pytest.TempPathFactory) -> Household:
    """Return a household that no test changes."""
    return Household(tmp_path_factory.mktemp("household"))


HOSTILE_FINDINGS = (
    None,
    Finding(verdict="allow", text=Text("fine")),  # type: ignore[arg-type]
    Finding(verdict="approve_required", text=Text("sure?")),
    Finding(verdict="deny", text=Text("no")),
    "allow",
    True,
    {"verdict": "allow"},
    object(),
    ValueError("broken"),
    SystemExit(0),
)
LOOSE = TrustThreshold(effect_class="x", risk_band="low", min_score=0.0, min_samples=0, cap_autonomy="full")
EARNABLE = tuple(known for known in CALLS if any(fact.undo != "never" for fact in known.meaning.facts))
HOSTILE_THRESHOLDS = st.one_of(
    st.just(LOOSE),
    thresholds,
    st.sampled_from((None, "low", 0.0, {"min_score": 0.0}, ValueError("broken"), SystemExit(0))),
    st.builds(evolve, thresholds, min_score=st.sampled_from(("0", None, -1, True)), min_samples=st.just("0")),
)
HOSTILE_RULES = (None, Text("no"), True, "", "allow", 0, object(), ValueError("broken"))


@given(data=st.data(), wanted=households, record=records, finding=st.sampled_from(HOSTILE_FINDINGS))
@relaxed
async def test_no_gate_can_loosen(
    household: Household, data: Any, wanted: Settings, record: AnyRecord, finding: Any
) -> None:
    """Whatever it answers, also asynchronously, beside other plugins and before them."""
    known, rights = data.draw(situations)
    with_plugin = bench(a={"myclaw_check": lambda: None}, b={"myclaw_check": _answering(finding)}).dispatcher
    without = bench(a={"myclaw_check": lambda: None}).dispatcher

    await _is_as_strict(household, wanted, known, rights, record, gates=(without.check, with_plugin.check))


@given(
    known=st.sampled_from(EARNABLE),
    level=st.sampled_from(("supervised", "full")),
    wanted=households,
    record=records,
    threshold=HOSTILE_THRESHOLDS,
    before=st.booleans(),
)
@thorough
async def test_no_threshold_can_loosen(
    household: Household,
    known: KnownCall,
    level: str,
    wanted: Settings,
    record: AnyRecord,
    threshold: Any,
    before: bool,
) -> None:
    """It counts only where it is stricter than the default, whichever plugin is asked first."""
    rights = Rights(sender="cli:me", level=level)
    ours = {"defaults": {"myclaw_threshold": threshold_for}}
    theirs = {"stranger": {"myclaw_threshold": _answering(threshold)}}
    with_plugin = bench(**(theirs | ours if before else ours | theirs)).dispatcher
    without = bench(**ours).dispatcher

    def asking(dispatcher: Any) -> Callable[..., Any]:
        limits = Thresholds(dispatcher.threshold, WORKSPACE)
        return lambda effect, action, now: judge(
            effect, action, record, limits.for_effect(effect.effect_class, effect.reversibility), now
        )

    await _is_as_strict(household, wanted, known, rights, record, promotion=(asking(without), asking(with_plugin)))


NAMES = st.sampled_from((*DEFAULT_SIGNALS, "mine")) | st.text(max_size=3)
HOSTILE_SIGNALS = st.one_of(
    st.dictionaries(NAMES, st.floats(0, 1), max_size=7),
    st.dictionaries(NAMES, st.floats() | st.none() | st.booleans() | st.text(max_size=2), max_size=7),
    st.sampled_from((None, 1.0, [("tool_success", 1.0)], object(), ValueError("broken"), SystemExit(0))),
)


@given(signals=HOSTILE_SIGNALS, before=st.booleans(), works=st.booleans(), undone=st.booleans())
@relaxed
def test_no_signal_can_loosen(signals: Any, before: bool, works: bool, undone: bool) -> None:
    """The five that trust is made of are what ours say of them, whatever another plugin answers."""
    ours, theirs = {"myclaw_signals": five_signals}, {"myclaw_signals": _answering(signals)}
    named = {"stranger": theirs, "defaults": ours} if before else {"defaults": ours, "stranger": theirs}
    step = STEP if works else evolve(STEP, state="failed", error=ToolError(kind="exception", message="no"))
    context = SignalContext(undone_steps=frozenset({0} if undone else ()))

    found = bench(**named).dispatcher.signals(step, TRACE, context)

    assert {name: found[name] for name in DEFAULT_SIGNALS} == five_signals(step, TRACE, context)


@given(
    data=st.data(),
    wanted=households,
    record=records,
    law=st.sampled_from(("law.0", "law.1", "law.2", "law.3", "law.4")),
    said=st.sampled_from(HOSTILE_RULES),
)
@relaxed
async def test_no_law_can_loosen(
    household: Household, data: Any, wanted: Settings, record: AnyRecord, law: Any, said: Any
) -> None:
    """A rule is added to the built-in ones; one that fails or answers nonsense allows nothing."""
    known, rights = data.draw(situations)
    rule = Rule("strange", law, _answering(said, takes_any=True))

    await _is_as_strict(household, wanted, known, rights, record, constitution=(Constitution(), Constitution([rule])))


def _answering(answer: Any, *, takes_any: bool = False) -> Callable[..., Any]:
    """Return a hook that answers or raises."""
    if isinstance(answer, BaseException):
        return (lambda *args: raising(answer)()) if takes_any else raising(answer)
    return (lambda *args: answer) if takes_any else (lambda: answer)


async def _is_as_strict(
    household: Household, wanted: Settings, known: KnownCall, rights: Rights, record: AnyRecord, **parts: Any
) -> None:
    """Check that the second part of each pair leads to a verdict that is at least as strict as that of the first."""
    threshold = TrustThreshold(effect_class="x", risk_band="low", min_score=0.5, min_samples=3, cap_autonomy="full")
    always = {"promotion": trusting(record, threshold)}
    first, second = [
        await policy_of(household, wanted, **(always | {name: pair[place] for name, pair in parts.items()})).judge(
            known, rights
        )
        for place in (0, 1)
    ]
    assert STRICTNESS[second.verdict] >= STRICTNESS[first.verdict]
