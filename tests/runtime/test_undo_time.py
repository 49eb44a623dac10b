"""How long a turn can be taken back, and what becomes of a full undo store."""

from __future__ import annotations

from typing import Any

from myclaw_core.paths import Home
from myclaw_core.testing import FakeClock, RecordingChannel, calls, says
from myclaw_core.undo.records import UNDO_KIND
from myclaw_core.undo.sweep import UndoSweeper

SMALL = "[limits]\nundo_cap_bytes = 1000\n"


def over(*names: str) -> list[dict[str, Any]]:
    """Return turns that write each file over."""
    return [reply for name in names for reply in (calls(("fs_write", {"path": name, "content": "x"})), says("Done."))]


async def sweep(agent: Any) -> None:
    await UndoSweeper.of(agent.log, agent.home, agent.clock, agent.services.config).sweep()


async def test_what_has_expired_is_said_plainly_and_nothing_is_changed(
    open_agent: Any, make_desk: Any, home: Home, clock: FakeClock
) -> None:
    """And `/undo` does not stop there: it goes to the next turn that is left."""
    channel = RecordingChannel(clock)
    async with open_agent(over("a", "b")) as agent:
        (home.workspace / "a").write_text("old")
        desk = make_desk(agent, channel)
        await desk.handle("Write a")
        clock.advance(days=31)
        await desk.handle("Write b")
        clock.advance(hours=13)
        await sweep(agent)
        await desk.handle("/undo")
        assert not (home.workspace / "b").exists()
        await desk.handle("/undo")
        assert (
            "not undone (`it can no longer be undone: what was there before is kept for 30 days`)" in channel.shown[-1]
        )
        assert (home.workspace / "a").read_text() == "x"
        await desk.handle("/undo")

    assert channel.shown[-1].startswith("Nothing left to take back here")


async def test_a_full_store_lets_go_of_what_has_expired_when_room_is_needed(
    open_agent: Any, make_desk: Any, home: Home, clock: FakeClock
) -> None:
    """No night has come: the change can be undone all the same."""
    async with open_agent([*over("a"), says("Hello."), *over("b")], SMALL) as agent:
        for name in "ab":
            (home.workspace / name).write_text(name * 700)
        desk = make_desk(agent)
        await desk.handle("Write a")
        clock.advance(days=31)
        await desk.handle("Hello")
        clock.advance(hours=13)
        trace = await desk.handle("Write b")
        assert [effect.reversibility for effect in trace.steps[-1].effects] == ["reversible"]
        assert len(await agent.log.scan(UNDO_KIND)) == 1
        await desk.handle("/undo")

    assert (home.workspace / "b").read_text() == "b" * 700


async def test_a_full_store_of_what_can_still_be_undone_is_not_emptied(
    open_agent: Any, make_desk: Any, home: Home, clock: FakeClock
) -> None:
    """The change that does not fit is asked about as one that cannot be undone."""
    channel = RecordingChannel(clock)
    async with open_agent(over("a", "b"), SMALL) as agent:
        for name in "ab":
            (home.workspace / name).write_text(name * 700)
        desk = make_desk(agent, channel, level="full")
        first = await desk.handle("Write a")
        clock.advance(days=2)
        trace = await desk.handle("Write b")
        assert [effect.reversibility for effect in trace.steps[-1].effects] == ["irreversible"]
        assert len(channel.cards) == 1
        await desk.handle(f"/undo {first.id}")

    assert (home.workspace / "a").read_text() == "a" * 700
