"""Attempts that are refused: what each costs, and what the next one is told; what the sandbox tests show is given."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from design_runs import CONFIG, GREEN, IMPORTS, Design, Writer, design, given_reports, writing
from designs import BODY, MANIFEST, NAME, draft, replies, spec

from myclaw_core.neurons.birth_report import BirthTest
from myclaw_core.synthesis.types import Revision, RewardBreakdown
from myclaw_core.types.text import Text

PROSE = {"text": "I cannot do that."}
RED = evolve(
    GREEN,
    tests=(
        *GREEN.tests[:2],
        BirthTest(name="test_3", line=3, outcome="failed", runs=1, reason=Text("line 9: 1 is not 2")),
    ),
)
WEAK = evolve(GREEN, weakness=Text("too many changes of the body go unnoticed"))


@pytest.fixture(autouse=True)
def green(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the sandbox tests of any draft be green."""
    given_reports(monkeypatch)


async def designed(open_agent: Any, writer: Writer, *answers: Any, config: str = "", **options: Any) -> Design:
    async with open_agent(config=CONFIG + config) as agent:
        return await design(writing(agent, writer), *answers, **options)


BAD_DRAFTS = {
    "three files are missing": (PROSE, "=== END ==="),
    "the answer was cut": (draft() | {"stop_reason": "max_tokens"}, "cut"),
    "a finding of the analysis": (IMPORTS, "os"),
    "too few tests": (draft(tests="async def test_one(run):\n    assert await run({'text': ''})\n"), "test"),
    "a finding of a plugin": (draft(body=BODY.replace("    return", "    wasted = 1\n    return")), "wasted"),
    "no YAML": (draft(manifest="purpose: {\n"), "YAML"),
    "another capability": (
        draft(manifest=MANIFEST.replace("capabilities: []", "capabilities: [clock]"), body=BODY),
        "clock",
    ),
}


@pytest.mark.parametrize("kind", BAD_DRAFTS)
async def test_a_bad_draft_costs_a_retry_and_the_next_draft_is_told_why(open_agent: Any, kind: str) -> None:
    bad, why = BAD_DRAFTS[kind]
    writer = Writer(replies(bad, draft()))
    ended = await designed(open_agent, writer, True)

    assert ended.end == ("born", 1)
    assert writer.stages == ["spec", "draft", "draft"]
    assert "What was wrong with the last attempt" not in writer.prompts[1]
    told = writer.prompts[2].partition("What was wrong with the last attempt")[2]
    assert why in told
    assert len(ended.refusals) == 1
    assert why in ended.refusals[0]


BAD_SPECS = {
    "no JSON": (PROSE, "not JSON"),
    "the answer was cut": (spec() | {"stop_reason": "max_tokens"}, "cut"),
    "a name that is none": (spec(proposed_name="Word Counter"), "name"),
    "the name of a tool": (spec(proposed_name="fs_list"), "the name fs_list is that of a tool"),
    "the wire name of a tool of the core": (spec(proposed_name="admit"), "admit"),
    "a tool that is not there": (spec(may_call=["fs_teleport"]), "there is no tool fs_teleport"),
    "a neuron that is not there": (spec(may_call=["neuron:nobody"]), "there is no tool neuron:nobody"),
    "a tool of the core alone": (spec(may_call=["neuron_admit"]), "there is no tool neuron_admit"),
    "a capability that is none": (spec(capabilities_requested=["root"]), "root is no capability"),
    "all of the disk": (spec(capabilities_requested=["fs-read:/*"]), "too wide"),
    "a call among the capabilities": (spec(capabilities_requested=["call:fs_list"]), "belongs in may_call"),
    "no purpose": (spec(purpose=" "), "purpose"),
    "a schema that points elsewhere": (spec(input_schema='{"type": "object", "$ref": "#"}'), "$ref"),
    "a schema of no object": (spec(input_schema='{"type": "array"}'), "object"),
}


@pytest.mark.parametrize("kind", BAD_SPECS)
async def test_a_bad_spec_costs_a_retry_and_the_next_spec_is_told_why(open_agent: Any, kind: str) -> None:
    bad, why = BAD_SPECS[kind]
    writer = Writer([bad, *replies()])
    ended = await designed(open_agent, writer, True)

    assert (writer.stages, ended.end) == (["spec", "spec", "draft"], ("born", 1)), ended.told
    assert why in writer.prompts[1].partition("What was wrong with the last attempt")[2]
    assert why not in writer.prompts[2].partition("What was wrong")[2]


