"""A short body is worth 1, a long one 0; which it is, statements say and not lines."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from myclaw_short_bodies import plugin
from myclaw_short_bodies.length import short_body, worth

from myclaw_core.clock import SystemClock
from myclaw_core.dispatch import Dispatcher
from myclaw_core.neurons.birth_report import BirthReport
from myclaw_core.neurons.types import NeuronManifest
from myclaw_core.plugins import PluginSet
from myclaw_core.sandbox.types import SandboxReport
from myclaw_core.synthesis.reward import RewardContext, RewardDraft

MANIFEST = NeuronManifest(
    name="word_count",
    version="1.0.0",
    purpose="Count words.",
    input_schema={"type": "object"},
    output_schema={},
    capabilities=(),
    may_call=(),
    quotas={},
    origin="synthesis",
    trace_id=UUID(int=1),
)
REPORT = BirthReport(sandbox=SandboxReport(outcome="ok"), tests=())
CONTEXT = RewardContext(
    judgement=None, estimated_cpu_s=1.0, similarity=-1.0, similar_from=1.0, nearest="", covers_new=False
)


def body_of(statements: int) -> bytes:
    """Return a body of as many statements, its `def` among them."""
    return b"def run(ctx, args):\n" + b"    x = 1\n" * (statements - 1)


def test_hook_myclaw_reward_gives_a_part_that_the_core_accepts() -> None:
    refuse: Any = pytest.fail
    dispatcher = Dispatcher(PluginSet.of({"short_bodies": plugin}), SystemClock(), refuse, host_for=refuse)

    parts = dispatcher.reward_parts(RewardDraft(manifest=MANIFEST, files={"body.py": body_of(10)}), REPORT, CONTEXT)

    assert {name: part.value for name, part in parts.items()} == {"short_body": 1.0}


def test_the_plugin_declares_the_hooks_it_has() -> None:
    declared = tomllib.loads(files("myclaw_short_bodies").joinpath("plugin.toml").read_text())

    assert declared["hooks"] == plugin.__all__


@pytest.mark.parametrize(("statements", "value"), [(2, 1.0), (80, 1.0), (160, 0.5), (240, 0.0), (900, 0.0)])
def test_what_a_body_is_worth(statements: int, value: float) -> None:
    assert short_body(body_of(statements)).value == pytest.approx(value)


def test_a_body_that_is_too_long_is_told_so_with_its_length() -> None:
    assert str(short_body(body_of(160)).feedback) == ""
    assert str(short_body(body_of(161)).feedback).startswith("its body has 161 statements; do less")


def test_statements_on_one_line_count_each() -> None:
    assert short_body(b"def run(ctx, args):\n    " + b"x = 1; " * 300).value == 0.0


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_a_longer_body_is_never_worth_more(one: int, other: int) -> None:
    assert 0.0 <= worth(one) <= 1.0
    assert worth(max(one, other)) <= worth(min(one, other))
