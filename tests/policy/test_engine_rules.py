"""Rules of the policy that hold for every input."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from myclaw_core.constitution.rule import Ground
from myclaw_core.policy.checks import Opinion
from myclaw_core.policy.effects import ResolvedEffect
from myclaw_core.policy.engine import Policy
from myclaw_core.policy.tally import Tally
from myclaw_core.policy.types import Evidence, Situation
from myclaw_core.trust.promotion import Promotion
from myclaw_core.types.action import PlannedAction
from myclaw_core.types.effect import AUTONOMY_LEVELS, EFFECT_KINDS, REVERSIBILITIES, Effect
from myclaw_core.types.text import Text

relaxed = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
numbers = st.floats(min_value=0, max_value=1)
promotions = st.builds(
    Promotion,
    promoted=st.booleans(),
    reason=st.just(Text("trust spoke")),
    evidence=st.builds(
        Evidence,
        effect_class=st.just("x"),
        score=numbers,
        n_samples=st.integers(0, 10**9),
        effective_count=st.floats(0, 1e9),
        parent_score=numbers,
        parent_n_samples=st.integers(0, 10**9),
        known=st.booleans(),
        named=st.booleans(),
        min_score=numbers,
        min_samples=st.integers(0, 100),
    ),
    risk=st.sampled_from(["low", "medium", "high"]),
)
effects = st.builds(
    Effect,
    kind=st.sampled_from(EFFECT_KINDS),
    scope=st.just("x"),
    target=st.just("x"),
    reversibility=st.sampled_from(REVERSIBILITIES),
)
irreversible_calls = st.sampled_from(
    [
        ("post", {"url": "https://example.com/"}),
        ("send", {"to": "telegram:42"}),
        ("spend", {"eur": 0.5}),
        ("spawn", {"name": "sorter"}),
        ("mystery", {}),
        ("fs_scribble", {"path": "a.md"}),
        ("fs_wipe", {"path": "a.md"}),
    ]
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(call=irreversible_calls, promotion=promotions, level=st.sampled_from(AUTONOMY_LEVELS), tainted=st.booleans())
@relaxed
async def test_no_answer_of_trust_lets_an_irreversible_action_run(
    shared_world: Any, call: Any, promotion: Promotion, level: Any, tainted: bool
) -> None:
    shared_world.overrides = {"promotion": lambda effect, action, now: promotion}
    shared_world.tainted = tainted
    assert (await shared_world.judge(*call, level=level)).verdict != "allow"


@given(
    tool=st.sampled_from(["fs_write", "fs_read", "fs_move", "get", "fetch", "send", "spend", "setting", "copy", "x"])
    | st.text()
    | st.none(),
    args=st.dictionaries(st.sampled_from(["path", "src", "dst", "url", "to", "eur", "key", "x"]), json_values)
    | json_values,
    level=st.sampled_from([*AUTONOMY_LEVELS, "god"]),
    typed=st.text(max_size=40),
)
@relaxed
async def test_garbage_gets_a_decision_and_never_an_error(
    shared_world: Any, tool: Any, args: Any, level: Any, typed: str
) -> None:
    shared_world.overrides = {}
    shared_world.typed_text = typed
    decision = await shared_world.judge(tool, args, level=level)
    shared_world.typed_text = ""
    assert (decision.draft is not None) == (decision.verdict == "approve_required")
    assert str(decision.reason)


def test_deeply_nested_arguments_are_denied(shared_world: Any) -> None:
    import asyncio

    deep: Any = []
    for _ in range(20_000):
        deep = [deep]
    assert asyncio.run(shared_world.judge("fs_write", {"path": "a", "x": deep})).verdict == "deny"


@given(listed=st.lists(effects, min_size=1, max_size=6), data=st.data())
@relaxed
def test_the_decision_is_that_of_the_strictest_effect(shared_world: Any, listed: list[Effect], data: Any) -> None:
    """Of equally strict ones the least reversible counts, then the first."""
    verdicts = data.draw(
        st.lists(st.sampled_from(["allow", "approve_required", "deny"]), min_size=len(listed), max_size=len(listed))
    )
    action = planned(shared_world, tuple(listed))
    tally = Tally(action, "/home/me")
    opinions = [Opinion(verdict, Text(verdict), "autonomy", index) for index, verdict in enumerate(verdicts)]
    tally.take("autonomy", opinions)
    decision = tally.decision()
    strictest = next(verdict for verdict in ("deny", "approve_required", "allow") if verdict in verdicts)
    assert decision.verdict == strictest
    if strictest != "allow":
        candidates = [effect for effect, verdict in zip(listed, verdicts, strict=True) if verdict == strictest]
        worst = max(candidates, key=lambda effect: (effect.is_side_effect, REVERSIBILITIES.index(effect.reversibility)))
        assert (decision.kind, decision.effect_class) == (worst.kind, worst.effect_class)


@given(listed=st.lists(effects, min_size=1, max_size=5), tainted=st.booleans(), named=st.booleans())
@relaxed
def test_trust_lifts_nothing_irreversible_and_nothing_tainted_that_goes_out(
    shared_world: Any, listed: list[Effect], tainted: bool, named: bool
) -> None:
    from myclaw_core.policy.checks import Case, check_trust

    action = planned(shared_world, tuple(listed), tainted=tainted)
    case = Case(
        action=action,
        items=tuple(ResolvedEffect(effect=effect, given="x") for effect in listed),
        named=(named,) * len(listed),
        situation=Situation(roots=(), cwd="/", tainted=tainted),
        ground=Ground(),
        user_home="/home/me",
        now=action.planned_at,
    )
    shared_world.promoted = True
    for opinion in check_trust(case, range(len(listed)), shared_world.promotion):
        if opinion.index is None or opinion.verdict != "allow":
            continue
        effect = listed[opinion.index]
        assert effect.reversibility != "irreversible"
        assert named or not tainted or effect.kind not in {"network_out", "outbound_message", "cost_spend"}
    shared_world.promoted = False


def planned(world: Any, listed: tuple[Effect, ...], *, tainted: bool = False) -> PlannedAction:
    trace = world.trace()
    return PlannedAction.from_tool_call(
        tool_name="t",
        args={},
        args_preview={},
        effects=listed,
        sender="cli:me",
        trace_id=trace.id,
        session_id="s",
        autonomy="supervised",
        planned_at=world.clock.now(),
        tainted=tainted,
    )


def test_the_only_public_way_in_is_evaluate() -> None:
    assert [name for name in vars(Policy) if not name.startswith("_")] == ["evaluate"]
