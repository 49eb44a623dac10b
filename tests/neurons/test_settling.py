"""What a start says where neurons cannot be brought into the state that is on record: one line, and it goes on."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from adopted_neurons import in_agent
from signed_neurons import BODY, neuron_files, write_neuron

from myclaw_core.agent import Agent
from myclaw_core.neurons.records import NEURON_KIND
from myclaw_core.neurons.signing import neuron_key
from myclaw_core.paths import Home

OpenAgent = Callable[..., AbstractAsyncContextManager[Agent]]
BETTER = neuron_files(body=BODY + b"# better\n")


async def left_by_a_dead_process(agent: Agent) -> None:
    """A version is on record and made ready; the one before is still in its place."""
    neurons = in_agent(agent)
    await neurons.adopt()
    await neurons.approve("word_count", BETTER)
    write_neuron(agent.home.neurons / ".word_count.new", BETTER, neuron_key(agent.home.keys))


async def test_what_was_left_is_completed_without_a_word(open_agent: OpenAgent, home: Home) -> None:
    async with open_agent() as agent:
        await left_by_a_dead_process(agent)
    async with open_agent() as agent:
        assert list(agent.notices) == []
        assert await in_agent(agent).refreshed() == ["word_count"]

    assert [path.name for path in home.neurons.iterdir()] == ["word_count"]
    assert (home.neurons / "word_count" / "body.py").read_bytes() == BETTER["body.py"]


async def test_a_folder_in_the_way_is_told_and_kept(open_agent: OpenAgent, home: Home) -> None:
    """Somebody put a file of his own there; nothing is lost, and the older version does not run."""
    async with open_agent() as agent:
        await left_by_a_dead_process(agent)
        own = home.neurons / ".word_count.old" / "own.txt"
        own.parent.mkdir()
        own.write_text("mine")
    async with open_agent() as agent:
        (notice,) = map(str, agent.notices)
        assert await in_agent(agent).refreshed() == []

    assert notice == f"{home.neurons} cannot be put in order: Directory not empty"
    assert own.read_text() == "mine"
    assert (home.neurons / "word_count" / "body.py").read_bytes() == BODY


async def test_a_record_that_nothing_vouches_for_puts_nothing_in_place(open_agent: OpenAgent, home: Home) -> None:
    async with open_agent() as agent:
        await left_by_a_dead_process(agent)
        ((name, raw),) = await agent.log.scan(NEURON_KIND)
        async with agent.log.transaction() as tx:
            await tx.put(NEURON_KIND, name, raw + b" ")
    async with open_agent() as agent:
        (notice,) = map(str, agent.notices)
        assert await in_agent(agent).refreshed() == []

    assert notice.startswith("neurons are not as they should be: the neuron word_count: its record is not the one")
    assert (home.neurons / "word_count" / "body.py").read_bytes() == BODY
