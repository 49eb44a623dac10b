"""A question about a draft on Telegram: its message says how to have it made anew, and a typed command does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from bot_api import BotApi
from gateways import DIGEST
from talking import Talk, draft_question, question, talking

from myclaw_core.approval.types import Reply
from myclaw_core.synthesis.types import Revision

LINE = f"/revise {DIGEST[:8]} spec|draft TEXT"


@pytest.fixture
async def talk(server: BotApi, tmp_path: Path) -> AsyncIterator[Talk]:
    """Ada's chat."""
    async with talking(server, tmp_path / "events.db") as talk:
        yield talk


async def revise(talk: Talk, text: str = "shorter") -> str | None:
    """Answer as the command does."""
    (request,) = [each for each in talk.desk.gateway.shown_to(talk.sender) if each.revisable]
    revision = Revision(stage="draft", text=text)
    refusal = await talk.desk.gateway.submit(
        Reply(request_id=request.id, granted=False, by=talk.sender, revision=revision)
    )
    return None if refusal is None else str(refusal)


async def test_the_message_says_how_to_have_a_draft_made_anew_and_how_it_ended(talk: Talk) -> None:
    """The command is written out; no button stands for it, since it takes words."""
    asked = await talk.ask(draft_question(talk.clock))
    assert f"to have it made anew: {LINE}" in talk.last.text
    await talk.read()
    assert talk.labels() == ["yes", "no", "more…"]
    await talk.press("more…")
    await talk.sees("yes", "no", "no, never again", "show all", "back")
    assert f"• {LINE}: no, and it is made anew" in talk.last.text
    assert await revise(talk) is None
    (approval,) = await asked
    assert (approval.verdict, approval.revision) == ("denied", Revision(stage="draft", text="shorter"))
    await talk.close()
    assert talk.last.text.endswith("→ no, it is to be made anew")
    assert talk.last.keyboard == []


async def test_a_press_that_comes_after_it_tells_that_it_was_answered(talk: Talk) -> None:
    """And the other question of the message stays."""
    asked = await talk.ask(draft_question(talk.clock), question(talk.clock))
    await talk.read()
    message, data = talk.last, talk.last.button("1: yes")["callback_data"]
    assert await revise(talk) is None
    assert await talk.forge(data, message)
    await talk.until(lambda: "→ no, it is to be made anew" in message.text)
    await talk.press("2: no", message)
    assert [each.verdict for each in await asked] == ["denied", "denied"]


async def test_other_questions_do_not_mention_it(talk: Talk) -> None:
    asked = await talk.ask(question(talk.clock))
    await talk.read()
    await talk.press("more…")
    await talk.until(lambda: "• no, never again" in talk.last.text)
    assert "/revise" not in talk.last.text
    await talk.press("no")
    await asked
