"""The agent put together: what a start checks, and what a damaged record changes."""

import sqlite3
import threading

import pytest

from myclaw_core import codec
from myclaw_core.errors import StoreError
from myclaw_core.runtime.records import OpenTurn
from myclaw_core.testing import FakeClock, RecordingChannel, calls, says


def write(number: int) -> dict:
    return calls(("fs_write", {"path": "n/a.md", "content": f"{number}\n"}))


async def earn_trust(open_agent, make_desk, clock: FakeClock) -> None:
    """Three approved writes on three days."""
    for day in range(3):
        async with open_agent([write(day), says("Done.")]) as agent:
            await make_desk(agent).handle("Write")
        clock.advance(days=1)


async def decided_via(open_agent, make_desk, clock: FakeClock) -> tuple[str, str]:
    channel = RecordingChannel(clock)
    async with open_agent([write(9), says("Done.")], recover_turns=False) as agent:
        trace = await make_desk(agent, channel).handle("Write")
    decision = trace.steps[0].decision
    return decision.via, str(decision.reason)


async def test_trust_is_earned_over_restarts(open_agent, make_desk, clock: FakeClock) -> None:
    await earn_trust(open_agent, make_desk, clock)

    via, reason = await decided_via(open_agent, make_desk, clock)

    assert via == "trust_promoted"
    assert "went well 3 times" in reason


async def test_an_old_entry_that_was_changed_stops_every_promotion(
    open_agent, make_desk, home, clock: FakeClock
) -> None:
    """The change lies before the last signed checkpoint, so that only the check of the whole record can see it."""
    await earn_trust(open_agent, make_desk, clock)
    with sqlite3.connect(home.state / "events.db") as database:
        database.execute("DROP TRIGGER IF EXISTS " + trigger_on(database, "bodies"))
        database.execute("UPDATE bodies SET body = CAST(body || ' ' AS BLOB) WHERE seq = 1")
    database.close()

    via, reason = await decided_via(open_agent, make_desk, clock)

    assert via == "trust"
    assert "not whole" in reason


async def test_trust_rows_that_were_changed_stop_every_promotion(open_agent, make_desk, home, clock: FakeClock) -> None:
    await earn_trust(open_agent, make_desk, clock)
    with sqlite3.connect(home.state / "trust.db") as database:
        for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            database.execute(f"DROP TRIGGER {name}")
        database.execute("DELETE FROM events WHERE seq = 2")
    database.close()

    via, reason = await decided_via(open_agent, make_desk, clock)

    assert via == "trust"
    assert "does not check out" in reason


async def test_a_trust_store_that_is_gone_is_rebuilt_from_the_event_log(
    open_agent, make_desk, home, clock: FakeClock
) -> None:
    await earn_trust(open_agent, make_desk, clock)
    for path in home.state.glob("trust.*"):
        path.unlink()

    via, _ = await decided_via(open_agent, make_desk, clock)

    assert via == "trust_promoted"


@pytest.mark.parametrize("kind", ["rate", "never", "budget"])
async def test_a_record_that_cannot_be_read_stops_promotion_and_not_the_start(
    open_agent, make_desk, home, clock: FakeClock, kind: str
) -> None:
    await earn_trust(open_agent, make_desk, clock)
    key = "hold:00000000-0000-4000-8000-000000000001" if kind == "budget" else "garbage"
    async with open_agent([]) as agent, agent.log.transaction() as tx:
        await tx.put(kind, key, b"\xff not a record")
    channel = RecordingChannel(clock)
    async with open_agent([write(9), says("Done.")]) as agent:
        trace = await make_desk(agent, channel).handle("Write")
        notices = [str(notice) for notice in agent.notices]
    assert trace.steps[0].decision.via == "trust"
    assert "cannot be read" in str(trace.steps[0].decision.reason)
    assert kind == "never" or any("every action asks" in notice for notice in notices)


async def test_an_open_turn_that_cannot_be_read_is_kept_as_evidence(
    open_agent, make_desk, home, clock: FakeClock
) -> None:
    async with open_agent([says("Hi.")]) as agent:
        trace = await make_desk(agent).handle("Hi")
        async with agent.log.transaction() as tx:
            await tx.put("turn", str(trace.id), codec.dumps(OpenTurn(owner="another-boot:1:1")))
    with sqlite3.connect(home.state / "events.db") as database:
        database.execute("DROP TRIGGER IF EXISTS " + trigger_on(database, "bodies"))
        database.execute("UPDATE bodies SET body = CAST('{}' AS BLOB) WHERE seq = 1")
    database.close()
    async with open_agent([]) as agent:
        assert any("cannot be read" in str(notice) for notice in agent.notices)
        assert [key for key, _ in await agent.log.scan("turn")] == [str(trace.id)]


async def test_trust_that_cannot_follow_promotes_nothing(open_agent, make_desk, home, clock: FakeClock) -> None:
    await earn_trust(open_agent, make_desk, clock)
    async with open_agent([write(8), says("Done."), write(9), says("Done.")]) as agent:
        desk = make_desk(agent)
        with sqlite3.connect(home.state / "trust.db") as database:
            database.execute("ALTER TABLE events RENAME TO elsewhere")
        database.close()
        await desk.handle("Write")
        trace = await desk.handle("Write")

    assert trace.steps[0].decision.via == "trust"
    assert "does not know the newest events" in str(trace.steps[0].decision.reason)


async def test_a_plugin_that_fails_to_load_is_an_event(open_agent, make_desk, home, clock: FakeClock) -> None:
    from attrs import evolve

    from myclaw_core.compose import load_plugins
    from myclaw_core.events.types import PluginFault
    from myclaw_core.plugins import PluginReport

    failed = PluginReport(
        name="broken",
        distribution="myclaw-broken",
        version="1",
        state="failed",
        hooks=(),
        error="cannot",
        hint="mend it",
    )
    plugins = load_plugins(home)
    async with open_agent([], plugins=evolve(plugins, reports=(*plugins.reports, failed))) as agent:
        faults = [event for _, event in await agent.log.since(0) if isinstance(event, PluginFault)]

    assert [(fault.plugin, fault.hook) for fault in faults] == [("broken", "load")]


def trigger_on(database: sqlite3.Connection, table: str) -> str:
    query = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?"
    return database.execute(query, (table,)).fetchone()[0]


async def test_a_start_that_fails_half_way_leaves_no_store_open(open_agent, make_desk, home) -> None:
    """An open store holds a thread, and that would keep the program from ending."""
    async with open_agent([]):
        before = set(threading.enumerate())
    for path in home.state.glob("trust.db*"):
        path.unlink()
    (home.state / "trust.db").write_bytes(b"no database at all" * 500)

    with pytest.raises(StoreError):
        async with open_agent([]):
            pass

    ours = [thread for thread in set(threading.enumerate()) - before if not thread.name.startswith("asyncio")]
    for thread in ours:
        thread.join(timeout=10)
    assert not any(thread.is_alive() for thread in ours)
