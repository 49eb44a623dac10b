"""Answers that are made to break whoever reads them, and texts that are made to act on whoever sees them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from design_runs import CONFIG, Design, Writer, design, given_reports, writing
from designs import draft, spec

from myclaw_core.neurons.schemas import validator


async def refused(open_agent: Any, *answers: dict[str, Any]) -> Design:
    """Let a model give these answers and no other; return where that leads."""
    async with open_agent(config=CONFIG) as agent:
        return await design(writing(agent, Writer(answers)))


def nested(depth: int) -> str:
    return '{"type": "object", "properties": {"a": ' * depth + "{}" + "}}" * depth


BOMBS = {
    "a reference to itself": '{"type": "object", "properties": {"a": {"$ref": "#"}}}',
    "a reference by another name": '{"type": "object", "$dynamicRef": "#x"}',
    "a reference to elsewhere": '{"type": "object", "allOf": [{"$ref": "http://169.254.169.254/"}]}',
    "a thousand levels": nested(300),
    "brackets without an end": "[" * 7_000,
    "a pattern that goes back": '{"type": "object", "properties": {"a": {"pattern": "(?=(a+)+)b"}}}',
    "a pattern of a size without bounds": '{"type": "object", "properties": {"a": {"pattern": "(x{900}){900}"}}}',
    "numbers that are none": '{"type": "object", "maxProperties": NaN}',
    "a number of a thousand digits": '{"type": "object", "maxProperties": ' + "9" * 5_000 + "}",
    "a key twice": '{"type": "object", "type": "array"}',
    "no object": "[]",
}


@pytest.mark.parametrize("kind", BOMBS)
async def test_a_schema_that_is_a_bomb_is_refused_with_the_spec(open_agent: Any, kind: str) -> None:
    found = await refused(open_agent, spec(input_schema=BOMBS[kind]))
    assert (found.synthesis.retries, found.synthesis.stage) == (1, "spec"), found.told
    assert "schema" in found.refusals[0] or "JSON" in found.refusals[0]
    assert len(found.refusals[0]) < 500


async def test_a_pattern_that_would_take_for_ever_elsewhere_takes_no_time_here(
    open_agent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is let in, as one that needs no going back."""
    given_reports(monkeypatch)
    pattern = {"type": "object", "properties": {"text": {"type": "string", "pattern": "^(a+)+$"}}}
    found = await refused(open_agent, spec(input_schema=json.dumps(pattern)), draft())
    assert found.synthesis.spec is not None
    assert not validator(found.synthesis.spec.input_schema).is_valid({"text": "a" * 100_000 + "b"})


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param({"text": "{" * 100_000}, id="brackets"),
        pytest.param({"text": '{"a": ' * 2_000 + "1" + "}" * 2_000}, id="nested"),
        pytest.param({"text": "x" * 5_000_000}, id="long"),
        pytest.param(spec(purpose="x" * 14_000), id="a long purpose"),
        pytest.param(spec(capabilities_requested=[f"fs-read:~/{n}" for n in range(500)]), id="many capabilities"),
        pytest.param(spec(capabilities_requested=["fs-read:~/" + "a" * 5_000]), id="a long capability"),
        pytest.param(spec(may_call=["a" * 5_000]), id="a long name"),
        pytest.param(spec(proposed_name="../../evil"), id="a path for a name"),
        pytest.param(spec(proposed_name="x\x1b[2J"), id="a name that acts on a screen"),
        pytest.param(spec(purpose="Count.\u202e"), id="a purpose that turns what follows round"),
        pytest.param(spec(purpose="Count.\x1b[2J"), id="a purpose that acts on a screen"),
        pytest.param(spec(purpose=["x"]), id="another type"),
        pytest.param(spec(estimated_cpu_s=1e308), id="an estimate beside which all is cheap"),
        pytest.param(spec(estimated_cpu_s=True), id="a yes for a number"),
        pytest.param(spec(trusted=True), id="a key of its own"),
    ],
)
async def test_a_spec_that_is_made_to_break_the_reading_costs_one_attempt(open_agent: Any, answer: Any) -> None:
    found = await refused(open_agent, answer)
    assert (found.synthesis.retries, found.synthesis.stage) == (1, "spec"), found.told
    assert len(found.refusals[0]) < 500
    assert "\x1b" not in found.refusals[0]


async def test_what_a_draft_says_acts_on_no_screen_on_its_way_to_the_person(
    open_agent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rationale and a goal may hold what they want: the card shows it as an escape."""
    given_reports(monkeypatch)
    evil = "All is well.\u202e \x1b[2J\r\x00"
    async with open_agent(config=CONFIG) as agent:
        found = await design(writing(agent, Writer([spec(rationale=evil), draft()])), True, goal=f"count {evil}")
    assert found.end == ("born", 0), found.told
    (card,) = found.channel.cards
    assert card.diff.count("All is well") == 2
    assert not any(bad in card.diff for bad in "\u202e\x1b\r\x00")
