"""A home with neurons that were adopted: signed with its key, on record, without what leads there."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

from attrs import frozen
from myclaw_sqlite.event_store import SqliteEventStore
from myclaw_sqlite.journal_store import SqliteJournals
from signed_neurons import neuron_files, write_neuron

from myclaw_core.agent import Agent
from myclaw_core.clock import Clock
from myclaw_core.events.keys import load_or_create_key
from myclaw_core.events.log import EventLog
from myclaw_core.neurons.book import NeuronBook
from myclaw_core.neurons.journals import Journals
from myclaw_core.neurons.records import born, find
from myclaw_core.neurons.signing import digest_of, neuron_key
from myclaw_core.neurons.types import Invocation, NeuronRecord, VerifiedNeuron
from myclaw_core.paths import Home
from myclaw_core.runtime.shelf import ToolShelf
from myclaw_core.runtime.tool import Tool

__all__ = ["AdoptedNeurons", "in_agent", "opened_neurons", "run_of"]

TRACE = UUID(int=7)


def run_of(outcome: Any, at: datetime | None = None) -> Invocation:
    """Return a run that ended so."""
    at = at or datetime(2026, 1, 5, 9, tzinfo=UTC)
    return Invocation(trace_id=TRACE, at=at, caller="core", outcome=outcome, wall_ms=12)


@frozen(kw_only=True)
class AdoptedNeurons:
    """The log, the shelf and the book of one process."""

    home: Home
    clock: Clock
    log: EventLog
    shelf: ToolShelf
    book: NeuronBook
    journals: Journals

    async def adopt(self, name: str = "word_count", files: Mapping[str, bytes] | None = None, **record: Any) -> Path:
        """Write and sign a neuron and book that it was approved."""
        given = dict(files or neuron_files(name))
        folder = write_neuron(self.home.neurons / name, given, neuron_key(self.home.keys))
        await self.approve(name, given, **record)
        return folder

    async def approve(self, name: str, files: Mapping[str, bytes], **record: Any) -> None:
        """Book that these files were approved."""
        now = self.clock.now()
        fields: dict[str, Any] = {
            "name": name,
            "version": "1.0.0",
            "digest": digest_of(files),
            "body_hash": sha256(files["body.py"]).hexdigest(),
            "status": "active",
            "at": now,
            "born_at": now,
            "reward": 0.8,
            "origin": "adopted",
            "trace_id": TRACE,
        }
        async with self.log.transaction() as tx:
            await born(tx, NeuronRecord(**(fields | record)))

    async def record(self, name: str = "word_count") -> NeuronRecord:
        """Return what is on record."""
        found = await find(self.log, name)
        assert found is not None
        return found

    def neuron(self, name: str = "word_count") -> VerifiedNeuron:
        """Return a neuron on the shelf."""
        neuron = self.shelf[f"neuron:{name}"].neuron
        assert neuron is not None
        return neuron

    @property
    def names(self) -> list[str]:
        """Return the names of the neurons that can be called."""
        return sorted(name.removeprefix("neuron:") for name in self.shelf if name.startswith("neuron:"))

    async def refreshed(self) -> list[str]:
        """Refresh, and return the names of the neurons that can be called."""
        await self.book.refresh()
        return self.names


def in_agent(agent: Agent) -> AdoptedNeurons:
    """Return the neurons of an opened agent."""
    shelf, book = agent.services.tools, agent.services.neurons
    assert isinstance(book, NeuronBook)
    journals = Journals(SqliteJournals(), agent.home, agent.clock)
    return AdoptedNeurons(home=agent.home, clock=agent.clock, log=agent.log, shelf=shelf, book=book, journals=journals)


@asynccontextmanager
async def opened_neurons(
    home: Home, clock: Clock, *, tools: Mapping[str, Tool] | None = None, programs: tuple[str, ...] = ()
) -> AsyncIterator[AdoptedNeurons]:
    """Open a home as one more process would."""
    home.create()
    key = load_or_create_key(home.keys / "events.key")
    log = EventLog(SqliteEventStore(home.state / "events.db"), key, clock, anchor=home.state / "events.head")
    await log.open()
    try:
        shelf, journals = ToolShelf(tools or {}), Journals(SqliteJournals(), home, clock)
        book = NeuronBook(log=log, clock=clock, home=home, shelf=shelf, journals=journals, programs=programs)
        yield AdoptedNeurons(home=home, clock=clock, log=log, shelf=shelf, book=book, journals=journals)
    finally:
        await log.close()
