"""A question that ended without an answer leads back to the message that asked it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from myclaw_core.approval.types import ApprovalCard, Reply
from myclaw_core.errors import UsageError
from myclaw_core.events.types import TurnStarted
from myclaw_core.runtime.again import words_again
from myclaw_core.testing import FakeClock, RecordingChannel, calls, says

WRITE = calls(("fs_write", {"path": "a.md", "content": "text\n"}))


async def asked(agent: Any, make_desk: Any, clock: FakeClock, answer: Any, text: str = "Write it") -> UUID:
    """Run a turn that asks one question; return the question."""
    channel = RecordingChannel(clock, answer)
    await make_desk(agent, channel).handle(text)
    return channel.cards[0].request.id


def never(card: ApprovalCard) -> Reply:
    return Reply(request_id=card.request.id, granted=False, by=card.request.sender)


async def test_a_question_that_nobody_answered_leads_back_to_its_message(open_agent, make_desk, clock) -> None:
    async with open_agent([WRITE, says("Not done.")]) as agent:
        request_id = await asked(agent, make_desk, clock, lambda card: None)
        assert await words_again(agent.log, request_id, "test:me") == "Write it"


@pytest.mark.parametrize("answer", [lambda card: True, never])
async def test_what_was_answered_is_not_asked_again(open_agent, make_desk, clock, answer) -> None:
    async with open_agent([WRITE, says("Well.")]) as agent:
        request_id = await asked(agent, make_desk, clock, answer)
        with pytest.raises(UsageError, match="was answered"):
            await words_again(agent.log, request_id, "test:me")


async def test_another_sender_and_an_unknown_question_learn_nothing(open_agent, make_desk, clock) -> None:
    async with open_agent([WRITE, says("Not done.")]) as agent:
        request_id = await asked(agent, make_desk, clock, lambda card: None)
        for wanted, sender in ((request_id, "test:you"), (clock.new_id(), "test:me")):
            with pytest.raises(UsageError, match="not known any more"):
                await words_again(agent.log, wanted, sender)


async def test_a_question_of_long_ago_is_not_asked_again(open_agent, make_desk, clock) -> None:
    """Also where nothing has tidied up since."""
    async with open_agent([WRITE, says("Not done."), says("Hello.")]) as agent:
        request_id = await asked(agent, make_desk, clock, lambda card: None)
        clock.advance(days=8)
        await make_desk(agent, RecordingChannel(clock)).handle("Hello")
        with pytest.raises(UsageError, match="not known any more"):
            await words_again(agent.log, request_id, "test:me")


async def test_a_message_that_held_a_secret_has_to_be_sent_again(open_agent, make_desk, clock) -> None:
    """The record holds a mask in its place, and a mask is never acted on."""
    async with open_agent([WRITE, says("Not done.")]) as agent:
        text = "Write it with password=hunter2hunter2"
        request_id = await asked(agent, make_desk, clock, lambda card: None, text)
        with pytest.raises(UsageError, match="held a secret"):
            await words_again(agent.log, request_id, "test:me")


async def test_a_message_that_was_erased_has_to_be_sent_again(open_agent, make_desk, clock) -> None:
    async with open_agent([WRITE, says("Not done.")]) as agent:
        request_id = await asked(agent, make_desk, clock, lambda card: None)
        (started,) = [head for head, event in await agent.log.since(0) if isinstance(event, TurnStarted)]
        await agent.log.erase(started.seq)
        with pytest.raises(UsageError, match="not on record any more"):
            await words_again(agent.log, request_id, "test:me")
