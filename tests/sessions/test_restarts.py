"""After a restart: what waited runs, what was cut off is told and not run again, and the conversation goes on."""

from __future__ import annotations

import asyncio
from typing import Any

from attrs import evolve
from messengers import until

from myclaw_core.events.types import TraceClosed, TurnStarted
from myclaw_core.runtime.traces import new_trace
from myclaw_core.sessions.kept import KeptSessions
from myclaw_core.testing import calls, says

WRITE = calls(("fs_write", {"path": "a", "content": "a"}))
SECRET = "sk-ant-" + "api03-" + "Zx9" * 31 + "AA"


async def test_what_waits_runs_after_the_restart_in_order(open_sessions: Any) -> None:
    """Received before the start, by a messenger that was quicker."""
    async with open_sessions([says("One."), says("Two.")], start=False) as bench:
        await bench.send("First")
        await bench.send("Second")
        assert len(await bench.waiting()) == 2
        assert not bench.sessions.busy
        await bench.sessions.start()
        await bench.quiet()
        assert [event.turn.text for event in await bench.events(TurnStarted)] == ["First", "Second"]
        assert await bench.waiting() == []


async def test_a_graceful_stop_closes_what_runs_and_keeps_what_waits(open_sessions: Any) -> None:
    async with open_sessions([WRITE, says("Second."), says("Third.")]) as bench:
        bench.messenger.gate.clear()
        await bench.send("First")
        await bench.asking()
        await bench.send("Second")
        await bench.sessions.stop()
        await bench.send("Third")
        assert [event.trace.outcome for event in await bench.events(TraceClosed)] == ["abandoned"]
        assert len(await bench.waiting()) == 2
        assert "as the program ends here" in bench.messenger.told()[-1]
    bench.messenger.gate.set()
    async with open_sessions([says("Second."), says("Third.")], paired=False) as bench:
        await bench.quiet()
        assert [event.turn.text for event in await bench.events(TurnStarted)] == ["First", "Second", "Third"]
        assert await bench.waiting() == []
    assert not any("worked on" in line for line in bench.messenger.told())


async def test_a_turn_that_a_crash_cut_off_is_told_once_and_not_run_again(open_sessions: Any, crash: Any) -> None:
    """What waited behind it runs."""
    async with open_sessions([WRITE]) as bench:
        bench.messenger.gate.clear()
        await bench.send("Write a, please")
        await bench.asking()
        await bench.send("And then?")
        put_back = crash()
    put_back()
    bench.messenger.gate.set()
    for _ in range(2):
        async with open_sessions([says("Then.")], paired=False) as bench:
            await bench.quiet()
            assert await bench.waiting() == []
            started = await bench.events(TurnStarted)
            closed = [event.trace.outcome for event in await bench.events(TraceClosed)]
        lines = [line for line in bench.messenger.told() if "worked on 'Write a, please'" in line]
        assert [event.turn.text for event in started] == ["Write a, please", "And then?"]
        assert closed == ["interrupted", "success"]
        assert len(lines) == 1
    assert f"/undo {str(started[0].trace_id)[:13]}" in lines[0]


async def test_after_a_crash_an_undo_takes_back_what_was_cut_off_and_not_the_turn_before(
    open_sessions: Any, crash: Any
) -> None:
    """It did one thing and was about to ask for another; the words of the person are only `/undo`."""
    one, two, three = (calls(("fs_write", {"path": name, "content": "x"})) for name in ("one", "two", "three"))
    async with open_sessions([one, says("Written."), two, three]) as bench:
        await bench.send("First")
        await bench.quiet()
        channel, asked = bench.messenger.channel("fake:1", "home"), 0

        async def second_stays_open(cards: Any, submit: Any, answer: Any = channel.ask) -> None:
            nonlocal asked
            asked += 1
            if asked == 2:
                bench.messenger.gate.clear()
            await answer(cards, submit)

        channel.ask = second_stays_open
        await bench.send("Second")
        await until(lambda: asked == 2)
        put_back = crash()
    put_back()
    bench.messenger.gate.set()
    left = []
    for _ in range(2):
        async with open_sessions(paired=False) as bench:
            await bench.send("/undo")
            await bench.quiet()
            left.append({path.name for path in bench.agent.home.workspace.iterdir()} & {"one", "two", "three"})
    assert left == [{"one"}, set()]


