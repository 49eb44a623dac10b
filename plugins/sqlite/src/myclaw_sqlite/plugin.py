"""Hook implementations; their bodies are imported at first use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from myclaw_core import hookimpl

if TYPE_CHECKING:
    from myclaw_core.embedding.store import VectorStore
    from myclaw_core.events.store import EventStore
    from myclaw_core.host import Host
    from myclaw_core.neurons.journals import JournalStore
    from myclaw_core.trust.store import TrustBackend
    from myclaw_core.types.text import Text

__all__ = ["myclaw_nightly", "myclaw_store"]


@hookimpl
async def myclaw_nightly(host: Host) -> Sequence[Text]:
    """Look both files over and keep their statistics fresh."""
    from myclaw_sqlite.nightly import look_after

    return await look_after((host.home.state / "events.db", host.home.state / "trust.db"))


@hookimpl
def myclaw_store(
    kind: Literal["events", "trust", "journals", "vectors"], host: Host
) -> EventStore | TrustBackend | JournalStore | VectorStore:
    """Offer `events.db`, `trust.db` and `vectors.db` in the state folder, and the journals of neurons."""
    if kind == "vectors":
        from myclaw_sqlite.vector_store import SqliteVectors

        return SqliteVectors(host.home.state / "vectors.db")
    if kind == "journals":
        from myclaw_sqlite.journal_store import SqliteJournals

        return SqliteJournals()
    if kind == "events":
        from myclaw_sqlite.event_store import SqliteEventStore

        return SqliteEventStore(host.home.state / "events.db")
    from myclaw_sqlite.trust_store import TrustStoreDb

    return TrustStoreDb(host.home.state / "trust.db")
