"""Decisions for programs and for people."""

from __future__ import annotations

import json
from typing import Any

from myclaw_core.policy.report import decision_json, explain


async def test_a_decision_is_one_json_object_with_the_reason_of_every_check(world: Any) -> None:
    found = json.loads(json.dumps(decision_json(await world.judge("fs_write", {"path": "a.md"}))))
    assert (found["verdict"], found["via"], found["tool"], found["kind"]) == (
        "approve_required",
        "trust",
        "fs_write",
        "fs_write",
    )
    assert found["reasons"][0]["check"] == "constitution"
    assert found["targets"] == [str(world.workspace / "a.md")]
    assert found["effects"][0]["effect_class"] == found["effect_class"]
    assert found["violation"] is None
    assert found["evidence"][0]["n_samples"] == 40


async def test_a_violation_names_its_law(world: Any) -> None:
    found = decision_json(await world.judge("fs_write", {"path": "~/plan.md"}))
    assert found["violation"]["law"] == "law.0"
    assert found["reason"] == "~/plan.md is outside the folders you opened; add one with --root ~"


async def test_the_explanation_shows_every_check_and_nothing_invisible(world: Any) -> None:
    text = explain(await world.judge("fs_move", {"src": "a.md", "dst": "~/plan.md"}))
    assert text.startswith("deny (via autonomy): fs_move")
    assert "law.0 would be broken" in text
    odd = explain(await world.judge("bad\u202etool\x1b[2J"))
    assert odd.replace("\n", "").isprintable()
