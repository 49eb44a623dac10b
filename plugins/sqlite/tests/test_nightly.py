"""What is looked after once a night."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from myclaw_sqlite import plugin
from myclaw_sqlite.event_store import SqliteEventStore
from myclaw_sqlite.trust_store import TrustStoreDb

from myclaw_core.host import Host
from myclaw_core.paths import Home
from myclaw_core.testing import FakeClock


@pytest.fixture
async def host(tmp_path: Path) -> Host:
    """Return the services of the plugin in a home with both files."""
    home = Home.at(tmp_path)
    home.create()
    for store in (SqliteEventStore(home.state / "events.db"), TrustStoreDb(home.state / "trust.db")):
        await store.open()
        await store.close()
    return Host(plugin="sqlite", config={}, home=home, clock=FakeClock(), emit=lambda line: None)


async def test_hook_myclaw_nightly_has_nothing_to_tell_of_sound_files(host: Host) -> None:
    """Also where it is done twice, and while the files are in use."""
    store = SqliteEventStore(host.home.state / "events.db")
    await store.open()

    assert [await plugin.myclaw_nightly(host), await plugin.myclaw_nightly(host)] == [[], []]

    async with store.transaction() as tx:
        await tx.put("kind", "key", b"value")
    assert await store.get("kind", "key") == b"value"
    await store.close()


async def test_files_that_do_not_exist_are_not_made(tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    home.create()

    assert await plugin.myclaw_nightly(Host(plugin="sqlite", config={}, home=home, clock=FakeClock(), emit=print)) == []
    assert list(home.state.glob("*.db")) == []


@pytest.mark.parametrize("damage", ["pages", "header"])
async def test_a_damaged_file_is_told_and_left_as_it_is(host: Host, damage: str) -> None:
    """Pages in the middle overwritten, or no database any more."""
    path = host.home.state / "trust.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(path.read_bytes())
    start = 4096 if damage == "pages" else 0
    content[start : start + 4096] = b"\xa5" * 4096
    path.write_bytes(content)

    (line,) = await plugin.myclaw_nightly(host)

    assert str(line).startswith(f"{path} is damaged: ")
    assert "\n" not in str(line)
    assert path.read_bytes() == content
