"""R from its parts: the sum of weight times part, clipped, and nothing that is not weighed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import pytest
from attrs import evolve
from drafted_neurons import report_of, version_of
from hypothesis import given
from hypothesis import strategies as st
from myclaw_short_bodies import plugin as short_bodies
from neuron_runs import manifest_of
from neurons_in_turns import COPY, adopt

from myclaw_core import hookimpl
from myclaw_core.agent import Agent
from myclaw_core.config.sections import RewardSection
from myclaw_core.embedding.book import EmbeddingBook
from myclaw_core.embedding.hashed import HashedEmbedder
from myclaw_core.judging.types import Judgement
from myclaw_core.neurons.adopting import Adoption
from myclaw_core.neurons.dossier import dossier
from myclaw_core.neurons.manifest import read_manifest
from myclaw_core.plugins import PluginSet, load_plugins
from myclaw_core.synthesis.reward import RewardContext, RewardDraft, RewardPart
from myclaw_core.synthesis.rewarding import breakdown, gather, rewarded
from myclaw_core.synthesis.types import RewardBreakdown
from myclaw_core.testing import FakeClock
from myclaw_core.types.text import Text

DEFAULTS = RewardSection()
GREEN = report_of("passed", "passed", "passed")
OWN = tuple(DEFAULTS.weights)
NAMES = (*OWN, "short_body", "well_named")
SHARES = st.floats(0, 1)
WEIGHTS = st.floats(-1, 1)
PARTS = st.dictionaries(st.sampled_from(NAMES), SHARES)
NOBODY = Text("nobody was there")


def given_parts(values: Mapping[str, float], **feedback: str) -> dict[str, RewardPart]:
    return {
        name: RewardPart(name=name, value=value, feedback=Text(feedback.get(name, "")))
        for name, value in values.items()
    }


def r_of(values: Mapping[str, float], reward: RewardSection = DEFAULTS, **feedback: str) -> RewardBreakdown:
    return breakdown(given_parts(values, **feedback), reward, judged=False, judge=NOBODY)


@st.composite
def sections(draw: st.DrawFn) -> RewardSection:
    """Return any weights that a configuration may give."""
    own = {name: draw(WEIGHTS) for name in OWN}
    extra = draw(st.dictionaries(st.sampled_from(("short_body", "well_named")), WEIGHTS))
    return RewardSection(**own, extra=extra)


@given(PARTS, sections())
def test_r_lies_between_nothing_and_one_whatever_the_weights(values: dict[str, float], reward: RewardSection) -> None:
    found = r_of(values, reward)

    assert 0.0 <= found.total <= 1.0
    assert math.isfinite(found.total)
    assert found.weights == reward.weights
    exact = math.fsum(weight * found.parts[name] for name, weight in found.weights.items())
    assert found.total == min(1.0, max(0.0, exact))


@given(PARTS, sections(), st.sampled_from(NAMES), SHARES, SHARES)
def test_more_of_a_part_moves_r_by_the_sign_of_its_weight(
    values: dict[str, float], reward: RewardSection, name: str, one: float, other: float
) -> None:
    low, high = (r_of({**values, name: value}, reward).total for value in sorted((one, other)))
    weight = reward.weights.get(name)

    if weight is None:
        assert low == high
    else:
        assert low <= high if weight >= 0 else low >= high


@given(PARTS, sections(), st.sampled_from(NAMES), SHARES)
def test_a_part_that_nobody_gives_counts_no_better_than_any_that_is_given(
    values: dict[str, float], reward: RewardSection, name: str, value: float
) -> None:
    without = {each: part for each, part in values.items() if each != name}

    assert r_of(without, reward).total <= r_of({**without, name: value}, reward).total


@given(PARTS)
def test_without_a_green_suite_no_draft_reaches_the_gate(values: dict[str, float]) -> None:
    """Neither a judge nor a bonus outvotes the tests."""
    assert r_of({**values, "det_pass_rate": 0.0}).total < DEFAULTS.gate


def test_r_is_the_formula_of_the_synthesis() -> None:
    """At most 0.90, and each part with its weight."""
    nothing = dict.fromkeys(OWN, 0.0)
    weights = {"det_pass_rate": 0.40, "judge_score": 0.25, "cost_ratio": 0.15, "coverage_bonus": 0.10}
    for name, weight in weights.items():
        assert r_of({**nothing, name: 1.0}).total == pytest.approx(weight)
    best = {**dict.fromkeys(OWN, 1.0), "similarity_penalty": 0.0}
    assert r_of(best).total == pytest.approx(0.90)
    assert r_of({**best, "similarity_penalty": 1.0}).total == pytest.approx(0.80)
    assert r_of({}).total == 0.0


def test_a_part_that_is_weighed_and_missing_is_named() -> None:
    reward = RewardSection(extra={"short_body": -0.1})
    found = r_of(dict.fromkeys(OWN, 1.0), reward)

    assert found.extra == {"short_body": 1.0}
    assert [str(each) for each in found.feedback] == ["no plugin gives the part short_body, so it counts at its worst"]


def test_only_a_part_that_counts_has_a_say_in_the_next_attempt() -> None:
    """One without a weight is listed, with 0 as its weight it is as good as none."""
    values = {**dict.fromkeys(OWN, 1.0), "short_body": 0.2, "well_named": 0.3}
    reward = evolve(DEFAULTS, cost_ratio=0.0, extra={"short_body": 0.1})
    found = r_of(values, reward, short_body="do less", well_named="call it otherwise", cost_ratio="compute less")

    assert found.extra == {"short_body": 0.2, "well_named": 0.3}
    assert "well_named" not in found.weights
    assert [str(each) for each in found.feedback] == ["do less"]


# What the parts are made from.


async def gathered(
    purpose: str, purposes: Mapping[str, str] = {}, estimated_cpu_s: float | None = None
) -> RewardContext:
    manifest = evolve(manifest_of(), purpose=purpose)
    active = {name: evolve(manifest, name=name, purpose=words) for name, words in purposes.items()}
    embedding = EmbeddingBook(HashedEmbedder(), None, FakeClock())
    return await gather(manifest, GREEN, active, embedding, estimated_cpu_s=estimated_cpu_s)


async def test_the_nearest_of_the_other_neurons_is_found_with_what_its_embedder_calls_alike() -> None:
    purposes = {"photo_names": "Renames photos by date.", "word_count": "Counts the words of a text."}
    found = await gathered("Counts the words of a text.", purposes)

    assert found.nearest == "word_count"
    assert found.similarity == pytest.approx(1.0, abs=1e-6)
    assert found.similar_from == HashedEmbedder.similar_from
    assert found.neurons == purposes


async def test_where_there_is_no_other_neuron_nothing_is_alike() -> None:
    found = await gathered("Counts words.")

    assert (found.nearest, found.similarity) == ("", -1.0)


@pytest.mark.parametrize(
    ("given_s", "estimated_s"), [(None, 3.0), (7.5, 7.5), (0.0, 3.0), (-1.0, 3.0), (math.nan, 3.0), (math.inf, 3.0)]
)
async def test_an_estimate_that_is_no_number_of_seconds_is_one_second_a_test(
    given_s: float | None, estimated_s: float
) -> None:
    assert (await gathered("Counts words.", estimated_cpu_s=given_s)).estimated_cpu_s == estimated_s


# In an agent.


def with_plugins(**modules: Any) -> PluginSet:
    """Return the plugins of this repository and others."""
    loaded = load_plugins(environ={})
    own = {each.name: loaded.manager.get_plugin(each.name) for each in loaded.reports if each.state == "on"}
    return PluginSet.of({**own, **modules})


def draft_of(files: Mapping[str, bytes]) -> RewardDraft:
    return RewardDraft(manifest=read_manifest(files["manifest.yaml"]), files=files)


async def r_in(agent: Agent, judgement: Judgement | None = None) -> RewardBreakdown:
    return await rewarded(agent, draft_of(version_of("1.0.0")), GREEN, judgement=judgement, judge=Text("local:tiny"))


async def test_r_of_a_draft_is_made_by_the_plugins_that_are_on(open_agent) -> None:
    judgement = Judgement(score=0.6, reasoning="It may delete more.", laws=("law.1",))
    async with open_agent() as agent:
        found = await r_in(agent, judgement)

    assert found.total == pytest.approx(0.40 + 0.25 * 0.6 + 0.15 * 0.9)
    assert (found.judged, str(found.judge), found.laws) == (True, "local:tiny", ("law.1",))
    assert found.judge_reasoning == "It may delete more."
    assert any("the judge finds it near to law.1: It may delete more." in str(each) for each in found.feedback)


async def test_without_the_plugin_that_gives_the_parts_each_counts_at_its_worst(open_agent) -> None:
    plugins = load_plugins(environ={}).off("defaults")
    async with open_agent(plugins=plugins) as agent:
        found = await r_in(agent)

    assert found.total == 0.0
    assert len(found.feedback) == len(OWN)


async def test_a_neuron_that_is_switched_off_is_neither_alike_nor_does_it_cover_anything(open_agent) -> None:
    """Only those that can be called are compared with."""
    files = version_of("1.0.0", capabilities='["fs-read:~/notes/*"]')
    found = []
    async with open_agent() as agent:
        await adopt(agent, "notes", COPY, ("fs-read:{workspace}/*",))
        found.append(await rewarded(agent, draft_of(files), GREEN, judgement=None, judge=NOBODY))
        await agent.neuron_orders.disable("notes", "cli:me")
        found.append(await rewarded(agent, draft_of(files), GREEN, judgement=None, judge=NOBODY))

    assert [(each.nearest, each.coverage_bonus) for each in found] == [("notes", 0.0), ("", 1.0)]


def flattering() -> ModuleType:
    """Return a plugin that says that all is well; the files that it is shown it cannot change."""

    def myclaw_reward(draft: RewardDraft) -> list[RewardPart]:
        with pytest.raises(TypeError):
            draft.files["body.py"] = b""  # type: ignore[index]
        return [RewardPart(name=name, value=1.0) for name in ("det_pass_rate", "judge_score", "cost_ratio")]

    module = ModuleType("flattering")
    module.myclaw_reward = hookimpl(myclaw_reward)  # type: ignore[attr-defined]
    return module


async def test_no_plugin_makes_more_of_tests_and_judge_than_they_showed(open_agent) -> None:
    """Where ours gives the parts, another's are left out; where it is off, they are held to what was shown."""
    plugins = with_plugins(flattering=flattering()).off("defaults")
    half = report_of("passed", "failed")
    async with open_agent(plugins=plugins) as agent:
        draft = draft_of(version_of("1.0.0"))
        found = await rewarded(agent, draft, half, judgement=None, judge=NOBODY)

    assert (found.det_pass_rate, found.judge_score, found.cost_ratio) == (0.5, 0.5, 1.0)