async def test_red_tests_go_back_to_the_draft_with_their_names_and_the_parts_of_r(
    open_agent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What failed on the way is in the result, too."""
    given_reports(monkeypatch, RED, GREEN)
    writer = Writer(replies(draft(), draft()))
    ended = await designed(open_agent, writer, True)

    assert (writer.stages, ended.end) == (["spec", "draft", "draft"], ("born", 1))
    told = writer.prompts[2].partition("What was wrong with the last attempt")[2]
    assert "R was 0." in told
    assert told.count("test_3 failed: line 9: 1 is not 2") == 1
    assert "=== FILE body.py ===" in writer.prompts[2].partition("Your last attempt")[2]


@pytest.mark.parametrize(
    ("shown", "config", "why"),
    [
        pytest.param(RED, "", "test_3", id="a red test"),
        pytest.param(WEAK, "", "too many changes of the body go unnoticed", id="changes that nobody notices"),
        pytest.param(GREEN, "[reward]\ngate = 0.95\n", "R was 0.6", id="R below the gate"),
        pytest.param(
            evolve(GREEN, stub="unnoticed", problems=(Text("an empty body"),)), "", "an empty body", id="stub"
        ),
    ],
)
async def test_the_fourth_refusal_of_its_tests_ends_it(
    open_agent: Any, monkeypatch: pytest.MonkeyPatch, shown: Any, config: str, why: str
) -> None:
    """Neither a weight nor the gate lets green tests be outvoted; nobody is asked."""
    seen = given_reports(monkeypatch, shown)
    writer = Writer(replies(*[draft(body=f"{BODY}\n\n# {n}\n") for n in range(4)]))
    ended = await designed(open_agent, writer, config=config)

    assert ended.end == ("abandoned", 3)
    assert len(seen) == 4
    assert ended.channel.cards == []
    assert why in str(ended.result.rejection_reason)
    assert isinstance(ended.result.final_reward, RewardBreakdown)
    assert len(ended.refusals) == 3


async def test_green_tests_are_not_outvoted_by_weights(open_agent: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    given_reports(monkeypatch, RED)
    writer = Writer(replies(*[draft()] * 4))
    config = "[reward]\ndet_pass_rate = 0.0\njudge_score = 1.0\ncost_ratio = 1.0\ngate = 0.5\n"
    ended = await designed(open_agent, writer, config=config)
    assert ended.end == ("abandoned", 3)
    assert ended.result.final_reward is not None
    assert ended.result.final_reward.total == 1.0


async def test_refusals_of_every_stage_count_together(open_agent: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    given_reports(monkeypatch, RED, GREEN)
    writer = Writer([PROSE, spec(), IMPORTS, draft(), draft()])
    revised = Revision(stage="spec", text="shorter, please")
    ended = await designed(open_agent, writer, revised)
    assert ended.end == ("abandoned", 3)
    assert writer.stages == ["spec", "spec", "draft", "draft", "draft"]
    assert str(ended.result.rejection_reason) == (
        "4 attempts were refused, the last one: the person wants it otherwise: shorter, please"
    )


@pytest.mark.parametrize(("stage", "again"), [("spec", ["spec", "draft"]), ("draft", ["draft"])])
async def test_a_revision_is_told_to_the_stage_that_it_is_about(open_agent: Any, stage: Any, again: list[str]) -> None:
    made = {"spec": spec(), "draft": draft(body=f"{BODY}\n\n# other\n")}
    writer = Writer([*replies(), *[made[each] for each in again]])
    ended = await designed(open_agent, writer, Revision(stage=stage, text="count letters"), True)

    assert ended.end == ("born", 1)
    assert writer.stages == ["spec", "draft", *again]
    assert "the person wants it otherwise: count letters" in writer.prompts[2]
    assert all("count letters" not in prompt for prompt in writer.prompts[3:])


async def test_three_specs_that_ask_for_what_is_forbidden_end_it_and_cost_no_retry(open_agent: Any) -> None:
    forbidden = [
        spec(capabilities_requested=["fs-read:~/.ssh/*"]),
        spec(capabilities_requested=["shell:git"]),
        spec(capabilities_requested=["network:http://localhost:8080/*"]),
    ]
    writer = Writer(forbidden)
    ended = await designed(open_agent, writer)

    assert ended.end == ("abandoned", 0)
    assert ended.synthesis.vetoes == 3
    assert "fs-read:~/.ssh/* is forbidden" in writer.prompts[1]
    assert "localhost" in str(ended.result.rejection_reason)


FORBIDDEN = (
    "fs-read:~/.ssh/id_rsa",
    "fs-write:~/.gnupg/*",
    "fs-read:{state}/*",
    "network:http://169.254.169.254/latest/*",
    "network:169.254.169.254",
    "network:http://127.0.0.1:6379/*",
    "network:http://192.168.1.1/*",
    "shell:bash",
)


@pytest.mark.parametrize("capability", FORBIDDEN)
async def test_what_no_call_may_ever_touch_is_refused_before_any_code_is_written(
    open_agent: Any, capability: str
) -> None:
    async with open_agent(config=CONFIG) as agent:
        asked_for = capability.format(state=agent.home.state)
        writer = Writer([spec(capabilities_requested=[asked_for]), *replies()])
        ended = await design(writing(agent, writer), True)
    assert (ended.end, ended.synthesis.vetoes) == (("born", 0), 1), ended.told


async def test_a_name_that_another_neuron_has_is_refused(open_agent: Any) -> None:
    """Its purpose is another one, so that it is no better version of that."""
    other = spec(purpose="Turn a temperature from Celsius into Fahrenheit.")
    async with open_agent(config=CONFIG) as agent:
        assert (await design(writing(agent, Writer(replies())), True)).end == ("born", 0)
        writer = Writer([other, PROSE, PROSE, PROSE])
        ended = await design(writing(agent, writer), goal="turn Celsius into Fahrenheit")
    assert ended.end == ("abandoned", 3)
    assert f"the name {NAME} is taken by another neuron" in writer.prompts[1]
