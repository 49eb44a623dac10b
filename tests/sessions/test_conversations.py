"""Messages run in order, one at a time in each conversation; commands answer beside them; nothing is doubled."""

from __future__ import annotations

import json
from typing import Any

import pytest
from messengers import FakeMessenger, until

from myclaw_core.errors import StoreError
from myclaw_core.events.types import TraceClosed, TurnStarted
from myclaw_core.runtime.messenger import Health
from myclaw_core.sessions.queue import MAX_WAITING
from myclaw_core.sessions.sessions import MAX_TEXT_CHARS
from myclaw_core.testing import FakeClock, calls, says
from myclaw_core.types.text import Text


def writing(*names: str) -> list[dict[str, Any]]:
    """Return the replies of turns that write one file each."""
    return [reply for name in names for reply in (calls(("fs_write", {"path": name, "content": name})), says("Done."))]


async def test_messages_of_one_conversation_run_in_order(open_sessions: Any) -> None:
    async with open_sessions([says(f"Answer {n}.") for n in range(5)]) as bench:
        for n in range(5):
            await bench.send(f"Question {n}")
        await bench.quiet()
        asked = [event.turn.text for event in await bench.events(TurnStarted)]
        assert await bench.waiting() == []
    assert asked == [f"Question {n}" for n in range(5)]
    assert "".join(bench.messenger.channel("fake:1", "home").texts) == "".join(f"Answer {n}." for n in range(5))


async def test_a_message_that_comes_while_a_turn_runs_waits_and_its_sender_is_told(open_sessions: Any) -> None:
    async with open_sessions([*writing("a"), says("Second."), says("Third.")]) as bench:
        bench.messenger.gate.clear()
        await bench.send("Write a")
        await bench.asking()
        await bench.send("Then this")
        await bench.send("And this")
        assert [line for line in bench.messenger.told() if line.startswith("queued")] == [
            "queued, 1 before it; /stop stops what runs and drops what waits",
            "queued, 2 before it; /stop stops what runs and drops what waits",
        ]
        bench.messenger.gate.set()
        await bench.quiet()
    assert [trace.outcome for trace in bench.ended()] == ["success"] * 3


async def test_conversations_run_side_by_side(open_sessions: Any) -> None:
    """The first one waits for an answer; the second one goes on meanwhile."""
    async with open_sessions([*writing("a")[:1], says("Elsewhere."), says("Done.")]) as bench:
        bench.messenger.gate.clear()
        await bench.send("Write a")
        await bench.asking()
        await bench.send("Hello", place="work")
        await until(lambda: bench.ended("work"))
        assert bench.ended() == []
        bench.messenger.gate.set()
        await bench.quiet()
    assert len(bench.ended()) == 1


async def test_what_comes_twice_is_acted_on_once(open_sessions: Any) -> None:
    """In whatever order the keys come, and also while the first one waits, runs or is long done."""
    async with open_sessions([says("One."), says("Two."), says("Three.")]) as bench:
        for key in ("9", "3", "9", "5", "3"):
            await bench.send(f"Message {key}", key=key)
        await bench.quiet()
        await bench.send("Message 5", key="5")
        await bench.quiet()
        asked = [event.turn.text for event in await bench.events(TurnStarted)]
    assert asked == ["Message 9", "Message 3", "Message 5"]


async def test_a_key_counts_for_its_own_messenger_only(open_agent: Any, clock: FakeClock) -> None:
    from myclaw_core.sessions.inbox import Inbox

    one, other = FakeMessenger(clock, "one"), FakeMessenger(clock, "other")
    async with open_agent() as agent:
        inbox = Inbox(agent.log)
        keys = [await inbox.receive(messenger.incoming("Hi", key="1")) for messenger in (one, other, one)]
    assert keys == ["one/000000000001", "other/000000000001", None]


