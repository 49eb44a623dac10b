"""A message that asks, where something goes wrong around it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from bot_api import BotApi
from gateways import turn_of
from talking import Talk, question, talking

from myclaw_core.approval.types import Reply
from myclaw_core.errors import MyclawError, StoreError
from myclaw_core.types.text import Text


@pytest.fixture
async def talk(server: BotApi, tmp_path: Path) -> AsyncIterator[Talk]:
    """Ada's chat."""
    async with talking(server, tmp_path / "events.db") as talk:
        yield talk


async def test_a_question_that_ended_in_an_outage_is_not_shown_as_open_afterwards(talk: Talk) -> None:
    """It says what became of it, once it can be sent."""
    talk.server.fail("sendMessage", status=502, times=None)
    asked = asyncio.ensure_future(
        talk.desk.gateway.ask([question(talk.clock)], turn_of(talk.clock, talk.sender), talk.channel)
    )
    await talk.server.until(lambda: bool(talk.server.called("sendMessage")))
    asked.cancel()
    await asyncio.gather(asked, return_exceptions=True)
    talk.server.heal()
    await talk.until(lambda: bool(talk.server.messages))
    await talk.close()
    (message,) = talk.server.messages
    assert message.text.endswith("→ no answer, which counts as no")


@pytest.mark.parametrize("error", [MyclawError("a record cannot be read"), RuntimeError("oh no")])
async def test_a_press_that_broke_something_may_be_made_again(
    talk: Talk, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The question gets new buttons: those of before are used up."""
    submit = talk.desk.gateway._submit

    async def broken(reply: Reply) -> Text | None:
        monkeypatch.setattr(talk.desk.gateway, "_submit", submit)
        raise error

    monkeypatch.setattr(talk.desk.gateway, "_submit", broken)
    asked = await talk.ask(question(talk.clock))
    await talk.read()
    talk.ada.presses(talk.last, "yes")
    (press,) = await talk.presses()
    with pytest.raises(type(error)):
        await talk.chats.pressed(press)
    before = talk.last.button("yes")["callback_data"]
    await talk.until(lambda: bool(talk.last.keyboard) and talk.last.button("yes")["callback_data"] != before)
    assert await talk.press("yes") == ""
    assert [approval.verdict for approval in await asked] == ["granted"]


async def test_a_press_that_could_not_be_kept_counts_when_it_comes_again(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Telegram delivers it again, with the button of before."""
    submit = talk.desk.gateway._submit

    async def full(reply: Reply) -> Text | None:
        monkeypatch.setattr(talk.desk.gateway, "_submit", submit)
        raise StoreError("the disk is full")

    monkeypatch.setattr(talk.desk.gateway, "_submit", full)
    asked = await talk.ask(question(talk.clock))
    await talk.read()
    talk.ada.presses(talk.last, "yes")
    (press,) = await talk.presses()
    with pytest.raises(StoreError):
        await talk.chats.pressed(press)
    await talk.chats.pressed(press)
    assert [approval.verdict for approval in await asked] == ["granted"]


async def test_what_cannot_be_shown_whole_says_so(talk: Talk) -> None:
    """Somebody waits for it."""
    asked = await talk.ask(question(talk.clock, content="x" * 30_000))
    card = talk.last
    await talk.read()
    await talk.press("more…", card)
    talk.server.fail("sendDocument", status=400, description="Bad Request: wrong file", times=None)
    await talk.press("show all", card)
    await talk.until(lambda: talk.last.text == "not shown: Telegram refused the message: wrong file; press again")
    talk.server.heal()
    await talk.press("show all", card)
    await talk.until(lambda: talk.last.file is not None)
    await talk.press("no", card)
    await asked


async def test_a_chat_that_takes_nothing_is_tried_at_the_pace_of_edits(talk: Talk) -> None:
    """And not with every piece of an answer."""
    talk.ada.blocks()
    talk.channel.text("one")
    await talk.server.until(lambda: len(talk.server.called("sendMessage")) == 1)
    await talk.until(lambda: bool(talk.troubles))
    for word in ("two", "three", "four"):
        talk.channel.text(word)
        await talk.clock.asleep(1)
    assert len(talk.server.called("sendMessage")) == 1
    await talk.until(lambda: len(talk.server.called("sendMessage")) == 2)
    assert talk.server.called("sendMessage")[-1].params["text"] == "onetwothreefour"
