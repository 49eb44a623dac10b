"""An action that comes through neurons passes only where each of them does."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from myclaw_core.policy.never import NeverList
from myclaw_core.policy.rates import RateBook, RateLimits
from myclaw_core.policy.types import Evidence, Situation
from myclaw_core.runtime.types import ToolCall
from myclaw_core.testing import FakeClock
from myclaw_core.trust.promotion import Promotion
from myclaw_core.types.action import Caller
from myclaw_core.types.text import Text

ACTORS = st.sampled_from([f"neuron:{name}" for name in ("alpha", "beta", "gamma", "delta")])
NOW = FakeClock().now()


def promotion_of(promoted: set[str], asked: list[tuple[str, str]]) -> Any:
    """Return trust that promotes some actors, and notes about whom it was asked."""

    def promotion(effect: Any, action: Any, now: Any) -> Promotion:
        asked.append((action.actor, action.actor_version))
        evidence = Evidence(
            effect_class=effect.effect_class,
            score=1.0,
            n_samples=1,
            effective_count=1.0,
            parent_score=0.0,
            parent_n_samples=0,
            known=True,
            named=False,
            min_score=0.6,
            min_samples=3,
            actor=action.actor,
        )
        is_promoted = action.actor in promoted
        return Promotion(promoted=is_promoted, reason=Text(f"of {action.actor}"), evidence=evidence, risk="low")

    return promotion


def chain_of(names: list[str]) -> tuple[Caller, ...]:
    """Return callers with a version each."""
    return tuple(Caller(actor=name, version=f"v-{name}") for name in names)


async def judged(world: Any, tool: str, args: dict[str, Any], names: list[str], **parts: Any) -> Any:
    """Judge a call that comes through these neurons."""
    situation: Situation = evolve(world.situation, callers=chain_of(names))
    policy = evolve(world, overrides=parts).policy()
    return await policy.evaluate(
        ToolCall(id="1", tool=tool, args=args), world.trace(), "cli:me", "supervised", situation
    )


@given(names=st.lists(ACTORS, min_size=1, max_size=5), promoted=st.sets(ACTORS))
async def test_trust_speaks_for_a_chain_only_where_it_does_for_each_of_it(
    shared_world: Any, names: list[str], promoted: set[str]
) -> None:
    """Each is asked once, with its own version; the first that lacks something is named."""
    asked: list[tuple[str, str]] = []
    promotion = promotion_of(promoted, asked)
    decision = await judged(shared_world, "fs_write", {"path": "a.md"}, names, promotion=promotion)

    distinct = list(dict.fromkeys(names))
    lacking = [name for name in distinct if name not in promoted]
    assert decision.verdict == ("approve_required" if lacking else "allow")
    assert asked == [(name, f"v-{name}") for name in distinct]
    assert [evidence.actor for evidence in decision.evidence] == distinct
    assert (lacking or distinct[-1:])[0] in str(decision.reason)
    assert decision.action.actor == names[-1]
    assert decision.action.callers == chain_of(names)


@given(names=st.lists(ACTORS, min_size=1, max_size=5), promoted=st.sets(ACTORS))
async def test_a_call_of_a_tool_by_a_neuron_never_rests_on_what_the_tool_has_earned(
    shared_world: Any, names: list[str], promoted: set[str]
) -> None:
    asked: list[tuple[str, str]] = []
    promotion = promotion_of({*promoted, "fs_write"}, asked)
    await judged(shared_world, "fs_write", {"path": "a.md"}, names, promotion=promotion)

    assert "fs_write" not in {actor for actor, _ in asked}


@given(names=st.lists(ACTORS, min_size=1, max_size=5), whom=st.sampled_from(["fs_write", "neuron:alpha", "shell"]))
async def test_never_holds_for_every_neuron_whoever_it_was_said_of(
    shared_world: Any, names: list[str], whom: str
) -> None:
    """Of the same sender and class, that is; without neurons it is about that actor alone."""
    allowed = await judged(shared_world, "fs_write", {"path": "a.md"}, names)
    effect_class = allowed.effect_class
    never, others = NeverList(), NeverList()
    never.add("cli:me", whom, effect_class, NOW)
    others.add("cli:you", whom, effect_class, NOW)
    others.add("cli:me", whom, "fs_write:~/elsewhere/*", NOW)

    denied = await judged(shared_world, "fs_write", {"path": "a.md"}, names, never=never)
    plain = await judged(shared_world, "fs_write", {"path": "a.md"}, [], never=never)
    open_still = await judged(shared_world, "fs_write", {"path": "a.md"}, names, never=others)

    assert (denied.verdict, denied.via) == ("deny", "never")
    assert (plain.verdict == "deny") == (whom == "fs_write")
    assert open_still.verdict != "deny"


@pytest.mark.parametrize("tool", ["fs_read", "fs_write"])
async def test_what_a_neuron_reads_is_no_matter_of_the_rates_and_what_it_writes_is(world: Any, tool: str) -> None:
    """One search for duplicates reads more files than a person does in a day; its quotas bound it."""
    rates = RateBook(RateLimits(class_per_minute=0, class_per_day=0, sender_per_minute=0, sender_per_day=0))
    (world.workspace / "a.md").write_text("one\n")
    plain = await judged(world, tool, {"path": "a.md"}, [], rates=rates)
    inside = await judged(world, tool, {"path": "a.md"}, ["neuron:alpha"], rates=rates)

    assert (plain.verdict, plain.via) == ("deny", "rate")
    assert (inside.via == "rate") == (tool == "fs_write")


async def test_an_entry_for_a_whole_kind_holds_for_neurons_too(world: Any) -> None:
    never = NeverList()
    never.add("cli:me", "fs_write", "fs_write:*", NOW)
    decision = await judged(world, "fs_write", {"path": "a.md"}, ["neuron:alpha"], never=never)
    assert decision.via == "never"