async def test_the_last_thousand_keys_are_remembered(open_agent: Any, clock: FakeClock) -> None:
    """Only what came a thousand messages ago would be taken for new; a record that is damaged takes nothing at all."""
    from myclaw_core.sessions.inbox import SEEN_KEYS, Inbox

    messenger = FakeMessenger(clock)
    async with open_agent() as agent:
        inbox = Inbox(agent.log)

        async def is_new(number: int) -> bool:
            return await inbox.receive(messenger.incoming("Hi", key=str(number)), keep=False) is not None

        assert all([await is_new(number) for number in range(SEEN_KEYS + 1)])
        assert not any([await is_new(number) for number in range(1, SEEN_KEYS + 1)])
        assert await is_new(0)
        async with agent.log.transaction() as tx:
            await tx.put("inbox_seen", messenger.name, b"\xff")
        with pytest.raises(StoreError, match="backup"):
            await is_new(SEEN_KEYS + 2)


async def test_commands_answer_beside_a_running_turn(open_sessions: Any) -> None:
    async with open_sessions([*writing("a")]) as bench:
        bench.messenger.gate.clear()
        await bench.send("Write a")
        await bench.asking()
        await bench.send("/status")
        channel = bench.messenger.channel("fake:1", "home")
        await until(lambda: channel.shown)
        assert "open questions: 1" in channel.shown[0]
        assert "running since 2026-" in channel.shown[0]
        assert " s): waiting for you\n" in channel.shown[0]
        assert "wait" not in channel.shown[0].replace("waiting for you", "")
        await bench.send("Next")
        await bench.send("/status")
        await until(lambda: len(channel.shown) > 1)
        assert "- 1 message waits\n" in channel.shown[1]
        assert bench.ended() == []
        bench.messenger.gate.set()
        await bench.quiet()


async def test_stop_ends_the_running_turn_and_drops_what_waits(open_sessions: Any, home: Any) -> None:
    async with open_sessions([*writing("a")]) as bench:
        bench.messenger.gate.clear()
        await bench.send("Write a")
        await bench.asking()
        await bench.send("Second")
        await bench.send("Third")
        await bench.send("/stop")
        await bench.quiet()
        assert await bench.waiting() == []
        closed = [event.trace.outcome for event in await bench.events(TraceClosed)]
    channel = bench.messenger.channel("fake:1", "home")
    assert closed == ["abandoned"]
    assert "was stopped" in channel.shown[-1]
    assert "2 messages that waited were dropped" in channel.shown[-1]
    assert not (home.workspace / "a").exists()


async def test_stop_says_so_where_nothing_runs(open_sessions: Any) -> None:
    async with open_sessions() as bench:
        await bench.send("/stop")
        await bench.quiet()
    assert bench.messenger.channel("fake:1", "home").shown == ["Nothing runs here."]


async def test_what_is_sent_after_stop_runs(open_sessions: Any) -> None:
    async with open_sessions([*writing("a")[:1], says("Again.")]) as bench:
        bench.messenger.gate.clear()
        await bench.send("Write a")
        await bench.asking()
        await bench.send("/stop")
        await bench.send("Go on")
        bench.messenger.gate.set()
        await bench.quiet()
    assert [trace.outcome for trace in bench.ended()] == ["abandoned", "success"]


async def test_undo_stops_the_running_turn_and_takes_back_what_it_did(open_sessions: Any, home: Any) -> None:
    """The second of its actions still waits for an answer."""
    replies = [
        calls(("fs_write", {"path": "a", "content": "a"})),
        calls(("fs_write", {"path": "b", "content": "b"})),
        says("Never said."),
    ]
    async with open_sessions(replies) as bench:
        channel = bench.messenger.channel("fake:1", "home")
        await bench.send("Write a and b")
        await bench.asking()
        channel.asking.clear()
        await until((home.workspace / "a").exists)
        bench.messenger.gate.clear()
        await bench.asking()
        await bench.send("/undo")
        await bench.quiet()
    assert not (home.workspace / "a").exists()
    assert not (home.workspace / "b").exists()
    assert channel.shown[-1].startswith("The running turn was stopped.")
    assert "undone" in channel.shown[-1]