async def test_a_turn_that_failed_just_before_the_end_is_not_told_as_done(open_sessions: Any) -> None:
    async with open_sessions([]) as bench:
        await bench.send("What is it?")
        await bench.quiet()
        (trace,) = bench.ended()
        kept = KeptSessions(bench.agent.log, bench.agent.clock, bench.agent.services.levels)
        (record,) = await kept.all()
        await kept.put(evolve(record, running=trace.id))
    async with open_sessions(paired=False) as bench:
        await bench.quiet()
    assert "which was not done to its end" in bench.messenger.channel("fake:1", "home").notices[-1]


async def test_a_slash_command_that_ran_a_turn_is_nothing_that_was_said(open_sessions: Any) -> None:
    """The model is not given it after a restart, as it was not before."""
    async with open_sessions([says("One.")]) as bench:
        await bench.send("First")
        await bench.quiet()
        kept = KeptSessions(bench.agent.log, bench.agent.clock, bench.agent.services.levels)
        turn = evolve(
            (await bench.events(TurnStarted))[0].turn, id=bench.agent.clock.new_id(), text="/pending", message_key=""
        )
        services = bench.agent.services
        async with services.recorder(new_trace(turn, services.plugins, "")).during(turn):
            pass
        (record,) = await kept.all()
        await kept.put(evolve(record, trace_ids=(*record.trace_ids, turn.id)))
    async with open_sessions(paired=False) as bench:
        await bench.send("/session")
        await bench.quiet()
    assert "2 messages are read" in bench.messenger.channel("fake:1", "home").shown[-1]


async def test_an_answer_that_was_given_just_before_the_end_is_shown_again(open_sessions: Any) -> None:
    async with open_sessions([says("The answer is 42.")]) as bench:
        await bench.send("What is it?")
        await bench.quiet()
        (trace,) = bench.ended()
        kept = KeptSessions(bench.agent.log, bench.agent.clock, bench.agent.services.levels)
        (record,) = await kept.all()
        await kept.put(evolve(record, running=trace.id))
    async with open_sessions(paired=False) as bench:
        await bench.quiet()
    channel = bench.messenger.channel("fake:1", "home")
    assert "just after 'What is it?'" in channel.notices[-1]
    assert channel.shown == ["The answer is 42."]


async def test_the_conversation_goes_on_where_it_was(open_sessions: Any) -> None:
    """The model is given what was said before, and /undo and /why speak of it."""
    async with open_sessions([WRITE, says("Written.")]) as bench:
        await bench.send("/level supervised")
        await bench.send("Write a")
        await bench.quiet()
    async with open_sessions([{"text": "Yes.", "expect": "Did you?"}], paired=False) as bench:
        await bench.send("Did you?")
        await bench.quiet()
        first, second = await bench.events(TurnStarted)
        await bench.send("/session")
        await bench.send("/why")
        await bench.send("/undo")
        await bench.quiet()
    shown = bench.messenger.channel("fake:1", "home").shown
    assert first.turn.session_id == second.turn.session_id
    assert "6 messages" in shown[1]
    assert "fs_write" in shown[2]
    assert "undone" in shown[3]
    assert not (bench.agent.home.workspace / "a").exists()


async def test_what_a_restored_conversation_read_outside_still_taints(open_sessions: Any, home: Any) -> None:
    async with open_sessions([calls(("fs_read", {"path": "n.md"})), says("Read.")]) as bench:
        (home.workspace / "n.md").write_text("words from somewhere\n")
        await bench.send("Read n.md")
        await bench.quiet()
    async with open_sessions([WRITE, says("Done.")], paired=False) as bench:
        await bench.send("Write a")
        await bench.quiet()
        assert bench.ended()[-1].steps[0].tainted


async def test_a_new_session_stays_new_over_a_restart(open_sessions: Any) -> None:
    async with open_sessions([says("One.")]) as bench:
        await bench.send("First")
        await bench.quiet()
        await bench.send("/session new")
        await bench.quiet()
    async with open_sessions(paired=False) as bench:
        await bench.send("/session")
        await bench.quiet()
    assert "0 messages" in bench.messenger.channel("fake:1", "home").shown[-1]


