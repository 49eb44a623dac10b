"""What a person reads before they let a neuron in."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from adopted_neurons import AdoptedNeurons, opened_neurons
from attrs import evolve
from drafted_neurons import Gate, gate_of, report_of, version_of
from hypothesis import given
from hypothesis import strategies as st

from myclaw_core.files.visible import is_invisible
from myclaw_core.neurons.birth_report import BirthTest
from myclaw_core.neurons.dossier import compare_versions
from myclaw_core.neurons.reward import GATE, Reward, adoption_reward
from myclaw_core.paths import Home
from myclaw_core.testing import FakeClock
from myclaw_core.types.text import Text


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
    assert "score 0.66 of 1 from its tests and cost; its trust begins there" in lines
    assert "  tests 1.00, judge 0.50 (nobody judged it), cost 0.90, similarity 0.00, coverage 0.00" in lines
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


@given(st.floats(0, 100), st.integers(1, 20), st.booleans())
def test_r_of_an_adopted_neuron_lies_within_its_bounds(cpu_s: float, n: int, covers_new: bool) -> None:
    """All tests are green and nobody judged it: 0.525 to 0.775, so that a birth can begin with it."""
    reward = adoption_reward(report_of(*["passed"] * n, cpu_s=cpu_s), covers_new=covers_new)

    assert not reward.judged
    assert 0.525 - 1e-9 <= reward.total <= 0.775 + 1e-9


def test_r_is_the_formula_of_the_synthesis() -> None:
    """Each component with its weight, clipped."""
    zero = Reward(det_pass_rate=0, cost_ratio=0, judge_score=0)
    assert zero.total == 0
    assert evolve(zero, similarity_penalty=1).total == 0
    weights = {"det_pass_rate": 0.40, "judge_score": 0.25, "cost_ratio": 0.15, "coverage_bonus": 0.10}
    for name, weight in weights.items():
        assert evolve(zero, **{name: 1}).total == pytest.approx(weight)
    assert Reward(det_pass_rate=1, cost_ratio=1, judge_score=1, coverage_bonus=1).total == pytest.approx(0.90)
    assert adoption_reward(report_of("passed", "failed"), covers_new=False).det_pass_rate == 0.5


async def test_an_r_below_what_a_model_must_reach_is_said(gate: Gate) -> None:
    """The person decides all the same: the limit is for what a model wrote."""
    shown = gate.shown(gate.stage(version_of("1.0.0"), report_of("passed", "passed", "passed", cpu_s=3.0)))

    assert f"below {GATE:.2f}, which a draft of a model would have to reach" in shown
