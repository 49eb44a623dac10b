"""A neuron that does what another does already: it becomes a version of that, or costs in R."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from attrs import evolve, frozen
from design_runs import CONFIG, Design, Writer, design, given_reports, writing
from designs import BODY, MANIFEST, NAME, draft, replies, spec

from myclaw_core.agent import Agent
from myclaw_core.embedding.book import Match, Ranking
from myclaw_core.neurons.drafts import read_source
from myclaw_core.neurons.manifest import read_manifest
from myclaw_core.synthesis.draft_stage import next_version

GOAL = "count how many words there are"
OTHER = "text_words"
BETTER = BODY.replace("Counts words", "Counts words better")
FROM = 0.8
"""From which similarity on the purposes of these tests say about the same."""


@pytest.fixture(autouse=True)
def green(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the sandbox tests of any draft be green."""
    given_reports(monkeypatch)


@frozen
class Alike:
    """Finds any two texts as alike as it is told, so far from "about the same" to "the same"."""

    way: float

    async def for_goal(self, goal: str, purposes: Sequence[str]) -> Ranking:
        return await self.for_purpose(goal, purposes)

    async def for_purpose(self, purpose: str, purposes: Sequence[str]) -> Ranking:
        matches = tuple(Match(place=place, similarity=FROM + self.way * (1 - FROM)) for place in range(len(purposes)))
        return Ranking(model="test", similar_from=FROM, matches=matches)


def alike(agent: Agent, way: float) -> Agent:
    """Return an agent to which all purposes are so alike."""
    embedding: Any = Alike(way)
    return evolve(agent, open_embedding=lambda: embedding)


def other_draft(**changes: str) -> dict[str, Any]:
    """Return a draft with the same purpose and another name."""
    return draft(**({"manifest": MANIFEST.replace(NAME, OTHER)} | changes))


async def second(agent: Agent, writer: Writer, *answers: Any) -> Design:
    """Design the first neuron, and then another for about the same."""
    assert (await design(writing(agent, Writer(replies())), True)).end == ("born", 0)
    return await design(writing(agent, writer), *answers, goal=GOAL)


async def test_a_near_copy_becomes_a_better_version_of_the_neuron_that_it_copies(open_agent: Any) -> None:
    """By the real embedder: the name is given, the version counted up, and the question says what it replaces."""
    writer = Writer([spec(proposed_name=OTHER), draft(body=BETTER)])
    async with open_agent(config=CONFIG) as agent:
        found = await second(agent, writer, True)
        folders = [path.name for path in agent.home.neurons.iterdir() if path.is_dir()]
        files = read_source(agent.home.neurons / NAME)
        await agent.services.neurons.refresh()
        tools = [name for name in agent.services.tools if name.startswith("neuron:")]

    assert (found.end, found.result.neuron_name, found.synthesis.patches) == (("born", 0), NAME, NAME)
    assert (folders, tools) == ([NAME], [f"neuron:{NAME}"])
    manifest = read_manifest(files["manifest.yaml"])
    assert (manifest.name, manifest.version) == (NAME, "1.1.0")
    assert b"Counts words better" in files["body.py"]
    assert any("a better version of word_counter" in line for line in found.told)
    (card,) = found.channel.cards
    assert card.request.draft.action.args_preview.get("replaces")
    assert "1.0.0" in card.diff
    assert "1.1.0" in card.diff
    assert found.synthesis.reward is not None
    assert found.synthesis.reward.similarity_penalty == 0.0
    assert "The neuron that this makes better" in writer.prompts[1]
    assert "version: 1.1.0" in writer.prompts[1]


async def test_a_near_copy_under_another_name_is_refused(open_agent: Any) -> None:
    """The name is that of the neuron that it makes better, whatever its manifest says."""
    async with open_agent(config=CONFIG) as agent:
        found = await second(agent, Writer([spec(proposed_name=OTHER), other_draft()]))
        assert [path.name for path in agent.home.neurons.iterdir() if path.is_dir()] == [NAME]
    assert (found.synthesis.retries, found.synthesis.result) == (1, None)
    assert NAME in found.refusals[0]


async def test_without_a_yes_the_version_that_is_there_stays(open_agent: Any) -> None:
    async with open_agent(config=CONFIG) as agent:
        found = await second(agent, Writer([spec(), draft(body=BETTER)]), False)
        files = read_source(agent.home.neurons / NAME)
    assert found.end == ("abandoned", 0)
    assert read_manifest(files["manifest.yaml"]).version == "1.0.0"


@pytest.mark.parametrize(("way", "patches"), [(0.0, ""), (0.5, ""), (0.89, ""), (0.91, NAME), (1.0, NAME)])
async def test_from_nine_tenths_of_the_way_on_it_is_a_better_version(open_agent: Any, way: float, patches: str) -> None:
    """Below that it is a neuron of its own, which costs as much of R as it is alike."""
    writer = Writer([spec(proposed_name=OTHER), draft(body=BETTER) if patches else other_draft()])
    async with open_agent(config=CONFIG + "[reward]\ngate = 0.5\n") as agent:
        found = await second(alike(agent, way), writer, True)
    assert (found.synthesis.patches, found.result.neuron_name) == (patches, patches or OTHER)
    reward = found.synthesis.reward
    assert reward is not None
    assert reward.similarity_penalty == pytest.approx(0.0 if patches else way)
    assert reward.nearest == ("" if patches else NAME)


async def penalised(open_agent: Any, way: float) -> Writer:
    """Let a neuron that is alike miss the gate, and return what was asked then."""
    writer = Writer([spec(proposed_name=OTHER), other_draft()])
    async with open_agent(config=CONFIG + "[reward]\ngate = 0.9\n") as agent:
        # the first one is let in with a gate that it reaches
        settings = evolve(agent.services.config, reward=evolve(agent.services.config.reward, gate=0.5))
        first = evolve(agent, services=evolve(agent.services, config=settings))
        assert (await design(writing(first, Writer(replies())), True)).end == ("born", 0)
        await design(writing(alike(agent, way), writer), goal=GOAL)
    return writer


@pytest.mark.parametrize(("way", "again"), [(0.2, "draft"), (0.49, "draft"), (0.51, "spec"), (0.8, "spec")])
async def test_a_purpose_that_is_much_alike_is_the_fault_of_the_spec(open_agent: Any, way: float, again: str) -> None:
    """Whoever is asked again is told which neuron it is like, and what that one does."""
    writer = await penalised(open_agent, way)
    assert writer.stages == ["spec", "draft", again]
    told = writer.prompts[2].partition("What was wrong with the last attempt")[2]
    assert f"its purpose is much like that of {NAME}" in told
    assert "Count the words of a text." in told


@pytest.mark.parametrize(
    ("of", "following"),
    [("", "1.0.0"), ("1.0.0", "1.1.0"), ("1.9.7", "1.10.0"), ("0.0.1-rc.1.2", "0.1.0"), ("2.99.0", "2.100.0")],
)
def test_a_better_version_counts_the_middle_number_up(of: str, following: str) -> None:
    assert next_version(of) == following
