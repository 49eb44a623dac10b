"""What holds for every call, every record, every level and every clock."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from zlib import crc32

import pytest
from attrs import evolve
from drawn import (
    STRICTNESS,
    AnyRecord,
    households,
    json_values,
    moments,
    policy_of,
    records,
    relaxed,
    situations,
    thorough,
    thresholds,
    trusting,
)
from household import TOOLS, Household, KnownCall
from hypothesis import given
from hypothesis import strategies as st
from oracle import WORKSPACE, Call, Rights, Settings

from myclaw_core.policy.report import decision_json, explain
from myclaw_core.policy.types import Situation
from myclaw_core.runtime.tool import EffectSpec, Tool
from myclaw_core.runtime.types import ToolCall, ToolResult
from myclaw_core.testing import FakeClock
from myclaw_core.trust.promotion import judge
from myclaw_core.types.effect import AUTONOMY_LEVELS
from myclaw_core.types.trust import TrustThreshold


@pytest.fixture(scope="module")
def household(tmp_path_factory: pytest.TempPathFactory) -> Household:
    """Return a household that no test changes."""
    return Household(tmp_path_factory.mktemp("household"))


# Irreversible.


@given(data=st.data(), wanted=households, record=records, threshold=st.none() | thresholds, now=moments)
@thorough
async def test_what_cannot_be_undone_is_never_allowed_by_trust_for_any_score_count_or_clock(
    household: Household, data: Any, wanted: Settings, record: AnyRecord, threshold: Any, now: datetime
) -> None:
    """Nor by the level, nor by a grant of its class."""
    known, rights = data.draw(situations)
    policy = policy_of(household, wanted, FakeClock(now), promotion=trusting(record, threshold))

    decision = await policy.judge(known, rights)

    finals = [effect for effect in decision.effects if effect.reversibility == "irreversible" and effect.is_side_effect]
    assert not finals or decision.verdict != "allow"


# Several effects.

MANY = Tool(
    name="many",
    description="Everything at once.",
    schema={"type": "object"},
    effects=(
        EffectSpec(kind="fs_read", arg="read"),
        EffectSpec(kind="fs_write", arg="write"),
        EffectSpec(kind="fs_delete", arg="delete"),
        EffectSpec(kind="network_in", arg="fetch"),
        EffectSpec(kind="network_out", arg="get", reversibility="reversible_with_cost"),
        EffectSpec(kind="network_out", arg="post"),
        EffectSpec(kind="memory_write", arg="remember"),
        EffectSpec(kind="config_change", arg="setting"),
        EffectSpec(kind="outbound_message", arg="to"),
    ),
    run=lambda args, context: ToolResult(text=""),
    plan=lambda args, context: (),
)
_FILES = {
    "notes/a.md": f"{WORKSPACE}/notes/a.md",
    "~/docs/plan.md": "~/docs/plan.md",
    "~/docs/.envrc": "~/docs/.envrc",
    "~/docs/same.md": "~/docs/same.md",
    "~/other/x.md": "~/other/x.md",
    "~/.ssh/id": "",
    "~/docs": "",
}
_HOSTS = {"https://example.org/": "example.org", "https://example.net/": "example.net", "http://192.168.1.5/": ""}
TARGETS = (
    *((arg, path, name) for arg in ("read", "write", "delete") for path, name in _FILES.items()),
    *((arg, url, name) for arg in ("fetch", "get", "post") for url, name in _HOSTS.items()),
    ("remember", "diet", "diet"),
    ("setting", "policy.roots", ""),
    ("to", "telegram:42", "telegram:42"),
)
"""Argument, target, and how the user names it."""


@given(
    parts=st.lists(st.sampled_from(TARGETS), min_size=2, max_size=4, unique=True),
    wanted=households,
    level=st.sampled_from(("read_only", "supervised", "supervised", "full")),
    named=st.frozensets(st.integers(0, 3)),
    tainted=st.booleans(),
    undoable=st.booleans(),
    trusted=st.frozensets(st.integers(0, 3)),
    grants=st.lists(st.sampled_from(("fs_write", "fs_read", "network_out", "memory_write")), max_size=1),
    never=st.lists(st.integers(0, 3), max_size=1),
)
@thorough
async def test_the_strictest_wins_the_decision_on_several_effects_is_the_worst_of_those_on_each_alone(
    household: Household,
    parts: Sequence[tuple[str, str, str]],
    wanted: Settings,
    level: Any,
    named: frozenset[int],
    tainted: bool,
    undoable: bool,
    trusted: frozenset[int],
    grants: Sequence[str],
    never: Sequence[int],
) -> None:
    """In both directions: no effect hides behind another one, and none is judged by another's name or trust."""

    def promotion(effect: Any, action: Any, now: Any) -> Any:
        is_trusted = crc32(f"{effect.effect_class} {action.named}".encode()) % 4 in trusted
        threshold = TrustThreshold(effect_class="x", risk_band="low", min_score=0.6, min_samples=3, cap_autonomy="full")
        return evolve(judge(effect, action, AnyRecord(None, None), threshold, now), promoted=is_trusted)

    said = frozenset(name for place, (_, _, name) in enumerate(parts) if name and place in named)
    rights = Rights(sender="cli:me", level=level, said=said, tainted=tainted, undoable=undoable, grants=tuple(grants))
    policy = policy_of(household, wanted, tools={"many": MANY}, promotion=promotion)
    alone = [await policy.judge(_many(part), rights) for part in parts]
    for place in never:
        policy.never.add("cli:me", "many", alone[place % len(alone)].effect_class, FakeClock().now())
    alone = [await policy.judge(_many(part), rights) for part in parts]

    together = await policy.judge(_many(*parts), rights)

    strictest = max((decision.verdict for decision in alone), key=STRICTNESS.__getitem__)
    assert together.verdict == strictest
    if strictest != "allow" and together.via not in ("constitution", "finding"):
        assert together.effect_class in {each.effect_class for each in alone if each.verdict == strictest}