async def test_undo_of_a_turn_that_changed_nothing_leaves_the_one_before_alone(open_sessions: Any, home: Any) -> None:
    async with open_sessions(writing("a", "b")) as bench:
        await bench.send("Write a")
        await bench.quiet()
        channel = bench.messenger.channel("fake:1", "home")
        channel.asking.clear()
        bench.messenger.gate.clear()
        await bench.send("Write b")
        await bench.asking()
        await bench.send("/undo")
        await bench.quiet()
        assert (home.workspace / "a").exists()
        await bench.send("/undo")
        await bench.quiet()
    assert not (home.workspace / "a").exists()
    assert "it had changed nothing" in channel.shown[0]


async def test_a_message_waits_for_the_commands_that_came_before_it(open_sessions: Any) -> None:
    async with open_sessions([says("Fine.")]) as bench:
        await bench.send("/level read_only")
        await bench.send("Hello")
        await bench.quiet()
        (started,) = await bench.events(TurnStarted)
    assert started.turn.autonomy == "read_only"


async def test_a_full_queue_refuses_and_says_so(open_sessions: Any) -> None:
    async with open_sessions([*writing("a")]) as bench:
        bench.messenger.gate.clear()
        await bench.send("Write a")
        await bench.asking()
        for n in range(MAX_WAITING + 2):
            await bench.send(f"Message {n}")
        assert len(await bench.waiting()) == MAX_WAITING
        refused = [line for line in bench.messenger.told() if line.startswith("not taken")]
        assert refused == [f"not taken: {MAX_WAITING} messages wait already; /stop drops them"] * 2
        await bench.send("/stop")
        await bench.quiet()


async def test_a_message_that_is_too_long_is_refused_and_one_without_words_ignored(open_sessions: Any) -> None:
    async with open_sessions([says("Fine.")]) as bench:
        await bench.send("x" * (MAX_TEXT_CHARS + 1))
        await bench.send(" \n ")
        await bench.send("y" * MAX_TEXT_CHARS)
        await bench.quiet()
        assert len(await bench.events(TurnStarted)) == 1
    assert "32000 characters are the most" in bench.messenger.told()[0]


async def test_a_text_with_broken_characters_is_taken(open_sessions: Any) -> None:
    async with open_sessions([says("Fine.")]) as bench:
        await bench.send("a\ud800b\x00c")
        await bench.quiet()
        (started,) = await bench.events(TurnStarted)
    assert started.turn.text == "a?b\x00c"


async def test_a_turn_that_fails_is_one_line_and_the_next_one_runs(open_sessions: Any) -> None:
    """The script ends after the first answer; then there is a second script."""
    async with open_sessions([says("One.")]) as bench:
        for text in ("First", "Second", "/nonsense", "Third"):
            await bench.send(text)
        await bench.quiet()
        assert len(await bench.events(TurnStarted)) == 3
        assert await bench.waiting() == []
    assert bench.messenger.channel("fake:1", "home").shown == ["there is no command /nonsense; /help lists them"]


async def test_a_channel_that_raises_does_not_stop_the_queue(open_sessions: Any, monkeypatch: Any) -> None:
    async with open_sessions([says("One."), says("Two.")]) as bench:
        channel = bench.messenger.channel("fake:1", "home")

        def broken(*_given: Any) -> None:
            raise RuntimeError("the screen is gone")

        monkeypatch.setattr(channel, "end_turn", broken)
        monkeypatch.setattr(channel, "show", broken)
        monkeypatch.setattr(channel, "notice", broken)
        for text in ("First", "/status", "Second"):
            await bench.send(text)
        await bench.quiet()
        assert [event.turn.text for event in await bench.events(TurnStarted)] == ["First", "Second"]


