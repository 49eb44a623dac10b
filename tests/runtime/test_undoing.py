"""What a trace changed is taken back, and trust hears of it."""

import asyncio

import pytest

from myclaw_core.agent import Agent
from myclaw_core.errors import UsageError
from myclaw_core.events.types import StepIntended, TraceClosed, UndoApplied
from myclaw_core.runtime.channel import Status
from myclaw_core.testing import FakeClock, RecordingChannel, calls, says

EDIT = ("fs_edit", {"path": "a.md", "old": "two", "new": "2"})


async def events(agent, kind: type) -> list:
    return [event for _, event in await agent.log.since(0) if isinstance(event, kind)]


async def test_undo_restores_the_bytes_and_is_a_child_trace(open_agent, make_desk, home, clock: FakeClock) -> None:
    channel = RecordingChannel(clock)
    replies = [calls(EDIT), calls(("fs_delete", {"path": "b.md"})), says("Done.")]
    async with open_agent(replies) as agent:
        (home.workspace / "a.md").write_bytes(b"one\r\ntwo\r\n")
        (home.workspace / "b.md").write_bytes(b"\x00\xff")
        desk = make_desk(agent, channel)
        trace = await desk.handle("Edit and delete")
        await desk.handle("/undo")
        closed = await events(agent, TraceClosed)
        applied = await events(agent, UndoApplied)

    assert (home.workspace / "a.md").read_bytes() == b"one\r\ntwo\r\n"
    assert (home.workspace / "b.md").read_bytes() == b"\x00\xff"
    assert closed[-1].trace.parent_trace_id == trace.id
    assert [(event.step_index, event.reverted, event.within_window) for event in applied] == [
        (1, True, True),
        (0, True, True),
    ]


def writing(*names: str) -> list[dict]:
    return [reply for name in names for reply in (calls(("fs_write", {"path": name, "content": name})), says("Done."))]


async def test_undo_goes_back_through_this_conversation_only(open_agent, make_desk, home, clock: FakeClock) -> None:
    """The other conversation wrote last; its work stays, whatever is taken back here."""
    channel = RecordingChannel(clock)
    async with open_agent(writing("a", "b", "c")) as agent:
        here, there = make_desk(agent, channel), make_desk(agent)
        await here.handle("Write a")
        await here.handle("Write b")
        await there.handle("Write c")
        await here.handle("/undo")
        assert [path.name for path in sorted(home.workspace.glob("[abc]"))] == ["a", "c"]
        await here.handle("/undo")
        assert [path.name for path in sorted(home.workspace.glob("[abc]"))] == ["c"]
        await here.handle("/undo")

    assert (home.workspace / "c").exists()
    assert channel.shown[-1] == "Nothing left to take back here; `/undo TRACE` for an older one."


async def test_a_conversation_that_changed_nothing_names_the_last_change_and_leaves_it(
    open_agent, make_desk, home, clock: FakeClock
) -> None:
    channel = RecordingChannel(clock)
    async with open_agent(writing("a")) as agent:
        trace = await make_desk(agent).handle("Write the first letter")
        desk = make_desk(agent, channel)
        await desk.handle("/undo")
        assert (home.workspace / "a").exists()
        short = str(trace.id)[:13]
        assert "`Write the first letter`" in channel.shown[-1]
        assert f"`/undo {short}` takes it back" in channel.shown[-1]
        await desk.handle(f"/undo {short}")
        assert not (home.workspace / "a").exists()
        with pytest.raises(UsageError, match="nothing left to take back"):
            await make_desk(agent).handle("/undo")


async def test_what_was_changed_since_is_overwritten_only_by_force(open_agent, make_desk, home, clock) -> None:
    """Until then the turn stays the one that is taken back next."""
    async with open_agent(writing("a")) as agent:
        desk = make_desk(agent)
        await desk.handle("Write a")
        (home.workspace / "a").write_text("mine")
        await desk.handle("/undo")
        assert (home.workspace / "a").read_text() == "mine"
        await desk.handle("/undo --force")

    assert not (home.workspace / "a").exists()


async def test_why_explains_a_trace_by_its_id_and_says_that_a_turn_was_stopped(open_agent, make_desk, clock) -> None:
    thinking = asyncio.Event()

    class Watching(RecordingChannel):
        def status(self, status: Status) -> None:
            if status.phase == "thinking":
                thinking.set()

    channel = Watching(clock)
    async with open_agent(writing("a", "b")) as agent:
        desk = make_desk(agent, channel)
        first = await desk.handle("Write a")
        await desk.handle("Write b")
        await desk.handle(f"/why {first.id}")
        assert "fs_write" in channel.shown[-1]
        with pytest.raises(UsageError, match="no trace starts with 'xyz'"):
            await desk.handle("/why xyz")
        thinking.clear()
        turn = asyncio.ensure_future(desk.handle("Never answered"))
        await thinking.wait()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        await desk.handle("/why")

    assert channel.shown[-1].startswith("The last turn was stopped; this is of the one before.")


