"""What a person reads before they let a neuron in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import UUID

import pytest
from adopted_neurons import AdoptedNeurons, opened_neurons
from attrs import evolve
from drafted_neurons import Gate, gate_of, report_of, reward_of, version_of

from myclaw_core.config.sections import RewardSection
from myclaw_core.files.visible import is_invisible
from myclaw_core.neurons.birth_report import BirthTest
from myclaw_core.neurons.dossier import compare_versions
from myclaw_core.paths import Home
from myclaw_core.synthesis.types import Making
from myclaw_core.testing import FakeClock
from myclaw_core.types.text import Text

NASTY = "x\x1b]0;y\x07\u202e\n+++ body.py"
MAKING = Making(
    request_id=UUID(int=3),
    goal="count the words of my notes",
    trace_id=UUID("018f4e6a-1111-7abc-8def-0123456789ab"),
    story=tuple(f"step {n}" for n in range(1, 10)),
    rationale="No tool counts words.",
    cost_eur=0.123,
    attempt=2,
    models=("big", "small"),
)


@pytest.fixture
async def neurons(home: Home, clock: FakeClock) -> AsyncIterator[AdoptedNeurons]:
    async with opened_neurons(home, clock) as opened:
        yield opened


@pytest.fixture
def gate(neurons: AdoptedNeurons) -> Gate:
    return gate_of(neurons)


async def test_a_first_version_is_shown_whole(gate: Gate) -> None:
    """Purpose, rights, what a yes means, R with its parts, each test, and all of the code."""
    files = version_of("1.0.0", capabilities="[clock, 'fs-read:~/notes/*']")
    lines = gate.shown(gate.stage(files)).split("\n")

    assert lines[:3] == ["word_count 1.0.0", "purpose: Count words.", "origin: adopted"]
    assert "  clock (NEW: no neuron here may do that so far)" in lines
    assert any("what it does is still asked about, each time, until it has earned trust" in line for line in lines)
    start = lines.index("score 0.66 of 1; its trust begins there")
    assert lines[start + 1 : start + 8] == [
        "  part        value  weight  product",
        "  tests        1.00   +0.40   +0.400",
        "  judge        0.50   +0.25   +0.125",
        "  cost         0.90   +0.15   +0.135",
        "  similarity   0.00   -0.10   +0.000",
        "  coverage     0.00   +0.10   +0.000",
        "  total                        0.660",
    ]
    assert "judge: nobody (what a person adopts is not judged)" in lines
    assert not any(line.startswith(("nearest neuron", "made for", "  below")) for line in lines)
    assert sum(line.startswith("  test_") and "passed" in line for line in lines) == 3
    for name, data in files.items():
        start = lines.index(f"+++ {name}")
        assert lines[start - 1] == "--- /dev/null"
        code = data.decode().splitlines()
        assert lines[start + 2 : start + 2 + len(code)] == [f"+{line}" for line in code]


async def test_a_newer_version_is_shown_by_its_changes_and_its_new_rights_come_first(gate: Gate) -> None:
    """What the version so far may do is not new."""
    one = gate.stage(version_of("1.0.0", capabilities="[clock]"))
    await gate.admit_unchecked(one)
    two = gate.stage(version_of("1.1.0", capabilities="[clock, random]"))
    lines = gate.shown(two, replaces=one.digest).split("\n")

    assert "it replaces the version 1.0.0" in lines
    rights = lines[lines.index("may, at most:") + 1 :][:2]
    assert rights == ["  random (NEW: no neuron here may do that so far)", "  clock"]
    assert [line for line in lines if line.startswith(("+v", "-v"))] == ["-version: 1.0.0", "+version: 1.1.0"]
    assert "+++ test_birth.py" not in lines


@pytest.mark.parametrize(("version", "told"), [("0.9.0", "OLDER than"), ("1.0.0", "OTHER FILES under the same")])
async def test_an_older_or_equal_version_is_told_as_such(gate: Gate, version: str, told: str) -> None:
    """A step back is possible, with open eyes."""
    one = gate.stage(version_of("1.0.0"))
    await gate.admit(one)
    files = version_of(version)
    other = gate.stage({**files, "body.py": files["body.py"] + b"# other\n"})

    assert told in gate.shown(other, replaces=one.digest)


async def test_nothing_in_a_dossier_acts_on_a_screen_or_poses_as_another_line(gate: Gate) -> None:
    """Purpose, names and code come from whoever wrote the neuron."""
    files = version_of("1.0.0")
    nasty = "Counts.\\n+++ body.py\\e[2J\\u202e"
    files["manifest.yaml"] = files["manifest.yaml"].replace(b"Count words.", f'"{nasty}"'.encode())
    files["body.py"] += "# \x1b]0;x\x07 \u202e\r y\n".encode().replace(b"\r", b"\x0b")
    report = report_of("passed", "passed", "passed")
    odd = BirthTest(name="test_\x1b[31m", line=1, outcome="passed", reason=Text(""), runs=1)
    draft = gate.stage(files, evolve(report, tests=(odd, *report.tests[1:])))
    lines = gate.shown(draft).split("\n")

    assert lines[1].startswith("purpose: Counts. +++ body.py\\x1b[2J\\u202e")
    assert not any(is_invisible(char) and char != "\t" for line in lines for char in line)
    assert lines.count("+++ body.py") == 1


@pytest.mark.parametrize(
    ("one", "other", "order"),
    [
        ("1.0.0", "1.0.0", 0),
        ("1.2.0", "1.10.0", -1),
        ("2.0.0", "1.99.99", 1),
        ("1.0.0-rc.1", "1.0.0", -1),
        ("1.0.0-rc.2", "1.0.0-rc.11", -1),
        ("1.0.0-1", "1.0.0-alpha", -1),
        ("1.0.0-alpha", "1.0.0-alpha.1", -1),
    ],
)
def test_versions_are_compared_as_semantic_versioning_says(one: str, other: str, order: int) -> None:
    """Its section 11, both ways."""
    assert compare_versions(one, other) == order
    assert compare_versions(other, one) == -order


async def test_an_r_below_what_a_model_must_reach_is_said(gate: Gate) -> None:
    """The person decides all the same: the limit is for what a model wrote."""
    shown = gate.shown(gate.stage(version_of("1.0.0"), report_of("passed", "passed", "passed", cpu_s=3.0)))

    assert f"below {RewardSection().gate:.2f}, which a draft of a model would have to reach" in shown


async def test_what_is_under_its_mark_is_told_with_the_judges_lines_and_the_nearest_neuron(gate: Gate) -> None:
    report = report_of("passed", "passed", "passed", cpu_s=2.0)
    reward = evolve(
        reward_of(report, similarity=0.9, similar_from=0.8, nearest="csv_summary", neurons={"csv_summary": "Sums."}),
        judged=True,
        judge=Text("local:tiny"),
        judge_reasoning="It reads what it says.\nIt may delete more than asked.",
        laws=("law.1",),
    )
    lines = gate.shown(gate.stage(version_of("1.0.0"), report, reward=reward)).split("\n")

    feedback = lines.index("under its mark:")
    assert lines[feedback + 1].startswith("  its tests took 2.00 CPU seconds of the 3.00 they should take")
    assert lines[feedback + 2].startswith("  its purpose is much like that of csv_summary (similarity 0.90): Sums.")
    judge = lines.index("judge: local:tiny")
    assert lines[judge + 1 : judge + 5] == [
        "  It reads what it says.",
        "  It may delete more than asked.",
        "  BORDERLINE: near to law.1",
        "nearest neuron: csv_summary (similarity penalty 0.50)",
    ]


async def test_a_part_of_a_plugin_is_in_the_table_with_its_weight_or_counts_nothing(gate: Gate) -> None:
    reward = reward_of(report_of("passed", "passed", "passed"))
    weights = {**reward.weights, "short_body": 0.05}
    reward = evolve(reward, extra={"short_body": 0.8, "well_named": 1.0}, weights=weights)
    lines = gate.shown(gate.stage(version_of("1.0.0"), reward=reward)).split("\n")

    assert "  short_body   0.80   +0.05          +0.040" in lines
    assert "  well_named   1.00       –  counts nothing" in lines


async def test_small_changes_that_no_test_noticed_are_named(gate: Gate) -> None:
    survivors = (Text("body.py:2: it went unnoticed"),)
    report = evolve(report_of("passed", "passed", "passed"), survivors=survivors, weakness=Text("they miss too much"))
    lines = gate.shown(gate.stage(version_of("1.0.0"), report)).split("\n")

    assert "  they miss too much" in lines
    assert lines[lines.index("small changes of its code that no test noticed:") + 1] == "  body.py:2: it went unnoticed"


async def test_how_a_draft_of_a_model_came_about_is_told_with_its_story_collapsed(gate: Gate) -> None:
    lines = gate.shown(gate.stage(version_of("1.0.0"), making=MAKING)).split("\n")

    start = lines.index("made for: count the words of my notes")
    assert lines[start + 1 : start + 11] == [
        "what went wrong (trace 018f4e6a-1111):",
        *("  step 1", "  step 2", "  step 3"),
        "  … 3 more lines",
        *("  step 7", "  step 8", "  step 9"),
        "why: No tool counts words.",
        "attempt 2, 0.12 EUR so far, written by big, small",
    ]


async def test_a_story_that_is_short_is_told_whole_and_one_that_is_not_there_not_at_all(gate: Gate) -> None:
    whole = gate.shown(gate.stage(version_of("1.0.0"), making=evolve(MAKING, story=MAKING.story[:7])))
    none = gate.shown(gate.stage(version_of("1.0.0"), making=evolve(MAKING, story=())))

    assert all(f"\n  step {n}\n" in whole for n in range(1, 8))
    assert "what went wrong" not in none


async def test_what_models_and_traces_say_stays_on_its_lines_and_is_bounded(gate: Gate) -> None:
    """Goal, story, reasons, judge and names are data from outside, whatever they say."""
    long = NASTY * 1000
    reward = evolve(
        reward_of(report_of("passed", "passed", "passed")),
        judged=True,
        judge=Text(NASTY),
        judge_reasoning="\n".join([long] * 100),
        laws=(NASTY,) * 100,
        nearest=NASTY,
        feedback=(Text("{x}", {"x": long}),),
        extra={NASTY: 0.5},
    )
    making = evolve(MAKING, goal=long, story=(long,) * 100, rationale=long, models=(NASTY,))
    shown = gate.shown(gate.stage(version_of("1.0.0"), reward=reward, making=making))
    lines = shown.split("\n")

    assert not any(is_invisible(char) and char != "\t" for line in lines for char in line)
    assert lines.count("+++ body.py") == 1
    assert len(lines) < 120
    assert max(map(len, lines)) < 3_000
