"""What a look at 100 adopted neurons costs: where nothing changed, where one did, and where all are read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

from benchmarks.timing import Comparison, Effort, compare
from benchmarks.world import folder, opened_agent
from myclaw_core.agent import Agent
from myclaw_core.assembly import Assembly
from myclaw_core.net.access import system_lookup
from myclaw_core.neurons.book import NeuronBook
from myclaw_core.neurons.folder import SIGNATURE_FILE
from myclaw_core.neurons.records import born
from myclaw_core.neurons.signing import digest_of, neuron_key, sign
from myclaw_core.neurons.types import NeuronRecord
from myclaw_core.testing import FakeClock

__all__ = ["run"]

_NEURONS = 100
_FILES = ("body.py", "test_birth.py", "manifest.yaml", SIGNATURE_FILE)
_BODY = "async def run(ctx, args):\n" + "".join(f"    value_{n} = {n}\n" for n in range(100)) + "    return {}\n"
_MANIFEST = """\
schema_version: "1.0"
name: {name}
version: 1.0.0
purpose: Do nothing, for a measurement.
input_schema: {{type: object}}
output_schema: {{type: object}}
capabilities: []
"""


async def run(effort: Effort) -> list[Comparison]:
    """Time looks of a book that is settled, and of one that has seen nothing yet."""
    with folder() as root:
        async with opened_agent(root / "home") as agent:
            folders = [await _adopted(agent, f"neuron_{n}") for n in range(_NEURONS)]
            # So far ahead that no file was changed just now.
            assert isinstance(agent.clock, FakeClock)  # noqa: S101
            agent.clock.set(datetime.now(UTC) + timedelta(days=1))
            book = agent.services.neurons
            await book.refresh()
            rounds, states, reads = effort.slow_rounds * 3, lambda: _states(folders), lambda: _read(folders)
            floor = "the states of their 400 files"
            return [
                await compare("neuron_load", "a look at 100 neurons", book.refresh, floor, states, rounds=rounds),
                await compare(
                    "neuron_load",
                    "a look at 100 neurons of which one changed",
                    _touching(folders[0], book.refresh),
                    floor,
                    states,
                    rounds=rounds,
                ),
                await compare(
                    "neuron_load",
                    "loading 100 neurons",
                    lambda: _fresh(agent).refresh(),
                    "reading and hashing their files",
                    reads,
                    rounds=effort.slow_rounds,
                ),
            ]


def _fresh(agent: Agent) -> NeuronBook:
    """Return a book that has looked at nothing yet."""
    return Assembly(
        home=agent.home,
        clock=agent.clock,
        config=agent.services.config,
        dispatcher=agent.dispatcher,
        log=agent.log,
        lookup=system_lookup,
    ).neurons(agent.services.tools)


async def _adopted(agent: Agent, name: str) -> Path:
    files = {
        "body.py": _BODY.encode(),
        "test_birth.py": b"async def test_one(run):\n    assert await run({}) == {}\n",
        "manifest.yaml": _MANIFEST.format(name=name).encode(),
    }
    place = agent.home.neurons / name
    place.mkdir()
    signature = sign(files, neuron_key(agent.home.keys)).encode() + b"\n"
    for file, data in {**files, SIGNATURE_FILE: signature}.items():
        (place / file).write_bytes(data)
    now = agent.clock.now()
    record = NeuronRecord(
        name=name,
        version="1.0.0",
        digest=digest_of(files),
        body_hash=sha256(files["body.py"]).hexdigest(),
        status="active",
        at=now,
        born_at=now,
        reward=0.7,
        origin="adopted",
    )
    async with agent.log.transaction() as tx:
        await born(tx, record)
    return place


def _touching(place: Path, look: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
    """Return what looks after the body was written again, with the same bytes."""

    async def touched() -> None:
        (place / "body.py").write_bytes(_BODY.encode())
        await look()

    return touched


def _states(folders: list[Path]) -> None:
    for place in folders:
        for file in _FILES:
            (place / file).lstat()


def _read(folders: list[Path]) -> None:
    for place in folders:
        for file in _FILES:
            sha256((place / file).read_bytes()).digest()