async def test_session_says_what_is_kept_and_begins_anew(open_sessions: Any) -> None:
    async with open_sessions([says("One."), says("Two.")]) as bench:
        await bench.send("First")
        await bench.send("Second")
        await bench.quiet()
        for text in ("/session", "/session new", "/session", "/session old"):
            await bench.send(text)
            await bench.quiet()
    shown = bench.messenger.channel("fake:1", "home").shown
    assert "session since" in shown[0]
    assert "level: supervised" in shown[0]
    assert "4 messages are read with the next one" in shown[0]
    assert "A new session" in shown[1]
    assert "0 messages" in shown[2]
    assert "/session new begins another one" in shown[3]


async def test_help_and_menus_list_the_same_commands(open_sessions: Any, make_desk: Any) -> None:
    async with open_sessions() as bench:
        names = [name for name, _ in bench.reception.commands]
        desk = make_desk(bench.agent)
        assert names == [name for name, _ in desk.commands]
        assert set(names) == set(desk._commands)
        await bench.send("/help")
        await bench.quiet()
    shown = bench.messenger.channel("fake:1", "home").shown[0]
    assert all(f"`{name}`" in shown for name in names)
    assert "Ctrl-C" not in shown


@pytest.mark.parametrize("state", ["ok", "down"])
async def test_how_a_messenger_does_is_passed_on(open_sessions: Any, state: Any) -> None:
    async with open_sessions() as bench:
        health = Health(state=state, detail=Text("so it is"))
        bench.reception.health(health)
        assert bench.health == [("fake", health)]


async def test_news_go_to_everybody_who_is_served(open_sessions: Any) -> None:
    async with open_sessions() as bench:
        assert [(sender, channel.name) for sender, channel in await bench.sessions.news_channels()] == [
            ("fake:1", "fake")
        ]


async def test_small_values_of_a_messenger_are_kept(open_sessions: Any) -> None:
    async with open_sessions() as bench:
        assert await bench.reception.load("offset") is None
        await bench.reception.save("offset", b"\x00\xff")
    async with open_sessions(paired=False) as bench:
        assert await bench.reception.load("offset") == b"\x00\xff"


async def test_no_conversation_is_kept_in_memory_for_good(open_sessions: Any) -> None:
    async with open_sessions() as bench:
        for place in range(80):
            await bench.send("/help", place=f"room {place}")
            await bench.quiet()
        assert len(bench.sessions._queues) <= 65


async def test_a_message_whose_answer_has_no_way_yet_is_not_taken_and_counts_once_it_has_one(
    open_sessions: Any, monkeypatch: Any
) -> None:
    """Such as while the token of the bot is being replaced: the service must bring it again, and then it runs."""
    async with open_sessions([says("Hello.")]) as bench:
        real = bench.messenger.channel

        def gone(sender: str, place: str) -> Any:
            raise OSError("no token")

        monkeypatch.setattr(bench.messenger, "channel", gone)
        with pytest.raises(StoreError, match="fake cannot answer now: OSError: no token"):
            await bench.send("Hello", key="1")
        assert await bench.waiting() == []
        monkeypatch.setattr(bench.messenger, "channel", real)
        await bench.send("Hello", key="1")
        await bench.quiet()
        assert [trace.outcome for trace in bench.ended()] == ["success"]


async def test_no_secret_lies_in_what_a_messenger_keeps(open_sessions: Any) -> None:
    """Such as the lines of an open question, which name a path or a command."""
    secret = "sk-ant-" + "api03-" + "Zx9" * 31 + "AA"
    async with open_sessions() as bench:
        await bench.reception.save("open", json.dumps([{"lines": [f"write {secret}.md"], "id": 7}]).encode())
        await bench.reception.save("raw", b"\xff[")
        kept = await bench.reception.load("open")
        assert await bench.reception.load("raw") == b"\xff["
    assert json.loads(kept) == [{"lines": ["write «redacted:anthropic-key».md"], "id": 7}]