def _many(*parts: tuple[str, str, str]) -> KnownCall:
    args: dict[str, list[str]] = {}
    for arg, target, _ in parts:
        args.setdefault(arg, []).append(target)
    return KnownCall("many", args, Call(tool="many"))


async def test_trust_is_asked_about_each_effect_with_whether_that_one_was_named(household: Household) -> None:
    """One that was not named takes nothing from one that was."""
    asked = {}

    def promotion(effect: Any, action: Any, now: Any) -> Any:
        asked[effect.scope] = action.named
        return judge(effect, action, AnyRecord(None, None), None, now)

    rights = Rights(sender="cli:me", level="supervised", said=frozenset({"~/docs/plan.md"}))
    policy = policy_of(household, Settings(roots=(WORKSPACE, "~/docs")), tools={"many": MANY}, promotion=promotion)

    await policy.judge(_many(("write", "notes/a.md", ""), ("write", "~/docs/plan.md", "")), rights)

    assert asked == {f"{WORKSPACE}/notes/*": False, "~/docs/*": True}


@pytest.mark.parametrize("level", AUTONOMY_LEVELS)
async def test_a_change_outside_of_the_roots_breaks_the_law_whatever_else_the_call_does(
    household: Household, level: str
) -> None:
    """At no level the denial of another effect hides it."""
    policy = policy_of(household, Settings(roots=(WORKSPACE,)), tools={"many": MANY})
    both = _many(("write", "notes/a.md", ""), ("write", "~/other/x.md", ""))

    decision = await policy.judge(both, Rights(sender="cli:me", level=level))

    assert decision.verdict == "deny"
    assert decision.violation is not None
    assert decision.violation.law == "law.0"


# Purity.


@given(data=st.data(), wanted=households, record=records)
@relaxed
async def test_a_decision_is_pure_a_second_one_is_the_same_and_nothing_has_changed(
    household: Household, data: Any, wanted: Settings, record: AnyRecord
) -> None:
    """No file, no record, no count; what it rests on does not move because it was looked at."""
    known, rights = data.draw(situations)
    policy = policy_of(household, wanted, promotion=trusting(record, None))
    trace = policy.trace(rights)
    before = _files_of(household)

    first, second = await policy.judge(known, rights, trace), await policy.judge(known, rights, trace)

    assert first == second
    assert decision_json(first) == decision_json(second)
    assert _files_of(household) == before
    assert policy.stores.log.records == {}
    assert trace == policy_of(household, wanted).trace(rights)


def _files_of(household: Household) -> list[tuple[str, int, int]]:
    found = ((path, path.lstat()) for path in sorted(household.user.rglob("*")))
    return [(str(path), status.st_mtime_ns, status.st_size) for path, status in found]


# Garbage.


class Spiky:
    """An object that cannot be written as text."""

    def __str__(self) -> str:
        raise RuntimeError("cannot be shown")

    def __repr__(self) -> str:
        return "Spiky()"


class Hollow(Mapping[str, Any]):
    """Arguments that say they are an object and cannot be read."""

    def __getitem__(self, key: str) -> Any:
        raise OSError("gone")

    def __iter__(self) -> Iterator[str]:
        raise OSError("gone")

    def __len__(self) -> int:
        return 3


ENDLESS: list[Any] = []
ENDLESS.append(ENDLESS)
odd = st.sampled_from(
    (b"bytes", {1, 2}, object(), Spiky(), Hollow(), ENDLESS, 10**5000, "\ud800", "a\x00b", float("nan"))
)
anything = json_values | odd
names = sorted({spec.arg for tool in TOOLS.values() for spec in tool.effects or ()} | {"command", "mode", "root"})


@given(
    tool=st.sampled_from(sorted(TOOLS)) | st.text() | anything,
    args=st.dictionaries(st.sampled_from(names), anything, max_size=4) | anything,
    sender=st.just("cli:me") | st.text() | anything,
    level=st.sampled_from(AUTONOMY_LEVELS) | st.text(),
    typed=st.text(max_size=40),
    roots=st.lists(st.text(max_size=8), max_size=2),
    cwd=st.just("/") | st.text(max_size=8),
)
@thorough
async def test_whatever_is_called_with_whatever_arguments_gets_a_decision_and_never_an_error(
    household: Household, tool: Any, args: Any, sender: Any, level: Any, typed: str, roots: list[str], cwd: str
) -> None:
    """One that can be recorded, shown and printed, and that asks exactly where it has a question."""
    policy = policy_of(household, Settings(roots=(WORKSPACE,)))
    trace = policy.trace(Rights(sender="cli:me", level="full"))
    situation = Situation(roots=(str(household.home.workspace), *roots), cwd=cwd, typed_text=typed, tainted=bool(typed))

    decision = await policy.policy.evaluate(ToolCall(id="1", tool=tool, args=args), trace, sender, level, situation)

    assert decision.verdict in STRICTNESS
    assert (decision.draft is not None) == (decision.verdict == "approve_required")
    assert json.loads(json.dumps(decision_json(decision)))["verdict"] == decision.verdict
    assert explain(decision)
