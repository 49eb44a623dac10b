"""Every session follows the standing level, and a turn falls back with it at its next decision."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest
from attrs import evolve

from myclaw_core.agent import Agent
from myclaw_core.approval.types import Reply
from myclaw_core.errors import UsageError
from myclaw_core.events.types import TraceClosed
from myclaw_core.runtime.model import ModelReply, ModelRequest
from myclaw_core.runtime.types import Message, ToolCall, Usage
from myclaw_core.testing import FakeClock, RecordingChannel, calls, says

HOUR = timedelta(hours=1)


def write(path: str) -> tuple[str, dict[str, object]]:
    return ("fs_write", {"path": path, "content": "text\n"})


class Writer:
    """A model that writes one file a message; before each something happens."""

    name = "scripted"
    free = True

    def __init__(self, *before: Callable[[], Any]) -> None:
        self._before = list(enumerate(before))

    def missing(self) -> None:
        return None

    async def complete(self, request: ModelRequest, on_text: Any) -> ModelReply:
        if not self._before:
            return self._reply(request, "end_turn")
        number, happens = self._before.pop(0)
        if (awaited := happens()) is not None:
            await awaited
        args = {"path": f"{number}.md", "content": "text\n"}
        return self._reply(request, "tool_use", ToolCall(id=str(number), tool="fs_write", args=args))

    def _reply(self, request: ModelRequest, stop_reason: Any, *tool_calls: ToolCall) -> ModelReply:
        message = Message(role="assistant", text="", tool_calls=tool_calls)
        return ModelReply(message=message, stop_reason=stop_reason, usage=Usage(), model=request.model)

    async def close(self) -> None:
        pass


def writing(agent: Agent, *before: Callable[[], Any]) -> Agent:
    model = Writer(*before)
    return evolve(agent, services=evolve(agent.services, provider=model))


def passing(clock: FakeClock, minutes: int) -> Callable[[], None]:
    """Return what lets time pass on the wall only: the longest time of a turn is not what is tested."""
    return lambda: clock.set(clock.now() + timedelta(minutes=minutes))


def nothing() -> None:
    """Happen not."""


def decided(trace: Any) -> Sequence[tuple[str, str]]:
    return [(step.decision.verdict, step.decision.action.autonomy) for step in trace.steps]


async def test_a_session_runs_at_the_standing_level(open_agent, make_desk, clock: FakeClock) -> None:
    """Also one that began before it was set; the trace says so."""
    channel = RecordingChannel(clock)
    replies = [calls(write("a.md")), says("Done."), calls(write("b.md")), says("Done.")]
    async with open_agent(replies) as agent:
        desk = make_desk(agent, channel, level=None)
        before = await desk.handle("Write a")
        await agent.services.levels.begin("cli:me", "full", HOUR)
        after = await desk.handle("Write b")

    assert decided(before) == [("approve_required", "supervised")]
    assert decided(after) == [("allow", "full")]
    assert after.autonomy == "full"
    assert len(channel.cards) == 1


async def test_what_cannot_be_undone_is_asked_all_the_same(open_agent, make_desk, home, clock: FakeClock) -> None:
    """As at every level: here nothing may be kept of what is overwritten."""
    channel = RecordingChannel(clock, lambda card: False)
    home.workspace.mkdir(parents=True)
    (home.workspace / "a.md").write_text("mine\n")
    replies = [calls(write("a.md")), says("Not done.")]
    async with open_agent(replies, config="[limits]\nundo_cap_bytes = 0\n") as agent:
        await agent.services.levels.begin("cli:me", "full", HOUR)
        trace = await make_desk(agent, channel, level=None).handle("Write a")

    assert decided(trace) == [("approve_required", "full")]
    assert (home.workspace / "a.md").read_text() == "mine\n"


async def test_it_falls_back_by_itself_in_the_middle_of_a_turn(open_agent, make_desk, clock: FakeClock) -> None:
    """At the next decision."""
    channel = RecordingChannel(clock)
    async with open_agent([]) as opened:
        agent = writing(opened, *(passing(clock, minutes) for minutes in (10, 40, 40)))
        await agent.services.levels.begin("cli:me", "full", HOUR)
        trace = await make_desk(agent, channel, level=None).handle("Write three")

    assert decided(trace) == [("allow", "full"), ("allow", "full"), ("approve_required", "supervised")]
    assert len(channel.cards) == 1


async def test_it_falls_back_between_the_judgement_and_the_action(open_agent, make_desk, clock: FakeClock) -> None:
    """Both calls were judged together; while the first one was asked about, the time ran out."""
    channel = RecordingChannel(clock)
    outside = ("fs_read", {"path": "/etc/hostname"})
    async with open_agent([calls(outside, write("b.md")), says("Done.")]) as agent:
        await agent.services.levels.begin("cli:me", "full", timedelta(seconds=4))
        trace = await make_desk(agent, channel, level=None).handle("Read and write")

    assert [card.request.draft.action.tool_name for card in channel.cards] == ["fs_read", "fs_write"]
    assert decided(trace)[1] == ("approve_required", "supervised")


async def test_ended_by_hand_elsewhere_it_ends_in_a_running_turn_too(
    open_agent, make_desk, home, clock: FakeClock
) -> None:
    """By another agent over the same home."""
    async with open_agent([]) as opened, Agent.open(home, clock=clock, recover_turns=False) as other:
        levels = other.services.levels
        agent = writing(opened, nothing, lambda: levels.end("cli:me"))
        await levels.begin("cli:me", "full", HOUR)
        trace = await make_desk(agent, level=None).handle("Write two")

    assert decided(trace) == [("allow", "full"), ("approve_required", "supervised")]


async def test_a_turn_that_runs_is_not_raised(open_agent, make_desk, clock: FakeClock) -> None:
    """What was judged may only get stricter; the next message has the new level."""
    async with open_agent([]) as opened:
        levels = opened.services.levels
        agent = writing(opened, lambda: levels.begin("cli:me", "full", HOUR), nothing)
        desk = make_desk(agent, level=None)
        trace = await desk.handle("Write two")

    assert decided(trace)[0] == ("approve_required", "supervised")
    assert decided(trace)[1][1] == "supervised"


@pytest.mark.parametrize(("chosen", "standing"), [("read_only", "full"), ("full", "read_only")])
async def test_a_level_that_was_chosen_for_a_conversation_goes_before_the_standing_one(
    open_agent, make_desk, clock: FakeClock, chosen: Any, standing: Any
) -> None:
    """Whoever chose it meant it."""
    async with open_agent([calls(write("a.md")), says("Done.")]) as agent:
        await agent.services.levels.begin("cli:me", standing, HOUR)
        trace = await make_desk(agent, level=chosen).handle("Write a")

    assert decided(trace)[0][1] == chosen


async def test_a_raise_is_asked_with_its_cost_and_less_is_not(open_agent, make_desk, clock: FakeClock) -> None:
    """It holds for this conversation from the next message on."""
    channel = RecordingChannel(clock)
    async with open_agent([calls(write("a.md")), says("Done.")]) as agent:
        desk = make_desk(agent, channel, level=None)
        for command in ("/level", "/level full", "/level full", "/level read_only", "/level supervised", "/level full"):
            await desk.handle(command)
        with pytest.raises(UsageError, match="level is one of read_only, supervised, full"):
            await desk.handle("/level high")
        trace = await desk.handle("Write a")
        other = await agent.services.levels.now()
        outcomes = [event.trace.outcome for _, event in await agent.log.since(0) if isinstance(event, TraceClosed)]

    assert channel.shown[0] == "level: supervised"
    assert channel.shown[1:] == [
        f"level {level} in this conversation" for level in ("full", "full", "read_only", "supervised", "full")
    ]
    assert [str(card.request.draft.summary) for card in channel.cards] == [
        "raise the level of this conversation from supervised to full",
        "raise the level of this conversation from read_only to supervised",
        "raise the level of this conversation from supervised to full",
    ]
    assert str(channel.cards[0].record[0]).startswith("estimate: none, there was no use in your last 14 days; the hard")
    assert "runs without a question" in str(channel.cards[0].request.draft.policy_reasons[0])
    assert not channel.cards[0].request.batchable
    assert not channel.cards[0].request.standing
    assert decided(trace) == [("allow", "full")]
    assert other == "supervised"
    assert outcomes == ["success"] * 4


@pytest.mark.parametrize("answer", [False, None])
async def test_without_a_yes_the_level_stays(open_agent, make_desk, clock: FakeClock, answer: Any) -> None:
    """Nor does a yes within the reading pause count."""
    channel = RecordingChannel(clock, lambda card: answer)
    async with open_agent([calls(write("a.md")), says("Done.")]) as agent:
        desk = make_desk(agent, channel, level="read_only")
        await desk.handle("/level full")
        trace = await desk.handle("Write a")

    assert channel.shown == ["level: read_only"]
    assert decided(trace) == [("deny", "read_only")]


async def test_a_yes_within_the_reading_pause_raises_nothing(open_agent, make_desk, clock: FakeClock) -> None:
    class Hasty(RecordingChannel):
        async def ask(self, cards: Any, submit: Any) -> None:
            for card in cards:
                self.refusals.append(await submit(Reply(request_id=card.request.id, granted=True, by="test:me")))

    channel = Hasty(clock)
    async with open_agent() as agent:
        await make_desk(agent, channel, level=None).handle("/level full")

    assert channel.refusals[0] is not None
    assert channel.shown == ["level: supervised"]


async def test_where_nobody_is_there_a_level_is_only_lowered(open_agent, make_desk, clock: FakeClock) -> None:
    channel = RecordingChannel(clock, attended=False)
    async with open_agent() as agent:
        desk = make_desk(agent, channel, level="supervised")
        with pytest.raises(UsageError, match="nobody is there to be asked"):
            await desk.handle("/level full")
        await desk.handle("/level")
        await desk.handle("/level read_only")

    assert channel.cards == []
    assert channel.shown == ["level: supervised", "level read_only in this conversation"]


async def test_a_session_that_began_while_it_was_asked_is_not_raised(open_agent, make_desk, clock: FakeClock) -> None:
    class Leaving(RecordingChannel):
        async def ask(self, cards: Any, submit: Any) -> None:
            await desk.handle("/session new")
            await super().ask(cards, submit)

    channel = Leaving(clock)
    async with open_agent() as agent:
        desk = make_desk(agent, channel, level=None)
        await desk.handle("/level full")
        await desk.handle("/level")

    assert channel.shown[1:] == ["level: supervised", "level: supervised"]


async def test_slash_status_says_until_when_a_level_stands(open_agent, make_desk, clock: FakeClock) -> None:
    """And what comes then."""
    channel = RecordingChannel(clock)
    async with open_agent([]) as agent:
        await agent.services.levels.begin("cli:me", "full", HOUR)
        await make_desk(agent, channel, level=None).handle("/status")

    assert "- level: full until 2026-01-05 " in channel.shown[0]
    assert ", then supervised" in channel.shown[0]


async def test_slash_budget_shows_what_was_spent_on_what(open_agent, make_desk, clock: FakeClock) -> None:
    """The same as the command does."""
    channel = RecordingChannel(clock)
    async with open_agent([says("Hello.")]) as agent:
        desk = make_desk(agent, channel)
        await desk.handle("Hi")
        await desk.handle("/budget")

    (table,) = channel.shown
    assert "stops at" in table
    assert any(line.split()[:2] == ["tier", "frontier"] for line in table.splitlines())