@pytest.mark.parametrize(
    ("config", "row"),
    [
        ("[reward.extra]\nshort_body = 0.05\n", "  short_body   1.00   +0.05          +0.050"),
        ("", "  short_body   1.00       –  counts nothing"),
    ],
)
async def test_a_part_of_another_plugin_is_in_the_dossier_and_counts_with_the_weight_it_is_given(
    open_agent, config: str, row: str
) -> None:
    async with open_agent(plugins=with_plugins(short_bodies=short_bodies), config=config) as agent:
        draft = await Adoption(agent, version_of("1.0.0"), "word_count", "cli:me").stage(GREEN)
        shown = dossier(draft, agent.admission.around(draft.manifest)).split("\n")

    assert [line.split() for line in shown if "short_body" in line] == [row.split()]
    assert draft.tested.reward.total == pytest.approx(0.66 + (0.05 if config else 0.0))


async def test_the_embedding_is_opened_when_it_is_first_wanted_and_closed_with_the_agent(open_agent) -> None:
    closed: list[str] = []

    class Own(HashedEmbedder):
        name = "own"

        async def close(self) -> None:
            closed.append(self.name)

    async with open_agent() as agent:
        opened: list[EmbeddingBook] = []

        def open_embedding() -> EmbeddingBook:
            opened.append(EmbeddingBook(Own(), None, agent.clock))
            return opened[-1]

        object.__setattr__(agent, "open_embedding", open_embedding)
        assert opened == []
        assert agent.embedding is agent.embedding
        assert len(opened) == 1
        assert closed == []
    assert closed == ["own"]
