"""Hook implementations; their bodies are imported at first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from myclaw_core import hookimpl

if TYPE_CHECKING:
    from myclaw_core.events.store import EventStore
    from myclaw_core.host import Host
    from myclaw_core.trust.store import TrustBackend

__all__ = ["myclaw_store"]


@hookimpl
def myclaw_store(kind: Literal["events", "trust"], host: Host) -> EventStore | TrustBackend:
    """Offer `events.db` and `trust.db` in the state folder."""
    if kind == "events":
        from myclaw_sqlite.event_store import SqliteEventStore

        return SqliteEventStore(host.home.state / "events.db")
    from myclaw_sqlite.trust_store import TrustStoreDb

    return TrustStoreDb(host.home.state / "trust.db")
