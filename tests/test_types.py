"""Shared types: every stored one has a frozen sample, and their few rules hold."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

import myclaw_core.types as shared
from myclaw_core import codec
from myclaw_core.testing import FakeClock
from myclaw_core.types import Effect, Event, PlannedAction, Text, TrustScore, UnknownEvent
from myclaw_core.types.canonical import canonical_json, digest_of
from myclaw_core.types.effect import (
    AUTONOMY_LEVELS,
    EFFECT_KINDS,
    PURE_KINDS,
    REVERSIBILITIES,
    SIDE_EFFECT_KINDS,
    autonomy_le,
    worst_effect,
)

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "tests" / "samples" / "1.0"
EVENTS = set(get_args(Event))


def stored_types() -> dict[str, type]:
    """Return what is stored by the name of its sample: shared types, events, and what `codec.loads` reads."""
    found = {}
    for name in shared.__all__:
        cls = getattr(shared, name)
        if cls in EVENTS:
            found["event_unknown" if cls is UnknownEvent else f"event_{codec.event_tag(cls)}"] = cls
        elif attrs.has(cls) and "unknown_fields" in attrs.fields_dict(cls):
            found[codec.event_tag(cls)] = cls
    return found | {codec.event_tag(cls): cls for cls in loaded_types() if not cls.__name__.startswith("_")}


def loaded_types() -> Iterator[type]:
    """Return the classes that the core passes to `codec.loads`, read from its source."""
    for path in (ROOT / "myclaw_core").rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        if "codec.loads(" not in source:
            continue
        module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "codec.loads":
                yield getattr(module, ast.unparse(node.args[0]))


STORED = stored_types()


def test_every_stored_type_has_a_sample_and_every_sample_a_type() -> None:
    assert {path.stem for path in SAMPLES.glob("*.json")} == set(STORED)


@pytest.mark.parametrize("name", STORED)
def test_a_sample_is_read_and_written_back_unchanged(name: str) -> None:
    text = (SAMPLES / f"{name}.json").read_text(encoding="utf-8")
    cls = STORED[name]

    if cls in EVENTS:
        loaded: Any = codec.loads_event(text, name)
        written = codec.dumps_event(loaded, redact=False)
    else:
        loaded = codec.loads(cls, text, name)
        written = codec.dumps(loaded)

    assert type(loaded) is cls
    assert json.loads(written) == json.loads(text)
    if "unknown_fields" in attrs.fields_dict(cls):
        assert loaded.unknown_fields["a_later_field"]


def test_importing_one_leaf_does_not_import_the_others() -> None:
    program = (
        "import sys, myclaw_core.types.action;"
        "print(sorted(name for name in sys.modules if name.startswith('myclaw_core.') and 'types' not in name),"
        " {'asyncio', 'cattrs'} & set(sys.modules))"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout == "[] set()\n"


def test_an_unknown_name_is_no_shared_type() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Unicorn'"):
        getattr(shared, "Unicorn")  # noqa: B009
    assert "ExecutionTrace" in dir(shared)


def effect(kind: Any = "fs_write", reversibility: Any = "reversible", target: str = "/home/rosa/notes/a.md") -> Effect:
    """Return an effect on one note."""
    return Effect(kind=kind, scope="~/notes/*", target=target, reversibility=reversibility)


def planned(*effects: Effect, **given: Any) -> PlannedAction:
    """Return the action of a call with these effects."""
    clock = FakeClock()
    return PlannedAction.from_tool_call(
        tool_name="fs_write",
        args={"b": 1, "a": "è"},
        args_preview={},
        effects=effects,
        sender="cli:me",
        trace_id=clock.new_id(),
        session_id="s",
        autonomy="supervised",
        planned_at=clock.now(),
        **given,
    )


def test_there_are_the_fifteen_kinds_of_the_seed_and_two_of_them_change_nothing() -> None:
    assert len(EFFECT_KINDS) == 15
    assert {"fs_read", "network_in"} == PURE_KINDS
    assert set(EFFECT_KINDS) == SIDE_EFFECT_KINDS | PURE_KINDS


def test_the_class_of_an_effect_is_its_kind_and_scope_and_a_neuron_call_is_just_a_call() -> None:
    assert effect().effect_class == "fs_write:~/notes/*"
    assert effect(kind="neuron_invoke").effect_class == "invoke"
    assert effect().is_side_effect
    assert not effect(kind="fs_read").is_side_effect


def test_the_worst_effect_is_a_side_effect_then_the_least_reversible_then_the_first() -> None:
    read = effect(kind="fs_read", reversibility="irreversible")
    soft, hard, other = effect(), effect(reversibility="irreversible"), effect(target="/home/rosa/notes/b.md")

    assert worst_effect(()) is None
    assert worst_effect((read, soft)) is soft
    assert worst_effect((soft, hard, read)) is hard
    assert worst_effect((soft, other)) is soft


@given(st.lists(st.builds(effect, st.sampled_from(EFFECT_KINDS), st.sampled_from(REVERSIBILITIES)), min_size=1))
def test_no_effect_is_worse_than_the_worst(effects: list[Effect]) -> None:
    worst = worst_effect(tuple(effects))

    assert worst is not None
    for other in effects:
        assert worst.is_side_effect or not other.is_side_effect
        if worst.is_side_effect == other.is_side_effect:
            assert REVERSIBILITIES.index(worst.reversibility) >= REVERSIBILITIES.index(other.reversibility)


def test_an_action_takes_kind_class_and_reversibility_from_its_worst_effect() -> None:
    action = planned(effect(kind="fs_read"), effect(kind="fs_delete", reversibility="irreversible"), tainted=True)

    assert (action.kind, action.effect_class, action.reversibility) == (
        "fs_delete",
        "fs_delete:~/notes/*",
        "irreversible",
    )
    assert len(action.targets) == 2
    assert (action.actor, action.tainted, action.named) == ("fs_write", True, False)


def test_a_pure_action_has_a_class_of_its_own_and_no_target() -> None:
    action = planned(actor="neuron:csv_summary")

    assert (action.kind, action.effect_class, action.reversibility) == ("fs_read", "pure", "reversible")
    assert (action.actor, action.targets) == ("neuron:csv_summary", ())


def test_the_digest_of_arguments_does_not_depend_on_their_order() -> None:
    assert planned().args_digest == digest_of({"a": "è", "b": 1})
    assert canonical_json({"b": [1.5, None], "a": "è"}) == '{"a":"è","b":[1.5,null]}'.encode()


@pytest.mark.parametrize("value", [float("nan"), "\ud800"])
def test_what_has_no_canonical_form_has_no_digest(value: object) -> None:
    with pytest.raises(ValueError):
        digest_of({"a": value})


def test_autonomy_levels_are_ordered() -> None:
    assert [level for level in AUTONOMY_LEVELS if autonomy_le(level, "supervised")] == ["read_only", "supervised"]


def test_a_text_fills_its_places_and_leaves_gaps_visible() -> None:
    assert str(Text("{a} of {b}", {"a": 1})) == "1 of {b}"
    assert str(Text("{not a place}")) == "{not a place}"


@pytest.mark.parametrize("msgid", ["{a", "{a:d}", "{0} {a}", "{a.more}", "{a[0]}"])
def test_a_text_whose_places_do_not_suit_its_values_is_shown_unfilled(msgid: str) -> None:
    assert str(Text(msgid, {"a": Text("words")})) == msgid


def test_an_empty_score_is_no_trust() -> None:
    score = TrustScore.empty(("fs_write", "fs_write:~/notes/*"), FakeClock().now())

    assert (score.score, score.n_samples, score.window) == (0.0, 0, "30d")
