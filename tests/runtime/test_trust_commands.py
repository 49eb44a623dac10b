"""What is ordered about trust in a conversation, in turns of a real agent."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from myclaw_core.errors import UsageError
from myclaw_core.events.types import TraceClosed, TrustChanged
from myclaw_core.runtime.model import ModelReply, ModelRequest
from myclaw_core.runtime.types import Message, ToolCall, Usage
from myclaw_core.testing import FakeClock, RecordingChannel
from myclaw_core.trust.costs import put_medians

DAYS = 4


class Writer:
    """A provider that writes one note a turn and costs what it is told."""

    name = "scripted"
    free = False

    def __init__(self, output_tokens: int = 0) -> None:
        self.output_tokens = output_tokens

    def missing(self) -> str | None:
        return None

    async def complete(self, request: ModelRequest, on_text: Any) -> ModelReply:
        usage = Usage(output_tokens=self.output_tokens)
        if request.messages[-1].role == "tool":
            message = Message(role="assistant", text="Done.")
            return ModelReply(message=message, stop_reason="end_turn", usage=usage, model=request.model)
        call = ToolCall(id="1", tool="fs_write", args={"path": "note.md", "content": f"{len(request.messages)}"})
        message = Message(role="assistant", text="", tool_calls=(call,))
        return ModelReply(message=message, stop_reason="tool_use", usage=usage, model=request.model)

    async def close(self) -> None:
        pass


def with_writer(agent: Any, output_tokens: int = 0) -> Any:
    return evolve(agent, services=evolve(agent.services, provider=Writer(output_tokens)))


async def earn(desk: Any, clock: FakeClock, days: int = DAYS) -> None:
    for _ in range(days):
        clock.advance(days=1)
        trace = await desk.handle("Write it down.")
        assert trace.outcome == "success"


def shown(channel: RecordingChannel) -> str:
    return channel.shown[-1]


async def test_what_is_taken_away_asks_again_until_it_is_given_back(
    open_agent: Any, make_desk: Any, clock: FakeClock
) -> None:
    channel = RecordingChannel(clock, lambda _card: True)
    async with open_agent([]) as opened:
        agent = with_writer(opened)
        desk = make_desk(agent, channel)
        await earn(desk, clock)
        asked = len(channel.cards)
        assert asked == DAYS - 1

        await desk.handle("/revoke-trust fs_write")
        assert shown(channel).startswith(
            "Taken away; this asks again until you give it back or it is earned anew:\n\n- `fs"
        )
        await earn(desk, clock, 1)
        assert len(channel.cards) == asked + 1

        await desk.handle("/restore-trust *")
        assert shown(channel).startswith("Given back; what was earned before counts again:\n\n- `fs_write fs_write:")
        await earn(desk, clock, 1)
        assert len(channel.cards) == asked + 1
        orders = [event for _, event in await agent.log.since(0) if isinstance(event, TrustChanged)]

    assert [(order.change, order.sender) for order in orders] == [("revoke", "test:me"), ("restore", "test:me")]


async def test_what_another_process_takes_away_is_asked_about_in_the_next_turn(
    open_agent: Any, make_desk: Any, clock: FakeClock
) -> None:
    """The conversation was going on all the while."""
    channel = RecordingChannel(clock, lambda _card: True)
    async with open_agent([]) as opened, open_agent([]) as other:
        desk = make_desk(with_writer(opened), channel)
        await earn(desk, clock)
        asked = len(channel.cards)
        await other.follower.catch_up()

        await make_desk(other).handle("/revoke-trust fs_write")
        await earn(desk, clock, 1)

    assert len(channel.cards) == asked + 1


async def test_what_was_not_taken_away_cannot_be_given_back(open_agent: Any, make_desk: Any, clock: FakeClock) -> None:
    channel = RecordingChannel(clock, lambda _card: True)
    async with open_agent([]) as opened:
        desk = make_desk(with_writer(opened), channel)
        await earn(desk, clock, 1)
        await desk.handle("/restore-trust fs_write")

    assert shown(channel) == "Nothing of that was taken away."


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/revoke-trust", "say whose trust: /revoke-trust SUBJECT"),
        ("/restore-trust", "say whose trust: /restore-trust SUBJECT"),
        ("/revoke-trust nobody", "no subject 'nobody' has any history"),
        ("/restore-trust nobody", "no subject 'nobody' has any history"),
    ],
)
async def test_it_has_to_be_said_whose(open_agent: Any, make_desk: Any, line: str, said: str) -> None:
    async with open_agent([]) as agent:
        with pytest.raises(UsageError, match=said):
            await make_desk(agent).handle(line)


async def test_what_a_turn_costs_counts_against_the_median_that_stands_when_it_begins(
    open_agent: Any, make_desk: Any, clock: FakeClock
) -> None:
    """Signals that were stored before stay what they were; a free turn is fully efficient at any time."""
    channel = RecordingChannel(clock, lambda _card: True)
    async with open_agent([]) as opened:
        dear, cheap, free = (with_writer(opened, tokens) for tokens in (8_000, 2_000, 0))
        await earn(make_desk(dear, channel), clock, 1)
        await put_medians(opened.log, clock.now())
        for agent in (cheap, dear, free):
            await earn(make_desk(agent, channel), clock, 1)
        closed = [event for _, event in await opened.log.since(0) if isinstance(event, TraceClosed)]

    efficiency = [event.signals[0].cost_efficiency for event in closed]
    assert efficiency == [0.5, pytest.approx(0.75), 0.0, 1.0]