async def test_a_lower_level_of_a_conversation_lasts_and_a_higher_one_does_not(open_sessions: Any) -> None:
    for level, after in (("read_only", "read_only"), ("full", "supervised")):
        async with open_sessions() as bench:
            await bench.send(f"/level {level}")
            await bench.quiet()
        async with open_sessions() as bench:
            await bench.send("/level")
            await bench.quiet()
        assert bench.messenger.channel("fake:1", "home").shown[-1].startswith(f"level: {after}")


async def test_a_message_with_a_secret_runs_whole_and_is_never_on_disk(open_sessions: Any, home: Any) -> None:
    """Where the program ended before its turn, it is asked for again."""
    async with open_sessions([{"text": "Fine.", "expect": SECRET}]) as bench:
        await bench.send(f"My key is {SECRET}")
        await bench.quiet()
        assert [trace.outcome for trace in bench.ended()] == ["success"]
        await bench.sessions.stop()
        await bench.send(f"Again: {SECRET}")
        on_disk = b"".join(path.read_bytes() for path in home.state.glob("events.db*"))
    assert SECRET.encode() not in on_disk
    async with open_sessions(paired=False) as bench:
        await bench.quiet()
        assert await bench.waiting() == []
    assert "held a secret" in bench.messenger.told()[-1]


async def test_records_that_cannot_be_read_cost_one_message_or_one_session_at_most(open_sessions: Any) -> None:
    async with open_sessions([says("One.")]) as bench:
        await bench.send("First")
        await bench.quiet()
        await bench.sessions.stop()
        await bench.send("Second")
        async with bench.agent.log.transaction() as tx:
            await tx.put("inbox", "fake/000000000000", b"\xff no message")
            for key, _ in await tx.scan("session"):
                await tx.put("session", key, b"\xff no session")
    async with open_sessions([says("Two.")], paired=False) as bench:
        await bench.quiet()
        assert [event.turn.text for event in await bench.events(TurnStarted)] == ["First", "Second"]
        assert await bench.waiting() == ["fake/000000000000"]


async def test_messages_of_a_messenger_that_is_not_there_wait_on(open_sessions: Any) -> None:
    async with open_sessions(start=False) as bench:
        await bench.send("First")
        async with bench.agent.log.transaction() as tx:
            for key, raw in await tx.scan("inbox"):
                await tx.delete("inbox", key)
                await tx.put("inbox", "other/000000000001", raw.replace(b'"channel":"fake"', b'"channel":"other"'))
        await bench.sessions.start()
        await bench.quiet()
        assert await bench.waiting() == ["other/000000000001"]


async def test_two_that_want_one_message_begin_one_turn(open_sessions: Any, make_desk: Any) -> None:
    """The second is refused in the transaction that would begin it."""
    async with open_sessions([says("One.")], start=False) as bench:
        await bench.send("First")
        (key,) = await bench.waiting()
        desks = [make_desk(bench.agent) for _ in range(2)]
        results = await asyncio.gather(
            *(desk.handle("First", message_key=key) for desk in desks), return_exceptions=True
        )
        assert len(await bench.events(TurnStarted)) == 1
    assert sum("acted on already" in str(result) for result in results) == 1


async def test_a_conversation_that_cannot_be_opened_stops_no_other_and_its_message_waits(
    open_sessions: Any, monkeypatch: Any
) -> None:
    """A place that its messenger cannot make out, such as one of a damaged record."""
    async with open_sessions([says("Hello.")], start=False) as bench:
        await bench.send("First", place="nowhere")
        await bench.send("Second")
        real = bench.messenger.channel

        def channel(sender: str, place: str) -> Any:
            return real(sender, place) if place == "home" else int(place)

        monkeypatch.setattr(bench.messenger, "channel", channel)
        await bench.sessions.start()
        await bench.quiet()
        assert [event.turn.text for event in await bench.events(TurnStarted)] == ["Second"]
        assert len(await bench.waiting()) == 1