async def test_a_second_undo_changes_nothing_and_says_so(open_agent, make_desk, home, clock: FakeClock) -> None:
    channel = RecordingChannel(clock)
    async with open_agent([calls(EDIT), says("Done.")]) as agent:
        (home.workspace / "a.md").write_text("two")
        desk = make_desk(agent, channel)
        trace = await desk.handle("Edit")
        await desk.handle("/undo")
        (home.workspace / "a.md").write_text("newer")
        await desk.handle(f"/undo {trace.id}")

    assert (home.workspace / "a.md").read_text() == "newer"
    assert "before" in channel.shown[-1]


async def test_undo_refuses_where_the_target_changed_since(open_agent, make_desk, home, clock: FakeClock) -> None:
    channel = RecordingChannel(clock)
    async with open_agent([calls(EDIT), says("Done.")]) as agent:
        (home.workspace / "a.md").write_text("two")
        desk = make_desk(agent, channel)
        await desk.handle("Edit")
        (home.workspace / "a.md").write_text("mine")
        await desk.handle("/undo")
        closed = await events(agent, TraceClosed)

    assert (home.workspace / "a.md").read_text() == "mine"
    assert "not undone" in channel.shown[-1]
    assert closed[-1].trace.outcome == "failed"


async def test_an_older_trace_is_undone_by_its_id(open_agent, make_desk, home, clock: FakeClock) -> None:
    replies = [
        calls(("fs_write", {"path": "a.md", "content": "a"})),
        says("Done."),
        calls(("fs_write", {"path": "b.md", "content": "b"})),
        says("Done."),
    ]
    async with open_agent(replies) as agent:
        desk = make_desk(agent)
        first = await desk.handle("Write a")
        await desk.handle("Write b")
        await desk.handle(f"/undo {first.id}")

    assert not (home.workspace / "a.md").exists()
    assert (home.workspace / "b.md").exists()


async def test_undo_within_ten_minutes_counts_and_later_only_forgets_the_destination(
    open_agent, make_desk, home, clock: FakeClock
) -> None:
    replies = [calls(("fs_write", {"path": "n/a.md", "content": str(number)})) for number in range(2)]
    async with open_agent([replies[0], says("1"), replies[1], says("2")]) as agent:
        desk = make_desk(agent)
        await desk.handle("Write")
        clock.advance(minutes=11)
        await desk.handle("/undo")
        (late,) = [
            s for key, s in (await agent.book.snapshot()).items() if key[1].endswith("n/*") and key[0] == "fs_write"
        ]
        await desk.handle("Write again")
        await desk.handle("/undo")
        (soon,) = [
            s for key, s in (await agent.book.snapshot()).items() if key[1].endswith("n/*") and key[0] == "fs_write"
        ]

    assert late.undo_rate == 0
    assert soon.undo_rate > 0


async def test_with_nothing_to_undo_one_line_says_so(open_agent, make_desk) -> None:
    async with open_agent([]) as agent:
        with pytest.raises(UsageError, match="nothing to undo"):
            await make_desk(agent).handle("/undo")
        with pytest.raises(UsageError, match="no trace starts with"):
            await make_desk(agent).handle("/undo beef")


async def test_two_processes_that_undo_at_once_count_once(open_agent, make_desk, home, clock: FakeClock) -> None:
    async with open_agent([calls(("fs_write", {"path": "a.md", "content": "new\n"})), says("Done.")]) as one:
        (home.workspace / "a.md").write_text("old\n")
        desk = make_desk(one)
        trace = await desk.handle("Write")
        async with Agent.open(home, clock=clock) as other:
            await asyncio.gather(desk.handle("/undo"), make_desk(other).handle(f"/undo {trace.id}"))
        applied = [event for _, event in await one.log.since(0) if isinstance(event, UndoApplied)]

    assert (home.workspace / "a.md").read_text() == "old\n"
    assert sum(event.reverted for event in applied) == 1


@pytest.mark.parametrize("erased", [False, True])
async def test_an_undo_record_that_was_changed_is_not_used(
    open_agent, make_desk, home, clock: FakeClock, tmp_path, erased: bool
) -> None:
    """It would restore another file. Without the record of its intent nobody can tell, and what is there counts."""
    other = tmp_path / "other.md"
    channel = RecordingChannel(clock)
    async with open_agent([calls(EDIT), says("Done.")]) as agent:
        (home.workspace / "a.md").write_text("one two")
        other.write_text("one 2")
        desk = make_desk(agent, channel)
        trace = await desk.handle("Edit")
        ((key, raw),) = await agent.log.scan("undo")
        async with agent.log.transaction() as tx:
            await tx.put("undo", key, raw.replace(str(home.workspace / "a.md").encode(), str(other).encode()))
        for head, _ in await agent.log.events(trace.id, StepIntended) if erased else ():
            await agent.log.erase(head.seq)
        await desk.handle("/undo")

    assert (home.workspace / "a.md").read_text() == "one 2"
    assert other.read_text() == ("one two" if erased else "one 2")
    assert ("its undo record was changed by something else" in channel.shown[-1]) is not erased
