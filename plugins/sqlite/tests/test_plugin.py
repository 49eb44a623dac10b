"""The hooks of the plugin."""

from __future__ import annotations

from pathlib import Path

from myclaw_sqlite import plugin
from myclaw_sqlite.event_store import SqliteEventStore
from myclaw_sqlite.journal_store import SqliteJournals
from myclaw_sqlite.trust_store import TrustStoreDb

from myclaw_core.host import Host
from myclaw_core.paths import Home
from myclaw_core.testing import FakeClock


async def test_hook_myclaw_store_offers_both_stores_in_the_state_folder_and_journals_anywhere(tmp_path: Path) -> None:
    """Nothing is opened before it is used."""
    home = Home.at(tmp_path)
    home.create()
    host = Host(plugin="sqlite", config={}, home=home, clock=FakeClock(), emit=lambda line: None)
    events, trust = plugin.myclaw_store("events", host), plugin.myclaw_store("trust", host)
    assert isinstance(events, SqliteEventStore)
    assert isinstance(trust, TrustStoreDb)
    assert isinstance(plugin.myclaw_store("journals", host), SqliteJournals)
    for store in (events, trust):
        await store.open()
        await store.close()
    assert {"events.db", "trust.db"} <= {file.name for file in home.state.iterdir()}
