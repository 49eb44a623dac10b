"""The bytes of a neuron from its tests to its runs, each stage told by its own source."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Sequence
from typing import Any
from uuid import UUID

import pytest
from adopted_neurons import in_agent
from attrs import evolve
from drafted_neurons import report_of, version_of
from signed_neurons import write_neuron

from myclaw_core.agent import Agent
from myclaw_core.events.types import ApprovalAsked
from myclaw_core.messages import N_
from myclaw_core.neurons import records
from myclaw_core.neurons.adopting import Adoption
from myclaw_core.neurons.provenance import Stage, are_the_same, provenance
from myclaw_core.neurons.signing import digest_of, neuron_key
from myclaw_core.neurons.types import Invocation, NeuronEntry
from myclaw_core.synthesis.store import advance, request
from myclaw_core.synthesis.types import SynthesisRequest
from myclaw_core.testing import FakeClock, RecordingChannel

NAME = "word_count"


@pytest.fixture
async def agent(open_agent: Any, clock: FakeClock) -> AsyncIterator[Agent]:
    async with open_agent() as opened:
        await adopt(opened, clock, "1.0.0")
        yield opened


async def adopt(agent: Agent, clock: FakeClock, version: str, synthesis: UUID | None = None) -> None:
    """Take a version in as a person does, after tests that were green."""
    adoption = Adoption(agent, version_of(version), NAME, "cli:me", synthesis)
    await adoption.stage(report_of("passed", "passed", "passed"))
    assert (await adoption.ask(RecordingChannel(clock, attended=False), RecordingChannel(clock))).state == "adopted"


async def entry_of(agent: Agent) -> NeuronEntry:
    (entry,) = await agent.services.neurons.entries()
    return entry


async def seen(agent: Agent, runs: Sequence[Invocation] = ()) -> dict[str, Stage]:
    """Return the stages by their names."""
    stages = await provenance(agent.log, agent.home, await entry_of(agent), runs)
    return {each.stage: each for each in stages}


async def test_the_same_bytes_are_seen_at_every_stage(agent: Agent) -> None:
    """The turn of the adoption tells the first three, the folder and the shelf the others."""
    stages = await seen(agent)
    record = (await entry_of(agent)).record
    assert record is not None

    assert list(stages) == ["tested", "agreed to", "adopted", "signed", "called"]
    assert {each.digest for each in stages.values()} == {digest_of(version_of("1.0.0"))}
    assert {each.body_hash for each in stages.values()} == {"", record.body_hash}
    assert are_the_same(tuple(stages.values()))


async def test_another_version_that_was_signed_as_well_is_seen_to_be_another_one(agent: Agent) -> None:
    """Such as an older one that was put back: it is not called."""
    other = version_of("0.9.0")
    write_neuron(agent.home.neurons / NAME, other, neuron_key(agent.home.keys))
    stages = await seen(agent)

    assert stages["signed"].digest == digest_of(other)
    assert (stages["called"].digest, str(stages["called"].source)) == ("", "nothing: it cannot be called")
    assert not are_the_same(tuple(stages.values()))


async def test_the_last_run_counts_for_the_version_that_it_was_of(agent: Agent, clock: FakeClock) -> None:
    """A turn in which it did not run, or one before it was adopted anew, says nothing."""
    record = (await entry_of(agent)).record
    assert record is not None
    assert record.trace_id is not None
    run = Invocation(trace_id=record.trace_id, at=clock.now(), caller="core", outcome="ok", wall_ms=1)

    assert "last run" not in await seen(agent, [run])
    clock.advance(seconds=60)
    await adopt(agent, clock, "1.1.0")
    assert "last run" not in await seen(agent, [run])


async def test_without_folder_or_key_the_reason_stands_instead(agent: Agent) -> None:
    folder = agent.home.neurons / NAME
    (agent.home.keys / "neuron.key").rename(agent.home.keys / "kept")
    assert "there is no key" in str((await seen(agent))["signed"].source)
    (agent.home.keys / "kept").rename(agent.home.keys / "neuron.key")
    shutil.rmtree(folder)
    assert "no such folder" in str((await seen(agent))["signed"].source)
    assert in_agent(agent).names == []


async def test_who_said_yes_is_named(agent: Agent) -> None:
    assert str((await seen(agent))["agreed to"].source).endswith(", to which cli:me said yes")


@pytest.mark.parametrize(("drafted", "is_same"), [("1.1.0", True), ("1.2.0", False)])
async def test_what_a_model_wrote_names_the_synthesis_and_what_that_asked_about(
    agent: Agent, clock: FakeClock, drafted: str, is_same: bool
) -> None:
    """Another draft than the one that was let in is seen; nothing in the words of the goal acts on a screen."""
    wanted = SynthesisRequest(
        goal="count \x1b[2Jwords", trace_id=UUID(int=5), mode="external", capability_hint=[], budget_cents=50
    )
    begun = await request(agent.log, clock, wanted, "cli:me")
    await adopt(agent, clock, "1.1.0", begun.id)
    async with agent.log.transaction() as tx:
        asked = evolve(begun, stage="approval", digest=digest_of(version_of(drafted)))
        await advance(tx, asked, N_("the tests are green"))
    stages = await seen(agent)

    assert list(stages)[:2] == ["made", "tested"]
    assert str(stages["made"].source) == f"the synthesis {begun.id}: count \\x1b[2Jwords"
    assert are_the_same(tuple(stages.values())) == is_same


async def test_a_synthesis_that_is_not_on_record_any_more_is_named_all_the_same(agent: Agent, clock: FakeClock) -> None:
    await adopt(agent, clock, "1.1.0", UUID(int=6))
    stages = await seen(agent)

    assert str(stages["made"].source) == f"the synthesis {UUID(int=6)}, which is not on record any more"
    assert are_the_same(tuple(stages.values()))


async def test_a_question_without_a_yes_is_seen_to_be_a_break(agent: Agent, clock: FakeClock) -> None:
    """Such as where a part of the program let in what was only asked about."""
    record = (await entry_of(agent)).record
    assert record is not None
    other = clock.new_id()
    events = await agent.log.events(record.trace_id, ApprovalAsked)
    async with agent.log.transaction() as tx:
        for _, event in events:
            assert isinstance(event, ApprovalAsked)
            await tx.append(evolve(event, trace_id=other))
        await records.born(tx, evolve(record, trace_id=other))
    stages = await seen(agent)

    assert "no yes to it is on record" in str(stages["agreed to"].source)
    assert len({each.digest for each in stages.values()} - {""}) == 1
    assert not are_the_same(tuple(stages.values()))
